package program

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// ErrDecode says that rows are left out or moved, so that no column can stay undecoded.
var ErrDecode = errors.New("rows must be decoded")

// ErrRepeat says that a row came out more than once although its number was promised to be its own.
var ErrRepeat = errors.New("rows are repeated")

// A Rejected is a row that was left out because a step or the reader could not take it.
type Rejected struct {
	Pos     schema.Pos
	Reason  string
	Message string
	Value   string
	Row     []byte // JSON of the row as read, where it was asked for
	Where   string `json:",omitempty"` // in code of the user's that could not take it
	Number  int64  `json:",omitempty"` // of the row within its split

	unread bool // there is no row to keep
}

// An Outcome is what became of rows that did not come out.
type Outcome struct {
	Dropped map[string]int64 // rows by reason
	Rejects []Rejected
}

// Scratch holds the builders of one file's steps for the next range of rows, for the memory that they own. It is for one goroutine.
type Scratch struct {
	builders map[*compute][]*record.Builder
	program  *Program // there may be hundreds of files: the builders of one are held
}

// RunOptions say how a Run works.
type RunOptions struct {
	Scratch *Scratch
	Outcome *Outcome
	// KeepRejects stores the rows that are rejected.
	KeepRejects bool
	// Raw are the chunks that go out undecoded; nil: none.
	Raw Raw
	// MustExpand says of each leaf of the output that a constant, or row numbers, are written as a value a row; nil: of none.
	MustExpand []bool
}

// A Run carries a program out over a range of rows, slice by slice.
type Run struct {
	*Resolved
	o     RunOptions
	steps []stepRun

	state *record.Batch    // where the rows of the slice are from
	read  int              // rows of the slice as they were read
	vals  []*record.Vector // by slot, of the slice
}

// NewRun begins to carry out a program.
func (r *Resolved) NewRun(o RunOptions) (*Run, error) {
	x := &Run{Resolved: r, o: o}
	for _, s := range r.Program.steps {
		run, err := s.begin(x)
		if err != nil {
			return nil, err
		}
		x.steps = append(x.steps, run)
	}
	return x, nil
}

// of returns builders for the puts of a step.
func (c *Scratch) of(p *Program, s *compute) ([]*record.Builder, error) {
	if c.program != p {
		c.program, c.builders = p, map[*compute][]*record.Builder{}
	}
	if bs, ok := c.builders[s]; ok {
		return bs, nil
	}
	bs := make([]*record.Builder, len(s.puts))
	for i, p := range s.puts {
		var err error
		if bs[i], err = record.NewBuilder(p.field, p.base); err != nil {
			return nil, err
		}
	}
	c.builders[s] = bs
	return bs, nil
}

// Slice runs the steps over rows as they were read and returns those that come out, with the leaves that only names (nil: all). They are
// valid until the next call.
func (r *Run) Slice(in *record.Batch, only []int) (*record.Batch, error) {
	r.vals = make([]*record.Vector, len(r.slots))
	for i := range in.Leaves {
		r.vals[i] = in.Leaves[i].Vec
	}
	r.state = &record.Batch{Rows: in.Rows, File: in.File, RowGroup: in.RowGroup, FileRow: in.FileRow, FirstLine: in.FirstLine,
		Lines: in.Lines, SplitRow: in.SplitRow, From: in.From}
	r.read = in.Rows
	if err := r.rejectFaults(in); err != nil {
		return nil, err
	}
	for _, s := range r.steps {
		if err := s.run(r); err != nil {
			return nil, err
		}
	}
	return r.output(only)
}

// output returns the rows of the slice that came out so far, with the leaves that only names (nil: all).
func (r *Run) output(only []int) (*record.Batch, error) {
	out, err := r.batch(r.judged, r.outLeaves, r.slotOfLeaf, r.builtMaxDef, only)
	if err != nil {
		return nil, err
	}
	for i, c := range r.o.Raw {
		out.Leaves[i].Raw = c
	}
	if err := r.expand(out); err != nil {
		return nil, err
	}
	r.releveled(out)
	return out, nil
}

// expand gives leaves that must be expanded a value a row.
func (r *Run) expand(b *record.Batch) error {
	for i, must := range r.o.MustExpand {
		l := &b.Leaves[i]
		if !must || l.Const == nil && l.Seq == nil {
			continue
		}
		l.Const, l.Seq = nil, nil
		v, err := r.lifted(r.slotOfLeaf[i], r.builtMaxDef[i])
		if err != nil {
			return err
		}
		l.Vec = v
	}
	return nil
}

// releveled brings the levels of the file's leaves to those of the split.
func (r *Run) releveled(b *record.Batch) {
	for i, levels := range r.relevel {
		if v := b.Leaves[i].Vec; levels != nil && v != nil && v.Def != nil {
			out := *v
			out.Def = make([]uint8, len(v.Def))
			for e, d := range v.Def {
				out.Def[e] = levels[d]
			}
			b.Leaves[i].Vec = &out
		}
	}
}

