package record

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rlprep/rlprep/schema"
)

// Concat returns the rows of v and then those of w, both of a leaf with that maximum definition level. Their values must be
// of one Arrow type; text may be held as string or binary.
func (v *Vector) Concat(w *Vector, maxDef uint8) (*Vector, error) {
	values, err := concatValues(v.Values, w.Values)
	if err != nil {
		return nil, err
	}
	out := &Vector{Values: values, Rows: v.Rows + w.Rows}
	if v.Def != nil || w.Def != nil {
		out.Def = appendLevels(appendLevels(nil, v.Def, v.Entries(), maxDef), w.Def, w.Entries(), maxDef)
	}
	if v.Rep != nil || w.Rep != nil {
		out.Rep = appendLevels(appendLevels(nil, v.Rep, v.Entries(), 0), w.Rep, w.Entries(), 0)
	}
	return out, nil
}

// appendLevels appends levels, or where they are left out n times the one that all are at.
func appendLevels(to, levels []uint8, n int, all uint8) []uint8 {
	if levels != nil {
		return append(to, levels...)
	}
	for range n {
		to = append(to, all)
	}
	return to
}

func concatValues(a, b arrow.Array) (arrow.Array, error) {
	switch {
	case a == nil || a.Len() == 0:
		return b, nil
	case b == nil || b.Len() == 0:
		return a, nil
	}
	if _, text := a.(*array.String); text {
		b = asKind(schema.Text, b)
	} else if _, bytes := a.(*array.Binary); bytes {
		b = asKind(schema.Binary, b)
	}
	if !arrow.TypeEqual(a.DataType(), b.DataType()) {
		return nil, fmt.Errorf("values of Arrow type %s cannot follow %s", b.DataType(), a.DataType())
	}
	return array.Concatenate([]arrow.Array{a, b}, memory.DefaultAllocator)
}

// asKind returns text or bytes as the other of the two, the memory shared.
func asKind(k schema.Kind, a arrow.Array) arrow.Array {
	switch a := a.(type) {
	case *array.String:
		return textArray(k, a.ValueBytes(), rebased(a.ValueOffsets()), a.Len())
	case *array.Binary:
		return textArray(k, a.ValueBytes(), rebased(a.ValueOffsets()), a.Len())
	}
	return a
}

// rebased returns offsets that begin at 0.
func rebased(offsets []int32) []int32 {
	if len(offsets) == 0 || offsets[0] == 0 {
		return offsets
	}
	out := make([]int32, len(offsets))
	for i, o := range offsets {
		out[i] = o - offsets[0]
	}
	return out
}
