package pipeline

import (
	"context"
	"io"
)

// First runs the steps of a split over its first rows, in their order, until enough says that it has seen what it wants, and writes
// nothing.
func (p *Plan) First(ctx context.Context, split string, enough func() bool) error {
	w := newWorker(p)
	for _, t := range p.Tasks {
		if t.Split != split {
			continue
		}
		for _, u := range t.Units {
			number := u.Number
			for _, part := range u.Parts {
				if enough() {
					return nil
				}
				if err := w.first(ctx, t, u, part, number, enough); err != nil {
					return err
				}
				number += part.Rows
			}
		}
	}
	return nil
}

func (w *worker) first(ctx context.Context, t *Task, u Unit, part Part, number int64, enough func() bool) error {
	m := w.newMachine(t, u, part, &result{dropped: map[string]int64{}, findings: newFindings()}, false)
	if err := m.open(ctx); err != nil {
		return err
	}
	defer m.close()
	for seen := int64(0); seen < part.Rows && !enough(); {
		b, err := m.next(ctx, seen)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		b.First = number + seen
		seen += int64(b.Rows)
		if _, err := m.apply(b); err != nil {
			return err
		}
	}
	return ctx.Err()
}