// batch makes the batch of these leaves from slots. maxDef holds their levels; only lists those that need values (nil: all).
func (r *Run) batch(s *schema.Schema, leaves []schema.Leaf, slots []int, maxDef []uint8, only []int) (*record.Batch, error) {
	b := *r.state
	b.Schema = s
	b.Leaves = make([]record.Leaf, len(leaves))
	for i, l := range leaves {
		b.Leaves[i].Leaf = l
		if only == nil {
			if err := r.fillLeaf(&b.Leaves[i], slots[i], maxDef[i]); err != nil {
				return nil, err
			}
		}
	}
	for _, i := range only {
		if err := r.fillLeaf(&b.Leaves[i], slots[i], maxDef[i]); err != nil {
			return nil, err
		}
	}
	return &b, nil
}

// fillLeaf gives a leaf the values of slot s, at levels up to maxDef.
func (r *Run) fillLeaf(l *record.Leaf, s int, maxDef uint8) error {
	sl := r.slot(s)
	switch k := sl.kind.(type) {
	case constant:
		l.Const = k.value
		return nil
	case rowNumber:
		if r.state.From == nil { // else they do not follow each other
			l.Seq = &k.seq
			return nil
		}
	}
	v, err := r.value(s)
	if v != nil {
		l.Vec = v.Lift(sl.maxDef, maxDef)
	}
	return err
}

// value returns the values of slot s in the current slice, nil where they are not decoded.
func (r *Run) value(s int) (v *record.Vector, err error) {
	s = r.resolvedSlot[s]
	if r.vals[s] == nil {
		r.vals[s], err = r.slots[s].vector(r, &r.slots[s])
	}
	return r.vals[s], err
}

// lifted returns the values of slot s with levels as where its maximum is maxDef.
func (r *Run) lifted(s int, maxDef uint8) (*record.Vector, error) {
	v, err := r.value(s)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, fmt.Errorf("%s: a column that others are made of was not decoded", r.state.File)
	}
	return v.Lift(r.slot(s).maxDef, maxDef), nil
}

// selectRows leaves only rows in the slice, in that order.
func (r *Run) selectRows(rows []int32) error {
	if r.o.Raw.Any() {
		return ErrDecode
	}
	for i := range len(rows) - 1 {
		if r.distinctPromised && !r.Repeats && rows[i] == rows[i+1] {
			return ErrRepeat
		}
	}
	for i, v := range r.vals {
		if v != nil {
			r.vals[i] = v.SelectRows(rows, r.slots[i].maxDef)
		}
	}
	source := make([]int32, len(rows))
	for i, row := range rows {
		source[i] = int32(r.state.ReadIndex(int(row)))
	}
	r.state.Source, r.state.Rows = source, len(rows)
	return nil
}

// rejectFaults leaves out the rows that the reader could not take.
func (r *Run) rejectFaults(in *record.Batch) error {
	if len(in.Faults) == 0 {
		return nil
	}
	bad := map[int32]bool{}
	for _, f := range in.Faults {
		if !bad[f.Row] {
			msg := strings.TrimPrefix(f.Message, string(f.Path)+": ") // the position says it
			r.reject(Rejected{Pos: in.Pos(int(f.Row)).At(f.Path), Reason: f.Reason, Message: msg, Value: f.Value, unread: f.Unread}, int(f.Row))
		}
		bad[f.Row] = true
	}
	var rows []int32
	for i := range int32(in.Rows) {
		if !bad[i] {
			rows = append(rows, i)
		}
	}
	return r.selectRows(rows)
}

// Reject leaves rows out of the batch that Slice returned last, and returns the others with all leaves. They are given by their numbers in the
// batch, in order, with what is wrong with each.
func (r *Run) Reject(rows []int, why []Rejected) (*record.Batch, error) {
	var left []int32
	next := 0
	for row := range r.state.Rows {
		if next < len(rows) && rows[next] == row {
			r.reject(why[next], row)
			next++
			continue
		}
		left = append(left, int32(row))
	}
	if err := r.selectRows(left); err != nil {
		return nil, err
	}
	return r.output(nil)
}

// reject notes a row that is left out; at is its place in the slice.
func (r *Run) reject(x Rejected, at int) {
	if r.o.KeepRejects && !x.unread {
		x.Row = r.rowJSON(at)
	}
	r.o.Outcome.Dropped[x.Reason]++
	r.o.Outcome.Rejects = append(r.o.Outcome.Rejects, x)
}

// rowJSON is the row as it was read, of its decoded columns.
func (r *Run) rowJSON(at int) []byte {
	b := *r.state
	b.Schema = r.in
	for i, l := range r.in.Leaves() {
		b.Leaves = append(b.Leaves, record.Leaf{Leaf: l, Vec: r.vals[i]})
	}
	return b.RowJSON(at)
}
