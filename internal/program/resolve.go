package program

import (
	"errors"
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// Counts says what is known, without reading, of a leaf of the file in a range of rows: the number of its nulls, -1 where it is not
// known, and its bytes.
type Counts func(leaf int) (nulls, bytes int64)

// A Resolved is a program for one range of rows of its file. It answers what a planner asks.
type Resolved struct {
	*Program
	counts Counts
	// resolvedSlot is, by slot, the one that is used in its place: that of an edit that has nothing to do here is its base's.
	resolvedSlot []int
	fault        error // these rows cannot take the steps
	// Repeats says that rows come out more than once, so that their numbers do not tell them apart. distinctPromised says that somebody
	// was told that they do.
	Repeats          bool
	distinctPromised bool
}

// Resolve finds the edits that have nothing to do in a range of rows.
func (p *Program) Resolve(counts Counts) *Resolved {
	r := &Resolved{Program: p, counts: counts, resolvedSlot: make([]int, len(p.slots))}
	for i := range p.slots { // an edit comes after what it is made of
		r.resolvedSlot[i] = i
		e, ok := p.slots[i].kind.(edit)
		if !ok {
			continue
		}
		base, idle, refuse := e.edits()
		switch {
		case slices.ContainsFunc(idle, r.knownNonNull):
			r.resolvedSlot[i] = r.resolvedSlot[base]
		case refuse != "" && r.fault == nil:
			r.fault = errors.New(refuse)
		}
	}
	return r
}

// Err says why these rows cannot take the steps; nil where they can.
func (r *Resolved) Err() error { return r.fault }

// slot is the slot that is used in place of slot s.
func (r *Resolved) slot(s int) *slot { return &r.slots[r.resolvedSlot[s]] }

// of is the slot that a leaf of the output comes from.
func (r *Resolved) of(leaf int) *slot { return r.slot(r.slotOfLeaf[leaf]) }

// knownNonNull reports whether slot s is known to hold no null.
func (r *Resolved) knownNonNull(s int) bool {
	in := r.slot(s).input()
	if in < 0 {
		return false
	}
	nulls, _ := r.counts(in)
	return nulls == 0
}

// cheapest chooses the presence leaf that costs least to read.
func (r *Resolved) cheapest(ws []presenceLeaf) presenceLeaf {
	best, cost := ws[0], int64(-1)
	for _, w := range ws {
		in := r.slot(w.slot).input()
		if in < 0 {
			continue
		}
		_, n := r.counts(in)
		if w.repeated {
			n *= 4
		}
		if cost < 0 || n < cost {
			best, cost = w, n
		}
	}
	return best
}

// Input returns the leaf of the file whose values a leaf of the output has, -1 where it is not one of the file's.
func (r *Resolved) Input(leaf int) int { return r.of(leaf).input() }

// Constant returns the value that a leaf of the output has in every row, nil where it is not a constant.
func (r *Resolved) Constant(leaf int) *schema.Value {
	c, _ := r.of(leaf).kind.(constant)
	return c.value
}

// RowNumbers reports whether a leaf of the output holds row numbers.
func (r *Resolved) RowNumbers(leaf int) bool {
	_, ok := r.of(leaf).kind.(rowNumber)
	return ok
}

// PromiseDistinct reports whether no two rows of the split have the same value in a leaf of the output. Where it says so, a Run fails
// with ErrRepeat if a row comes out more than once.
func (r *Resolved) PromiseDistinct(leaf int) bool {
	r.distinctPromised = r.distinctPromised || r.distinct[leaf]
	return r.distinct[leaf] && !r.Repeats
}

// How says how a leaf of the output comes about where it is not copied: "constant", "row numbers", "computed" or "encoded" (decoded and
// encoded again).
func (r *Resolved) How(leaf int) string {
	switch r.of(leaf).kind.(type) {
	case constant:
		return "constant"
	case rowNumber:
		return "row numbers"
	case computed:
		return "computed"
	}
	return "encoded"
}

// SameForm reports whether a leaf of the output is the same constant or the same row numbers here and in other, or neither in both.
func (r *Resolved) SameForm(other *Resolved, leaf int) bool {
	a, b := r.of(leaf).kind, other.of(leaf).kind
	if x, ok := a.(constant); ok {
		y, ok := b.(constant)
		return ok && x.value.Equal(*y.value)
	}
	if _, ok := a.(rowNumber); ok {
		return a == b
	}
	_, isConstant := b.(constant)
	_, isNumber := b.(rowNumber)
	return !isConstant && !isNumber
}

// Decode lists the leaves of the file that must be decoded for the steps and for these leaves of the output.
func (r *Resolved) Decode(out []int) []int {
	mark := make([]bool, len(r.in.Leaves()))
	for _, s := range r.steps {
		for _, slot := range s.reads() {
			r.need(slot, mark)
		}
	}
	for _, l := range out {
		r.need(r.slotOfLeaf[l], mark)
	}
	var leaves []int
	for i, needed := range mark {
		if needed {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

// need marks the leaves of the file that slot s is made of.
func (r *Resolved) need(s int, mark []bool) { r.slot(s).need(r, mark) }

// Raw is the undecoded chunks of a range that go out as they are, by leaf of the output; nil: it is made of what is decoded.
type Raw []*record.Raw

// Any reports whether one goes out undecoded.
func (r Raw) Any() bool { return slices.ContainsFunc(r, func(c *record.Raw) bool { return c != nil }) }
