package pipeline

import (
	"context"
	"io"

	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// first returns the first task of a split, nil where it has no rows.
func (p *Plan) first(split string) *Task {
	for _, t := range p.Tasks {
		if t.Split == split {
			return t
		}
	}
	return nil
}

// A ColumnPlan is how one leaf of the output comes about.
type ColumnPlan struct {
	Path schema.Path
	// How is "copied" (its compressed pages, undecoded), "constant", "row numbers", "computed" or "encoded" (decoded and encoded again).
	How string
}

// Columns says how the columns of a split come about, as far as its first row group shows it, and which leaves of the input are
// decoded for that. Where a step leaves rows out of a row group, columns that are said to be copied are decoded too.
func (p *Plan) Columns(split string) (out []ColumnPlan, decoded []schema.Path, err error) {
	t := p.first(split)
	if t == nil {
		return nil, nil, nil
	}
	g := t.RowGroups[0]
	m := newWorker(p, &p.Job.Rules).newPartRun(t.Split, g.Ranges[0], newResult(0), way{raw: len(g.Ranges) == 1})
	for i, l := range m.prog.Leaves()[:m.prog.NumOut()] {
		c := ColumnPlan{l.Path, m.prog.How(i)}
		if m.chunks != nil && m.chunks[i] != nil {
			c.How = "copied"
		}
		out = append(out, c)
	}
	if err := m.checks.Prejudge(); err != nil { // rules read rows only where statistics do not answer them
		return nil, nil, err
	}
	leaves := m.prog.In().Leaves()
	for _, i := range m.decode() {
		decoded = append(decoded, leaves[i].Path)
	}
	return out, decoded, nil
}

// A Preview is the first rows of a split before and after its steps, as JSON objects.
type Preview struct {
	Before   [][]byte
	After    [][][]byte // what came out of each of Before
	Rejected []program.Rejected
}

// previewRows is how many rows are looked at to show the first.
const previewRows = 64

// Preview runs the steps over the first rows of a split and writes nothing.
func (p *Plan) Preview(ctx context.Context, split string, rows int) (*Preview, error) {
	out := &Preview{}
	t := p.first(split)
	if t == nil {
		return out, nil
	}
	r := newResult(0)
	m := newWorker(p, &p.Job.Rules).newPartRun(t.Split, t.RowGroups[0].Ranges[0], r, way{all: true, doubt: true})
	if err := m.open(ctx, nil); err != nil {
		return out, err
	}
	defer m.close()
	in, err := m.reader.Next(ctx, previewRows)
	if err != nil && err != io.EOF {
		return out, err
	}
	in.Schema, in.SplitRow = m.prog.In(), t.RowGroups[0].Ranges[0].number
	before := make([][]byte, in.Rows)
	for i := range before {
		before[i] = in.RowJSON(i)
	}
	after, err := m.slice(in)
	if err != nil {
		return out, err
	}
	became := make([][][]byte, in.Rows)
	for i := range after.Rows {
		at := after.ReadIndex(i)
		became[at] = append(became[at], after.RowJSON(i))
	}
	out.Rejected = r.Rejects[:min(len(r.Rejects), rows)]
	for i, shown := 0, 0; i < len(before) && (i < rows || shown == 0); i++ { // the first rows, and if all of those are left out the first that is not
		if i < rows || len(became[i]) > 0 {
			out.Before, out.After = append(out.Before, before[i]), append(out.After, became[i])
			shown += len(became[i])
		}
	}
	return out, nil
}

// RunUntil runs the steps of a split over its first rows, in their order, until enough returns true, and writes nothing.
func (p *Plan) RunUntil(ctx context.Context, split string, enough func() bool) error {
	w := newWorker(p, &p.Job.Rules)
	for _, t := range p.Tasks {
		if t.Split != split {
			continue
		}
		for _, g := range t.RowGroups {
			for _, rng := range g.Ranges {
				if enough() {
					return nil
				}
				m := w.newPartRun(t.Split, rng, newResult(0), way{doubt: true})
				if err := m.open(ctx, nil); err != nil {
					return err
				}
				_, err := m.each(ctx, enough, func(*record.Batch, int) error { return nil })
				m.close()
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
