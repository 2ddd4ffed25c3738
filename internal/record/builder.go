package record

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rlprep/rlprep/schema"
)

// A Builder takes the values of one field, a row at a time, apart into the vectors of its leaves.
type Builder struct {
	root   *part
	leaves []*column
	rows   int
}

// A part is a field of the value's type.
type part struct {
	name     string
	kind     schema.Kind
	nullable bool
	def      uint8 // level at which the part is not null
	rep      uint8 // of its elements, for a list
	kids     []*part
	col      *column // leaf
	below    []*column
}

// A column gathers one leaf.
type column struct {
	typ      schema.Type
	maxDef   uint8
	maxRep   uint8
	nulls    int
	def, rep []uint8
	texts    schema.TextColumn
	ints     []int64
	floats   []float64
	bits     []bool
	values   int
}

// NewBuilder returns a builder for field f, which stands below parents that are all present and reach definition level
// base. It takes text, int64, double, bool and binary leaves, in lists and structs.
func NewBuilder(f schema.Field, base uint8) (*Builder, error) {
	b := &Builder{}
	root, err := b.part(f, base, 0)
	if err != nil {
		return nil, err
	}
	b.root = root
	return b, nil
}

func (b *Builder) part(f schema.Field, def, rep uint8) (*part, error) {
	if f.Nullable {
		def++
	}
	p := &part{name: f.Name, kind: f.Type.Kind, nullable: f.Nullable, def: def}
	kid := func(c schema.Field, def, rep uint8) error {
		k, err := b.part(c, def, rep)
		if err != nil {
			return err
		}
		p.kids = append(p.kids, k)
		p.below = append(p.below, k.below...)
		return nil
	}
	switch f.Type.Kind {
	case schema.Struct:
		for _, c := range f.Type.Fields {
			if err := kid(c, def, rep); err != nil {
				return nil, err
			}
		}
	case schema.List:
		p.rep = rep + 1
		if err := kid(f.Type.Fields[0], def+1, rep+1); err != nil {
			return nil, err
		}
	case schema.Text, schema.Binary, schema.Int, schema.Float, schema.Bool, schema.Null:
		p.col = &column{typ: f.Type, maxDef: def, maxRep: rep}
		p.below = []*column{p.col}
		b.leaves = append(b.leaves, p.col)
	default:
		return nil, fmt.Errorf("column %q: values of type %s cannot be made", f.Name, f.Type)
	}
	if len(p.below) == 0 {
		return nil, fmt.Errorf("column %q: a struct needs a field (Parquet has no empty ones)", f.Name)
	}
	return p, nil
}

// Append adds the value of the next row.
func (b *Builder) Append(v schema.Value) error {
	b.rows++
	return b.root.append(v, 0)
}

func (p *part) append(v schema.Value, rep uint8) error {
	if v.IsNull() || v.IsMissing() {
		if !p.nullable {
			return fmt.Errorf("%s: null in a column that takes none", p.name)
		}
		p.absent(p.def-1, rep)
		return nil
	}
	switch p.kind {
	case schema.Struct:
		if v.Kind() != schema.Struct || v.Len() != len(p.kids) {
			return p.mismatch(v)
		}
		for i, k := range p.kids {
			if err := k.append(v.Elem(i), rep); err != nil {
				return err
			}
		}
		return nil
	case schema.List:
		if v.Kind() != schema.List {
			return p.mismatch(v)
		}
		if v.Len() == 0 {
			p.absent(p.def, rep)
			return nil
		}
		for i := range v.Len() {
			if err := p.kids[0].append(v.Elem(i), rep); err != nil {
				return err
			}
			rep = p.rep
		}
		return nil
	}
	if !p.col.add(v) {
		return p.mismatch(v)
	}
	p.col.level(p.col.maxDef, rep)
	return nil
}

func (p *part) mismatch(v schema.Value) error {
	return fmt.Errorf("%s: expected %s, got %s", p.name, p.kind, v.Kind())
}

// absent adds to every leaf below an entry without a value.
func (p *part) absent(def, rep uint8) {
	for _, c := range p.below {
		c.nulls++
		c.level(def, rep)
	}
}

func (c *column) level(def, rep uint8) {
	c.def = append(c.def, def)
	if c.maxRep > 0 {
		c.rep = append(c.rep, rep)
	}
}

func (c *column) add(v schema.Value) bool {
	switch {
	case (c.typ.Kind == schema.Text && v.Kind() == schema.Text) || (c.typ.Kind == schema.Binary && v.Kind() == schema.Binary):
		c.texts.Bytes = append(c.texts.Bytes, v.Text()...)
		c.texts.End()
	case c.typ.Kind == schema.Int && v.Kind() == schema.Int:
		c.ints = append(c.ints, v.Int())
	case c.typ.Kind == schema.Float && (v.Kind() == schema.Float || v.Kind() == schema.Int):
		c.floats = append(c.floats, v.Float())
	case c.typ.Kind == schema.Bool && v.Kind() == schema.Bool:
		c.bits = append(c.bits, v.Bool())
	default:
		return false
	}
	c.values++
	return true
}

