package program

import (
	"errors"
	"fmt"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A step is what a RowStep does to rows, as far as its slots do not say it.
type step interface {
	// reads lists the slots that it reads.
	reads() []int
	// begin makes what carries it out in a Run.
	begin(r *Run) (stepRun, error)
}

type stepRun interface{ run(r *Run) error }

// A Choice is a RowStep that leaves rows out by their numbers.
type Choice struct {
	// LeftOut lists, in order, the numbers of the rows of [first, end) that are left out.
	LeftOut func(first, end int64) ([]int64, error)
	Reason  string // for counting
}

// Plan implements transform.RowStep: no column changes.
func (Choice) Plan(*schema.Schema) (*transform.Plan, error) { return &transform.Plan{}, nil }

func (Choice) reads() []int                  { return nil }
func (c Choice) begin(*Run) (stepRun, error) { return c, nil }

func (c Choice) run(r *Run) error {
	out, err := c.LeftOut(r.state.SplitRow, r.state.SplitRow+int64(r.read))
	if err != nil || len(out) == 0 {
		return err
	}
	rows := make([]int32, 0, r.state.Rows)
	for i := range int32(r.state.Rows) {
		number := r.state.SplitRow + int64(r.state.ReadIndex(int(i)))
		for len(out) > 0 && out[0] < number {
			out = out[1:]
		}
		if len(out) == 0 || out[0] != number {
			rows = append(rows, i)
		}
	}
	if n := r.state.Rows - len(rows); n > 0 {
		r.o.Outcome.Dropped[c.Reason] += int64(n)
		return r.selectRows(rows)
	}
	return nil
}

// A compute is a RowStep with a Func.
type compute struct {
	schema *schema.Schema // of the rows that reach it
	leaf   []schema.Leaf
	maxDef []uint8 // of leaf
	slots  []int
	plan   *transform.Plan
	bind   *record.Binding
	puts   []put
}

// A put is a computed Put.
type put struct {
	index int // in plan.Puts
	field schema.Field
	base  uint8
	slots []int
}

func (s *compute) reads() []int {
	out := make([]int, 0, len(s.slots))
	for _, l := range s.bind.Leaves() {
		out = append(out, s.slots[l])
	}
	return out
}

func (s *compute) begin(r *Run) (stepRun, error) {
	out := &computeRun{compute: s, fn: s.plan.Bind(), cursor: s.bind.Cursor()}
	if s.plan.Bulk != nil && len(s.puts) == len(s.plan.Puts) {
		out.bulk = s.plan.Bulk()
	}
	var err error
	out.builders, err = r.o.Scratch.of(r.Program, s)
	return out, err
}

// A computeRun carries a compute out for one Run.
type computeRun struct {
	*compute
	fn       transform.Func
	bulk     transform.Bulk // nil: only one by one
	cursor   *record.Cursor
	builders []*record.Builder
	rows     []int32 // scratch
}

func (s *computeRun) run(r *Run) error {
	for _, b := range s.builders {
		b.Reset()
	}
	rows := s.rows[:0]
	row := int32(0)
	var failed error
	out := transform.NewEmitter(len(s.plan.Puts), func(values []schema.Value) {
		rows = append(rows, row)
		for k, p := range s.puts {
			if err := s.builders[k].Append(values[p.index]); err != nil && failed == nil {
				failed = err
			}
		}
	})
	in, err := r.batch(s.schema, s.leaf, s.slots, s.maxDef, s.bind.Leaves())
	if err != nil {
		return err
	}
	if done, err := s.runBulk(r, in); done || err != nil {
		return err
	}
	cur := s.cursor
	cur.Reset(in)
	changed := false
	for cur.Next() {
		row = int32(cur.Row())
		n, reason, err := out.Run(s.fn, cur)
		switch {
		case err != nil:
			if err := r.refused(err, n, cur); err != nil {
				return err
			}
		case failed != nil:
			return fmt.Errorf("%s: %w", cur.Pos(), failed)
		case n == 0:
			r.o.Outcome.Dropped[reason]++
		}
		changed = changed || n != 1
	}
	if s.rows = rows; changed {
		if err := r.selectRows(rows); err != nil {
			return err
		}
	}
	s.put(r)
	return nil
}

// put makes what the builders hold the values of the step's slots.
func (s *computeRun) put(r *Run) {
	for k, p := range s.puts {
		for j, v := range s.builders[k].Vectors() {
			r.vals[p.slots[j]] = v
		}
	}
}

// runBulk runs the step over all rows of the slice at once, where it can and all that it reads is text; it reports whether it did.
func (s *computeRun) runBulk(r *Run, in *record.Batch) (bool, error) {
	if s.bulk == nil || in.Rows == 0 {
		return false, nil
	}
	reads := make([]schema.Texts, len(s.plan.Reads))
	for i := range reads {
		leaf := s.bind.Leaf(i)
		if leaf < 0 || s.leaf[leaf].Type.Kind != schema.Text {
			return false, nil
		}
		texts, ok := in.Leaves[leaf].Vec.Texts()
		if !ok || texts.Len() != in.Rows { // some are null
			return false, nil
		}
		reads[i] = texts
	}
	var out []*schema.TextColumn
	for _, b := range s.builders {
		texts := b.Texts()
		if texts == nil {
			return false, nil
		}
		out = append(out, texts...)
	}
	if !s.bulk(reads, in.Rows, out) {
		for _, b := range s.builders {
			b.Reset()
		}
		return false, nil
	}
	for _, b := range s.builders {
		if err := b.Filled(in.Rows); err != nil {
			return false, err
		}
	}
	s.put(r)
	return true, nil
}

// refused takes the error of a step at the row of cur: a rejection is noted, another is returned with its place. n rows had come out.
func (r *Run) refused(err error, n int, cur *record.Cursor) error {
	var reject *transform.Reject
	var fault *transform.Fault
	switch {
	case errors.As(err, &reject) && n > 0:
		return fmt.Errorf("%s: a row was put out and then rejected", cur.Pos())
	case errors.As(err, &reject):
		r.reject(Rejected{Pos: cur.Pos().At(reject.Path), Reason: reject.Reason, Message: reject.Message, Value: reject.Value,
			Where: reject.Where, Number: cur.Number()}, cur.Row())
		return nil
	case errors.As(err, &fault):
		fault.Pos = cur.Pos()
		return fault
	}
	return fmt.Errorf("%s: %w", cur.Pos(), err)
}
