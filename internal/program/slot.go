package program

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A slot is where the values of one leaf come from.
type slot struct {
	kind
	maxDef uint8 // of its vectors
	typ    schema.Type
}

// input is the leaf of the file that the slot holds, -1 for none.
func (s *slot) input() int {
	if in, ok := s.kind.(input); ok {
		return in.leaf
	}
	return -1
}

// A kind of slot. The kinds input, constant, rowNumber and computed hold values; the others are edits of other slots.
type kind interface {
	// need marks the leaves of the file that the values are made of.
	need(r *Resolved, mark []bool)
	// vector returns the values of slot s in the current slice; nil where they are not decoded or not computed yet.
	vector(r *Run, s *slot) (*record.Vector, error)
}

// An edit is a kind that is made of other slots. Where one of the slots idle holds no null it has nothing to do, and base is used in its place,
// undecoded if possible. refuse says why the edit cannot be done; it matters only where there is something to do.
type edit interface {
	kind
	edits() (base int, idle []int, refuse string)
}

// input holds a leaf of the file. Its slot has the leaf's number, and the reader's vector.
type input struct{ leaf int }

func (k input) need(_ *Resolved, mark []bool)            { mark[k.leaf] = true }
func (input) vector(*Run, *slot) (*record.Vector, error) { return nil, nil }

// computed holds what a step computes.
type computed struct{}

func (computed) need(*Resolved, []bool)                     {}
func (computed) vector(*Run, *slot) (*record.Vector, error) { return nil, nil }

// constant holds one value in every row.
type constant struct{ value *schema.Value }

func (constant) need(*Resolved, []bool) {}

func (k constant) vector(r *Run, s *slot) (*record.Vector, error) {
	if k.value.IsNull() && s.maxDef > 0 {
		return record.AbsentLeaf(nil, r.state.Rows, 0, s.maxDef-1, false), nil
	}
	return s.build(r.state.Rows, func(int) schema.Value { return *k.value })
}

// rowNumber holds the numbers of the source rows.
type rowNumber struct{ seq record.Seq }

func (rowNumber) need(*Resolved, []bool) {}

func (k rowNumber) vector(r *Run, s *slot) (*record.Vector, error) {
	return s.build(r.state.Rows, func(i int) schema.Value {
		return schema.IntValue(k.seq.Start + r.state.Number(i))
	})
}

// build returns a vector of plain values.
func (s *slot) build(rows int, value func(row int) schema.Value) (*record.Vector, error) {
	b, err := record.NewBuilder(schema.Field{Name: "value", Type: s.typ, Nullable: s.maxDef > 0}, max(s.maxDef, 1)-1)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if err := b.Append(value(i)); err != nil {
			return nil, err
		}
	}
	return b.Vectors()[0], nil
}

// mapped holds the texts of base, each changed by each.
type mapped struct {
	base int
	each func(dst []byte, text string) []byte
}

func (k mapped) edits() (int, []int, string)   { return k.base, nil, "" }
func (k mapped) need(r *Resolved, mark []bool) { r.need(k.base, mark) }

func (k mapped) vector(r *Run, s *slot) (*record.Vector, error) {
	base, err := r.lifted(k.base, s.maxDef)
	if err != nil {
		return nil, err
	}
	return base.MapTexts(k.each)
}

// cast holds the values of base in the slot's type, which is wider.
type cast struct {
	base  int
	path  schema.Path // for messages, as is where: the place in the pipeline file, or the step
	where string
}

func (k cast) edits() (int, []int, string)   { return k.base, nil, "" }
func (k cast) need(r *Resolved, mark []bool) { r.need(k.base, mark) }

