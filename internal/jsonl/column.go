package jsonl

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// A column gathers the values and levels of one leaf, straight from the JSON text.
type column struct {
	leaf schema.Leaf

	data  []byte // text
	ends  []int32
	i64   []int64
	i32   []int32
	f64   []float64
	f32   []float32
	bools []bool

	n        int // values
	entries  int
	def, rep []uint8 // def is nil as long as every entry is at MaxDef

	mark mark // where the current row began
}

// A mark is how full a column was, so that what came after can be taken back.
type mark struct{ data, n, entries int }

func (c *column) where() mark { return mark{len(c.data), c.n, c.entries} }

// back takes back what was added since m.
func (c *column) back(m mark) {
	c.data, c.n, c.entries = c.data[:m.data], m.n, m.entries
	switch c.leaf.Type.Kind {
	case schema.Int:
		if c.leaf.Type.Bits < 64 {
			c.i32 = c.i32[:m.n]
		} else {
			c.i64 = c.i64[:m.n]
		}
	case schema.Float:
		if c.leaf.Type.Bits < 64 {
			c.f32 = c.f32[:m.n]
		} else {
			c.f64 = c.f64[:m.n]
		}
	case schema.Bool:
		c.bools = c.bools[:m.n]
	case schema.Null:
	default:
		c.ends = c.ends[:m.n+1]
	}
	if c.def != nil {
		c.def = c.def[:m.entries]
	}
	if c.leaf.MaxRep > 0 {
		c.rep = c.rep[:m.entries]
	}
}

// present notes that a value was added.
func (c *column) present(rep uint8) {
	c.n++
	c.entries++
	if c.def != nil {
		c.def = append(c.def, c.leaf.MaxDef)
	}
	if c.leaf.MaxRep > 0 {
		c.rep = append(c.rep, rep)
	}
}

// absent adds an entry without a value, down to level def.
func (c *column) absent(def, rep uint8) {
	if c.def == nil {
		c.def = make([]uint8, c.entries, max(64, c.entries+c.entries/2))
		for i := range c.def {
			c.def[i] = c.leaf.MaxDef
		}
	}
	c.entries++
	c.def = append(c.def, def)
	if c.leaf.MaxRep > 0 {
		c.rep = append(c.rep, rep)
	}
}

// zero adds the zero value, where a column that takes no null has none.
func (c *column) zero(rep uint8) {
	switch c.leaf.Type.Kind {
	case schema.Int:
		c.int(0)
	case schema.Float:
		c.float(0)
	case schema.Bool:
		c.bools = append(c.bools, false)
	default:
		c.end()
	}
	c.present(rep)
}

// end closes the text that was appended to data.
func (c *column) end() { c.ends = append(c.ends, int32(len(c.data))) }

// int adds an integer and reports whether it fits the column.
func (c *column) int(v int64) bool {
	t := &c.leaf.Type
	if !t.HoldsInt(v) {
		return false
	}
	if t.Bits == 64 {
		c.i64 = append(c.i64, v)
		return true
	}
	c.i32 = append(c.i32, int32(v))
	return true
}

func (c *column) float(v float64) {
	if c.leaf.Type.Bits == 32 {
		c.f32 = append(c.f32, float32(v))
	} else {
		c.f64 = append(c.f64, v)
	}
}

// start makes room for rows: as much as the rows before them took, at first for size bytes of text.
func (c *column) start(rows, size int) {
	data, n := len(c.data)+len(c.data)/16, max(rows, c.n+c.n/16)
	if data == 0 {
		data = size + size/4
	}
	*c = column{leaf: c.leaf}
	switch c.leaf.Type.Kind {
	case schema.Int:
		if c.leaf.Type.Bits < 64 {
			c.i32 = make([]int32, 0, n)
		} else {
			c.i64 = make([]int64, 0, n)
		}
	case schema.Float:
		if c.leaf.Type.Bits < 64 {
			c.f32 = make([]float32, 0, n)
		} else {
			c.f64 = make([]float64, 0, n)
		}
	case schema.Bool:
		c.bools = make([]bool, 0, n)
	case schema.Null:
	default:
		c.ends = append(make([]int32, 0, n+1), 0)
		c.data = make([]byte, 0, data)
	}
	if c.leaf.MaxRep > 0 {
		c.rep = make([]uint8, 0, n)
	}
}

// vector hands the values over.
func (c *column) vector(rows int) *record.Vector {
	return &record.Vector{Values: c.array(), Def: c.def, Rep: c.rep, Rows: rows}
}

func (c *column) array() arrow.Array {
	switch c.leaf.Type.Kind {
	case schema.Int:
		if c.leaf.Type.Bits < 64 {
			return array.NewInt32Data(arrowData(arrow.PrimitiveTypes.Int32, c.n, arrow.Int32Traits.CastToBytes(c.i32)))
		}
		return array.NewInt64Data(arrowData(arrow.PrimitiveTypes.Int64, c.n, arrow.Int64Traits.CastToBytes(c.i64)))
	case schema.Float:
		if c.leaf.Type.Bits < 64 {
			return array.NewFloat32Data(arrowData(arrow.PrimitiveTypes.Float32, c.n, arrow.Float32Traits.CastToBytes(c.f32)))
		}
		return array.NewFloat64Data(arrowData(arrow.PrimitiveTypes.Float64, c.n, arrow.Float64Traits.CastToBytes(c.f64)))
	case schema.Bool:
		bits := make([]byte, (c.n+7)/8)
		for i, v := range c.bools {
			if v {
				bits[i/8] |= 1 << (i % 8)
			}
		}
		return array.NewBooleanData(arrowData(arrow.FixedWidthTypes.Boolean, c.n, bits))
	case schema.Null:
		return array.NewNull(0)
	case schema.Binary:
		return array.NewBinaryData(arrowData(arrow.BinaryTypes.Binary, c.n, arrow.Int32Traits.CastToBytes(c.ends), c.data))
	}
	return array.NewStringData(arrowData(arrow.BinaryTypes.String, c.n, arrow.Int32Traits.CastToBytes(c.ends), c.data))
}

func arrowData(t arrow.DataType, n int, parts ...[]byte) *array.Data {
	buffers := make([]*memory.Buffer, 1, 3)
	for _, b := range parts {
		buffers = append(buffers, memory.NewBufferBytes(b))
	}
	return array.NewData(t, n, buffers, nil, 0, 0)
}

// readable returns an error for a column of a type that JSON cannot be read into.
func readable(path schema.Path, f schema.Field) error {
	t := f.Type
	switch t.Kind {
	case schema.Text, schema.Bool, schema.Other:
		return nil
	case schema.Null:
		if f.Nullable {
			return nil
		}
	case schema.Int:
		if t.Bits == 8 || t.Bits == 16 || t.Bits == 32 || t.Bits == 64 {
			return nil
		}
	case schema.Float:
		if t.Bits == 32 || t.Bits == 64 {
			return nil
		}
	case schema.Binary:
		if t.Layout != schema.Fixed {
			return nil
		}
	case schema.List:
		if t.Layout != schema.Fixed && len(t.Fields) == 1 {
			return readable(path.Elem(), t.Fields[0])
		}
	case schema.Struct:
		for _, c := range t.Fields {
			if err := readable(path.Field(c.Name), c); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("column %s: JSON cannot be read into %s", path, t)
}

// levels returns an error where nesting exceeds what a definition level holds.
func levels(leaves []schema.Leaf) error {
	for _, l := range leaves {
		if l.MaxDef == math.MaxUint8 {
			return fmt.Errorf("column %s: nested too deep", l.Path)
		}
	}
	return nil
}
