package pipeline

import (
	"context"
	"io"
)

// A Preview is the first rows of a split before and after its steps, as JSON objects.
type Preview struct {
	Before   [][]byte
	After    [][][]byte // what came out of each of Before
	Rejected []Rejected
}

// Preview runs the steps over the first rows of a split and writes nothing.
func (p *Plan) Preview(ctx context.Context, split string, rows int) (*Preview, error) {
	out := &Preview{}
	for _, t := range p.Tasks {
		if t.Split == split {
			return out, p.preview(ctx, t, t.Units[0], rows, out)
		}
	}
	return out, nil
}

func (p *Plan) preview(ctx context.Context, t *Task, u Unit, rows int, out *Preview) error {
	w := newWorker(p)
	r := &result{dropped: map[string]int64{}, findings: newFindings()}
	m := w.newMachine(t, u, u.Parts[0], r, false)
	m.whole = true
	if err := m.open(ctx); err != nil {
		return err
	}
	defer m.close()
	in, err := m.reader.Next(ctx, previewRows)
	if err != nil && err != io.EOF {
		return err
	}
	in.Schema, in.First = m.prog.in, u.Number
	before := make([][]byte, in.Rows)
	for i := range before {
		before[i] = in.RowJSON(i)
	}
	after, err := m.apply(in)
	if err != nil {
		return err
	}
	became := make([][][]byte, in.Rows)
	for i := range after.Rows {
		at := after.Origin(i)
		became[at] = append(became[at], after.RowJSON(i))
	}
	out.Rejected = r.rejects[:min(len(r.rejects), rows)]
	for i, shown := 0, 0; i < len(before) && (i < rows || shown == 0); i++ { // the first rows, and where they were left out one that was not
		if i < rows || len(became[i]) > 0 {
			out.Before, out.After = append(out.Before, before[i]), append(out.After, became[i])
			shown += len(became[i])
		}
	}
	return nil
}

// previewRows is how many rows are looked at to show the first.
const previewRows = 64