func (k cast) vector(r *Run, s *slot) (*record.Vector, error) {
	base, err := r.lifted(k.base, s.maxDef)
	if err != nil {
		return nil, err
	}
	from := r.slots[k.base].typ
	out, bad := base.Cast(from, s.typ)
	if bad < 0 {
		return out, nil
	}
	row := base.RowsOf([]int{bad}, s.maxDef)[0]
	value := base.Values.ValueStr(bad)
	return nil, &transform.Fault{Where: k.where, Number: r.state.Number(row), Pos: r.state.Pos(r.state.ReadIndex(row)),
		Message: fmt.Sprintf("column %q: %s is %s, and %s, which it is to become, cannot hold it exactly: it takes the type that the other files have; cast to string keeps it", k.path, value, from, s.typ)}
}

// floored holds base with its levels raised to floor: its parents are present in every row, and where they were not it is null.
type floored struct {
	base   int
	floor  uint8
	idle   []int
	refuse string
}

func (k floored) edits() (int, []int, string)   { return k.base, k.idle, k.refuse }
func (k floored) need(r *Resolved, mark []bool) { r.need(k.base, mark) }

func (k floored) vector(r *Run, s *slot) (*record.Vector, error) {
	base, err := r.lifted(k.base, s.maxDef)
	if err != nil {
		return nil, err
	}
	return raised(base, k.floor), nil
}

// guarded holds base, a new leaf below a struct, and nothing in the rows in which the struct is null: a leaf of guard is at a level below
// level there.
type guarded struct {
	base  int
	guard []presenceLeaf
	level uint8
	idle  []int
}

func (k guarded) edits() (int, []int, string) { return k.base, k.idle, "" }

func (k guarded) need(r *Resolved, mark []bool) {
	r.need(k.base, mark)
	r.need(r.cheapest(k.guard).slot, mark)
}

func (k guarded) vector(r *Run, s *slot) (*record.Vector, error) {
	base, err := r.lifted(k.base, s.maxDef)
	if err != nil {
		return nil, err
	}
	w := r.cheapest(k.guard)
	like, err := r.lifted(w.slot, w.maxDef)
	if err != nil {
		return nil, err
	}
	return below(base, like, k.level, s.maxDef), nil
}

// filled holds base, and in the rows in which its field is null, at levels below field, slot with.
type filled struct {
	base, with int
	field      uint8
	idle       []int
}

func (k filled) edits() (int, []int, string) { return k.base, k.idle, "" }

func (k filled) need(r *Resolved, mark []bool) {
	r.need(k.base, mark)
	r.need(k.with, mark)
}

func (k filled) vector(r *Run, s *slot) (*record.Vector, error) {
	base, err := r.lifted(k.base, s.maxDef)
	if err != nil {
		return nil, err
	}
	with, err := r.lifted(k.with, s.maxDef)
	if err != nil {
		return nil, err
	}
	return fill(base, with, k.field, s.maxDef)
}

// absentField is a leaf below a field that the file lacks: null, in a struct of level def below rep lists. A leaf of guard says where the
// struct is null; none: it never is.
type absentField struct {
	def, rep uint8
	repeated bool // there are lists on the way to the leaf
	guard    []presenceLeaf
}

// guarded reports whether a leaf must say where the struct is null.
func (k absentField) guarded(r *Resolved) bool {
	return len(k.guard) > 0 && (k.rep > 0 || !slices.ContainsFunc(slotsIn(k.guard), r.knownNonNull))
}

func (k absentField) need(r *Resolved, mark []bool) {
	if k.guarded(r) {
		r.need(r.cheapest(k.guard).slot, mark)
	}
}

func (k absentField) vector(r *Run, _ *slot) (*record.Vector, error) {
	if !k.guarded(r.Resolved) {
		return record.AbsentLeaf(nil, r.state.Rows, k.rep, k.def, k.repeated), nil
	}
	w := r.cheapest(k.guard)
	like, err := r.lifted(w.slot, w.maxDef)
	if err != nil {
		return nil, err
	}
	return record.AbsentLeaf(like, r.state.Rows, k.rep, k.def, k.repeated), nil
}