// Texts returns what gathers the texts of each leaf, in leaf order, so that rows can be filled in without a value each; nil where a
// leaf is no text, or repeats more than once. Filled ends it.
func (b *Builder) Texts() []*schema.TextColumn {
	out := make([]*schema.TextColumn, len(b.leaves))
	for i, c := range b.leaves {
		if c.typ.Kind != schema.Text || c.maxRep > 1 {
			return nil
		}
		out[i] = &c.texts
	}
	return out
}

// Filled says that Texts, empty before, now have the texts of that many rows, of none of which anything is null: of a list equally many a row.
func (b *Builder) Filled(rows int) error {
	b.rows = rows
	for _, c := range b.leaves {
		c.values = c.texts.Len()
		n := c.values / max(rows, 1)
		if n*rows != c.values || n == 0 && rows > 0 || n > 1 && c.maxRep == 0 {
			return fmt.Errorf("%d texts for %d rows", c.values, rows)
		}
		if c.maxRep == 0 {
			continue
		}
		c.rep = slices.Grow(c.rep[:0], c.values)[:c.values]
		for i := range c.rep {
			c.rep[i] = 1
			if i%n == 0 {
				c.rep[i] = 0
			}
		}
	}
	return nil
}

// Bytes returns the size of the text gathered so far.
func (b *Builder) Bytes() int {
	n := 0
	for _, c := range b.leaves {
		n += len(c.texts.Bytes)
	}
	return n
}

// Vectors returns a vector a leaf, in leaf order, over the rows appended since Reset. They share the builder's memory and
// are valid until Reset.
func (b *Builder) Vectors() []*Vector {
	out := make([]*Vector, len(b.leaves))
	for i, c := range b.leaves {
		out[i] = &Vector{Values: c.array(), Rows: b.rows, Rep: c.rep}
		if c.nulls > 0 {
			out[i].Def = c.def
		}
	}
	return out
}

// Reset forgets the rows and keeps the memory.
func (b *Builder) Reset() {
	b.rows = 0
	for _, c := range b.leaves {
		c.nulls, c.values = 0, 0
		c.def, c.rep = c.def[:0], c.rep[:0]
		c.texts.Reset()
		c.ints, c.floats, c.bits = c.ints[:0], c.floats[:0], c.bits[:0]
	}
}

func (c *column) array() arrow.Array {
	switch c.typ.Kind {
	case schema.Text, schema.Binary:
		return textArray(c.typ.Kind, c.texts.Bytes, c.texts.Offsets(), c.values)
	case schema.Int:
		if c.typ.Bits < 64 {
			return int32Array(c.ints)
		}
		return array.NewInt64Data(fixedData(arrow.PrimitiveTypes.Int64, arrow.Int64Traits.CastToBytes(c.ints), c.values))
	case schema.Float:
		if c.typ.Bits < 64 {
			return float32Array(c.floats)
		}
		return array.NewFloat64Data(fixedData(arrow.PrimitiveTypes.Float64, arrow.Float64Traits.CastToBytes(c.floats), c.values))
	case schema.Bool:
		return boolArray(c.bits)
	}
	return array.NewNull(0)
}

func textArray(k schema.Kind, data []byte, offsets []int32, n int) arrow.Array {
	typ := arrow.DataType(arrow.BinaryTypes.String)
	if k == schema.Binary {
		typ = arrow.BinaryTypes.Binary
	}
	d := array.NewData(typ, n, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(data)}, nil, 0, 0)
	if k == schema.Binary {
		return array.NewBinaryData(d)
	}
	return array.NewStringData(d)
}

func fixedData(t arrow.DataType, b []byte, n int) *array.Data {
	return array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(b)}, nil, 0, 0)
}

func int32Array(in []int64) arrow.Array {
	out := make([]int32, len(in))
	for i, v := range in {
		out[i] = int32(v)
	}
	return array.NewInt32Data(fixedData(arrow.PrimitiveTypes.Int32, arrow.Int32Traits.CastToBytes(out), len(out)))
}

func float32Array(in []float64) arrow.Array {
	out := make([]float32, len(in))
	for i, v := range in {
		out[i] = float32(v)
	}
	return array.NewFloat32Data(fixedData(arrow.PrimitiveTypes.Float32, arrow.Float32Traits.CastToBytes(out), len(out)))
}

func boolArray(in []bool) arrow.Array {
	b := make([]byte, (len(in)+7)/8)
	for i, v := range in {
		if v {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return array.NewBooleanData(fixedData(arrow.FixedWidthTypes.Boolean, b, len(in)))
}
