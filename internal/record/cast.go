package record

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/rlprep/rlprep/schema"
)

// Cast returns v, whose values are of type from, with values of type to, a wider one: integers of more bits, floats of more bits, or
// doubles of integers. bad is the number of the first value that to cannot hold exactly, -1 for none.
func (v *Vector) Cast(from, to schema.Type) (out *Vector, bad int) {
	values := v.Values
	bad = -1
	switch {
	case values == nil || values.Len() == 0:
		values = array.NewNull(0)
	case to.Kind == schema.Int && to.Bits == 64:
		if a, ok := values.(*array.Int32); ok {
			values = int64Array(widened(a, from.Unsigned))
		}
	case to.Kind == schema.Float:
		values, bad = floats(values, from, to)
	}
	return &Vector{Values: values, Def: v.Def, Rep: v.Rep, Rows: v.Rows}, bad
}

// widened returns the numbers of a, which Parquet stores in 32 bits whatever their sign.
func widened(a *array.Int32, unsigned bool) []int64 {
	out := make([]int64, a.Len())
	for i, x := range a.Int32Values() {
		if out[i] = int64(x); unsigned {
			out[i] = int64(uint32(x))
		}
	}
	return out
}

func int64Array(in []int64) arrow.Array {
	return array.NewInt64Data(fixedData(arrow.PrimitiveTypes.Int64, arrow.Int64Traits.CastToBytes(in), len(in)))
}

// floats returns values as floats of to's width.
func floats(values arrow.Array, from, to schema.Type) (arrow.Array, int) {
	out := make([]float64, values.Len())
	bad := -1
	switch a := values.(type) {
	case *array.Float64:
		return a, -1
	case *array.Float32:
		if to.Bits == 32 {
			return a, -1
		}
		for i, x := range a.Float32Values() {
			out[i] = float64(x)
		}
	case *array.FixedSizeBinary:
		for i := range out {
			out[i] = halfFloat(a.Value(i))
		}
	case *array.Int32:
		for i, x := range widened(a, from.Unsigned) {
			out[i] = float64(x)
		}
	case *array.Int64:
		for i, x := range a.Int64Values() {
			var exact bool
			if out[i], exact = exactFloat(x, from.Unsigned); !exact && bad < 0 {
				bad = i
			}
		}
	}
	if to.Bits == 32 {
		return float32Array(out), bad
	}
	return array.NewFloat64Data(fixedData(arrow.PrimitiveTypes.Float64, arrow.Float64Traits.CastToBytes(out), len(out))), bad
}

// halfFloat returns the float of 16 bits that two bytes hold, as Parquet stores it.
func halfFloat(b []byte) float64 {
	return float64(float16.FromBits(binary.LittleEndian.Uint16(b)).Float32())
}

// exactFloat returns x as a double, and whether that is x.
func exactFloat(x int64, unsigned bool) (float64, bool) {
	if unsigned {
		f := float64(uint64(x))
		return f, f < math.MaxUint64 && uint64(f) == uint64(x)
	}
	f := float64(x)
	return f, f < math.MaxInt64 && int64(f) == x
}

// AbsentLeaf returns a leaf below a field that the struct around it lacks: in each entry of like, a leaf of that struct, it has none. rep is how
// many lists are passed down to the struct, def the level at which the struct is there; where like is nil it is there in each of rows.
func AbsentLeaf(like *Vector, rows int, rep, def uint8, repeated bool) *Vector {
	out := &Vector{Values: array.NewNull(0), Rows: rows}
	if like == nil {
		out.Def = make([]uint8, rows)
		for i := range out.Def {
			out.Def[i] = def
		}
	} else {
		for e := range like.Entries() {
			r, d := uint8(0), def
			if like.Rep != nil {
				r = like.Rep[e]
			}
			if like.Def != nil {
				d = min(d, like.Def[e])
			}
			if r <= rep {
				out.Def, out.Rep = append(out.Def, d), append(out.Rep, r)
			}
		}
	}
	if !repeated {
		out.Rep = nil
	} else if out.Rep == nil {
		out.Rep = make([]uint8, rows)
	}
	return out
}
