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
	w := newWorker(p, make(chan struct{}, 1))
	r := &result{dropped: map[string]int64{}, findings: newFindings()}
	m := w.newMachine(t, u, u.Parts[0], r, false)
	m.whole = true
	if err := m.open(ctx); err != nil {
		return err
	}
	defer m.close()
	in, err := m.reader.Next(ctx, rows)
	if err != nil && err != io.EOF {
		return err
	}
	in.Schema, in.First = m.prog.in, u.Number
	for i := range in.Rows {
		out.Before = append(out.Before, in.RowJSON(i))
	}
	after, err := m.apply(in)
	if err != nil {
		return err
	}
	out.After = make([][][]byte, in.Rows)
	for i := range after.Rows {
		at := after.Origin(i)
		out.After[at] = append(out.After[at], after.RowJSON(i))
	}
	out.Rejected = r.rejects
	return nil
}
