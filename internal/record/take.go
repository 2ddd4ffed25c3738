package record

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rlprep/rlprep/schema"
)

// SelectRows returns the rows of v, of a leaf with that maximum definition level, that rows names, in that order; a row may come
// more than once.
func (v *Vector) SelectRows(rows []int32, maxDef uint8) *Vector {
	out := &Vector{Rows: len(rows)}
	var values []int32
	switch {
	case v.Def == nil && v.Rep == nil:
		values = rows
	default:
		starts := v.starts(maxDef)
		for _, r := range rows {
			from, to := starts[r], starts[r+1]
			if v.Def != nil {
				out.Def = append(out.Def, v.Def[from.entry:to.entry]...)
			}
			if v.Rep != nil {
				out.Rep = append(out.Rep, v.Rep[from.entry:to.entry]...)
			}
			for i := from.value; i < to.value; i++ {
				values = append(values, int32(i))
			}
		}
	}
	out.Values = takeValues(v.Values, values)
	return out
}

// starts returns where each row begins, and where the last one ends.
func (v *Vector) starts(maxDef uint8) []place {
	out := make([]place, 0, v.Rows+1)
	n, value := v.Entries(), 0
	for e := range n {
		if v.Rep == nil || v.Rep[e] == 0 {
			out = append(out, place{e, value})
		}
		if v.Def == nil || v.Def[e] == maxDef {
			value++
		}
	}
	return append(out, place{n, value})
}

func takeValues(values arrow.Array, rows []int32) arrow.Array {
	switch a := values.(type) {
	case *array.String:
		data, offsets := takeText(rows, func(i int) string { return a.Value(i) })
		return textArray(schema.Text, data, offsets, len(rows))
	case *array.Binary:
		data, offsets := takeText(rows, func(i int) string { return string(a.Value(i)) })
		return textArray(schema.Binary, data, offsets, len(rows))
	case *array.FixedSizeBinary:
		var data []byte
		for _, r := range rows {
			data = append(data, a.Value(int(r))...)
		}
		return array.NewFixedSizeBinaryData(fixedData(a.DataType(), data, len(rows)))
	case *array.Int64:
		b := arrow.Int64Traits.CastToBytes(pick(a.Int64Values(), rows))
		return array.NewInt64Data(fixedData(arrow.PrimitiveTypes.Int64, b, len(rows)))
	case *array.Int32:
		b := arrow.Int32Traits.CastToBytes(pick(a.Int32Values(), rows))
		return array.NewInt32Data(fixedData(arrow.PrimitiveTypes.Int32, b, len(rows)))
	case *array.Float64:
		b := arrow.Float64Traits.CastToBytes(pick(a.Float64Values(), rows))
		return array.NewFloat64Data(fixedData(arrow.PrimitiveTypes.Float64, b, len(rows)))
	case *array.Float32:
		b := arrow.Float32Traits.CastToBytes(pick(a.Float32Values(), rows))
		return array.NewFloat32Data(fixedData(arrow.PrimitiveTypes.Float32, b, len(rows)))
	case *array.Boolean:
		bits := make([]bool, len(rows))
		for i, r := range rows {
			bits[i] = a.Value(int(r))
		}
		return boolArray(bits)
	}
	return values
}

func takeText(rows []int32, at func(int) string) ([]byte, []int32) {
	offsets := make([]int32, 1, len(rows)+1)
	var data []byte
	for _, r := range rows {
		data = append(data, at(int(r))...)
		offsets = append(offsets, int32(len(data)))
	}
	return data, offsets
}

func pick[T any](in []T, rows []int32) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = in[r]
	}
	return out
}

// Lift returns v with its definition levels moved by as many as a leaf's maximum differs between two places: parents that
// are all present add levels, parents that fall away merge theirs into the null below.
func (v *Vector) Lift(from, to uint8) *Vector {
	if v.Def == nil || from == to {
		return v
	}
	out := *v
	out.Def = make([]uint8, len(v.Def))
	for i, d := range v.Def {
		out.Def[i] = uint8(max(0, int(d)+int(to)-int(from)))
	}
	return &out
}
