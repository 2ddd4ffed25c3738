package record

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/schema"
)

// genType draws a type of plain leaves, lists and structs.
func genType(t *rapid.T, depth int) schema.Type {
	kinds := []schema.Type{schema.StringType, schema.Int64Type, schema.BoolType, schema.FloatType, {Kind: schema.Binary}, {Kind: schema.Int, Bits: 32}}
	n := len(kinds)
	if depth > 0 {
		n += 2
	}
	switch k := rapid.IntRange(0, n-1).Draw(t, "kind"); {
	case k < len(kinds):
		return kinds[k]
	case k == len(kinds):
		f := schema.Field{Name: "element", Type: genType(t, depth-1), Nullable: rapid.Bool().Draw(t, "nullable")}
		return schema.Type{Kind: schema.List, Fields: []schema.Field{f}}
	}
	return schema.StructOf(genFields(t, depth-1)...)
}

func genFields(t *rapid.T, depth int) []schema.Field {
	var out []schema.Field
	for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
		out = append(out, schema.Field{Name: fmt.Sprintf("f%d", i), Type: genType(t, depth), Nullable: rapid.Bool().Draw(t, "nullable")})
	}
	return out
}

func genValue(t *rapid.T, f *schema.Field) schema.Value {
	if f.Nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return schema.NullValue
	}
	switch f.Type.Kind {
	case schema.Text:
		return schema.TextValue(rapid.String().Draw(t, "text"))
	case schema.Binary:
		return schema.BinaryValue(rapid.String().Draw(t, "bytes"))
	case schema.Int:
		return schema.IntValue(int64(rapid.Int32().Draw(t, "int")))
	case schema.Bool:
		return schema.BoolValue(rapid.Bool().Draw(t, "bool"))
	case schema.Float:
		return schema.FloatValue(rapid.Float64().Draw(t, "float"))
	case schema.List:
		elems := make([]schema.Value, rapid.IntRange(0, 3).Draw(t, "len"))
		for i := range elems {
			elems[i] = genValue(t, &f.Type.Fields[0])
		}
		return schema.ListValue(elems)
	}
	elems := make([]schema.Value, len(f.Type.Fields))
	for i := range elems {
		elems[i] = genValue(t, &f.Type.Fields[i])
	}
	return schema.StructValue(&f.Type, elems)
}

// build takes rows of one column apart into a batch.
func build(t *rapid.T, f schema.Field, rows []schema.Value) *Batch {
	b, err := NewBuilder(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range rows {
		if err := b.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	batch := &Batch{Schema: &schema.Schema{Fields: []schema.Field{f}}, Rows: len(rows)}
	for i, l := range batch.Schema.Leaves() {
		batch.Leaves = append(batch.Leaves, Leaf{Leaf: l, Vec: b.Vectors()[i]})
	}
	return batch
}

// pick is what stands at steps below v: a list of what its elements hold for each "[]".
func project(v schema.Value, steps []string) schema.Value {
	if len(steps) == 0 || v.IsNull() {
		if v.IsNull() {
			return schema.NullValue
		}
		return v
	}
	if steps[0] != schema.Elem {
		return project(v.Field(steps[0]), steps[1:])
	}
	elems := make([]schema.Value, v.Len())
	for i := range elems {
		elems[i] = project(v.Elem(i), steps[1:])
	}
	return schema.ListValue(elems)
}

// paths lists every path of a schema.
func paths(fields []schema.Field, at schema.Path) []schema.Path {
	var out []schema.Path
	for _, f := range fields {
		p := at.Field(f.Name)
		for {
			out = append(out, p)
			if f.Type.Kind == schema.Struct {
				out = append(out, paths(f.Type.Fields, p)...)
			}
			if f.Type.Kind != schema.List {
				break
			}
			p, f = p.Elem(), f.Type.Fields[0]
		}
	}
	return out
}

func TestCursorReadsWhatBuilderTook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := schema.Field{Name: "c", Type: genType(t, 3), Nullable: rapid.Bool().Draw(t, "nullable")}
		rows := make([]schema.Value, rapid.IntRange(1, 8).Draw(t, "rows"))
		for i := range rows {
			rows[i] = genValue(t, &f)
		}
		batch := build(t, f, rows)
		all := paths(batch.Schema.Fields, "")
		cur := Bind(batch.Schema, all).Cursor()
		cur.Reset(batch)
		for i := 0; cur.Next(); i++ {
			for k, p := range all {
				want := project(rows[i], p.Steps()[1:])
				if got := cur.At(k); !got.Equal(want) {
					t.Fatalf("row %d, %s (%s): got %s, want %s", i, p, f, got.AppendJSON(nil), want.AppendJSON(nil))
				}
			}
		}
	})
}

func TestTakeKeepsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := schema.Field{Name: "c", Type: genType(t, 2), Nullable: rapid.Bool().Draw(t, "nullable")}
		rows := make([]schema.Value, rapid.IntRange(1, 8).Draw(t, "rows"))
		for i := range rows {
			rows[i] = genValue(t, &f)
		}
		batch := build(t, f, rows)
		take := rapid.SliceOfN(rapid.Int32Range(0, int32(len(rows)-1)), 0, 10).Draw(t, "take")
		for i := range batch.Leaves {
			l := &batch.Leaves[i]
			l.Vec = l.Vec.SelectRows(take, l.MaxDef)
		}
		batch.Rows = len(take)
		cur := Bind(batch.Schema, []schema.Path{"c"}).Cursor()
		cur.Reset(batch)
		for i := 0; cur.Next(); i++ {
			if got, want := cur.At(0), rows[take[i]]; !got.Equal(want) {
				t.Fatalf("row %d of %s: got %s, want %s", i, f, got.AppendJSON(nil), want.AppendJSON(nil))
			}
		}
	})
}

func TestNullDepth(t *testing.T) {
	inner := schema.StructOf(schema.NewField("index", schema.Int64Type))
	null, seven := schema.StructValue(&inner, []schema.Value{schema.NullValue}), schema.StructValue(&inner, []schema.Value{schema.IntValue(7)})
	nullable := schema.NewField("extra_info", inner)
	required := nullable
	required.Nullable = false
	for _, c := range []struct {
		field schema.Field
		rows  []schema.Value
		want  []int
	}{
		{nullable, []schema.Value{schema.NullValue, null, seven}, []int{0, 1}},
		{required, []schema.Value{null, seven}, []int{1}}, // there is no null struct, so it is the field that is null
	} {
		b, err := NewBuilder(c.field, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range c.rows {
			if err := b.Append(v); err != nil {
				t.Fatal(err)
			}
		}
		batch := &Batch{Schema: &schema.Schema{Fields: []schema.Field{c.field}}, Rows: len(c.rows)}
		batch.Leaves = []Leaf{{Leaf: batch.Schema.Leaves()[0], Vec: b.Vectors()[0]}}
		cur := Bind(batch.Schema, []schema.Path{"extra_info.index", "extra_info", "nope"}).Cursor()
		cur.Reset(batch)
		for i, want := range c.want {
			cur.Next()
			if got := cur.At(0); !got.IsNull() || got.Depth() != want {
				t.Errorf("nullable %v: row %d: got %v at depth %d, want a null at depth %d", c.field.Nullable, i, got.Kind(), got.Depth(), want)
			}
		}
		if !cur.At(2).IsMissing() {
			t.Errorf("a path that is not there: got %v, want missing", cur.At(2).Kind())
		}
	}
}

func TestRowsOf(t *testing.T) {
	// Rows: [a b], null, [c], [], [d null e]; a null list is at level 0, an empty one at 1, a null element at 2.
	v := &Vector{Rep: []uint8{0, 1, 0, 0, 0, 0, 1, 1}, Def: []uint8{3, 3, 0, 3, 1, 3, 2, 3}, Rows: 5}
	for _, c := range []struct{ values, want []int }{
		{nil, nil},
		{[]int{0}, []int{0}},
		{[]int{0, 1}, []int{0}},
		{[]int{2}, []int{2}},
		{[]int{1, 3, 4}, []int{0, 4}},
		{[]int{4}, []int{4}},
	} {
		if got := v.RowsOf(c.values, 3); !slices.Equal(got, c.want) {
			t.Errorf("values %v are in rows %v, got %v", c.values, c.want, got)
		}
	}
	flat := &Vector{Def: []uint8{0, 1, 1, 0, 1}, Rows: 5}
	if got := flat.RowsOf([]int{0, 2}, 1); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("got rows %v of a column with nulls", got)
	}
}

func TestTexts(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues([]string{"one", "", "three", "four"}, nil)
	whole := b.NewStringArray()
	for _, c := range []struct {
		a    arrow.Array
		want []string
	}{{whole, []string{"one", "", "three", "four"}}, {array.NewSlice(whole, 1, 3), []string{"", "three"}}, {array.NewSlice(whole, 2, 2), nil}} {
		texts, ok := (&Vector{Values: c.a}).Texts()
		var got []string
		for i := range texts.Len() {
			got = append(got, texts.At(i))
		}
		if !ok || !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if _, ok := (*Vector)(nil).Texts(); ok {
		t.Error("no vector has texts")
	}
}

// TestFilled compares texts that were filled in with the same values appended.
func TestFilled(t *testing.T) {
	pair := schema.StructOf(schema.NewField("role", schema.StringType), schema.NewField("content", schema.StringType))
	for n, f := range map[int]schema.Field{1: schema.NewField("c", schema.StringType), 3: schema.NewField("c", schema.ListOf(pair))} {
		one, err := NewBuilder(f, 1)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := NewBuilder(f, 1)
		for round := range 2 { // with its memory used again
			const rows = 5
			one.Reset()
			all.Reset()
			for row := range rows {
				var elems []schema.Value
				for i := range n {
					text := schema.TextValue(strconv.Itoa(round + row*10 + i))
					for _, c := range all.Texts() {
						c.Bytes = append(c.Bytes, text.Text()...)
						c.End()
					}
					elems = append(elems, schema.StructValue(&pair, []schema.Value{text, text}))
				}
				v := schema.ListValue(elems)
				if n == 1 {
					v = elems[0].Elem(0)
				}
				if err := one.Append(v); err != nil {
					t.Fatal(err)
				}
			}
			if err := all.Filled(rows); err != nil {
				t.Fatal(err)
			}
			for i, want := range one.Vectors() {
				got := all.Vectors()[i]
				if !array.Equal(got.Values, want.Values) || !slices.Equal(got.Rep, want.Rep) || !slices.Equal(got.Def, want.Def) || got.Rows != want.Rows {
					t.Errorf("leaf %d: got %v %v, want %v %v", i, got.Values, got.Rep, want.Values, want.Rep)
				}
			}
			if all.Texts()[0].End(); all.Filled(rows) == nil {
				t.Error("a text too many is taken")
			}
		}
	}
}

// Numbers of 64 bits without a sign, and floats of 16 bits, are what they say, not their bits.
func TestCursorReadsUnsignedAndHalf(t *testing.T) {
	fields := []schema.Field{schema.NewField("u", schema.Type{Kind: schema.Int, Bits: 64, Unsigned: true}), schema.NewField("h", schema.Type{Kind: schema.Float, Bits: 16})}
	batch := &Batch{Schema: &schema.Schema{Fields: fields}, Rows: 2}
	leaves := batch.Schema.Leaves()
	half := array.NewFixedSizeBinaryData(fixedData(&arrow.FixedSizeBinaryType{ByteWidth: 2}, []byte{0x00, 0x3e, 0x00, 0xc0}, 2))
	batch.Leaves = []Leaf{
		{Leaf: leaves[0], Vec: &Vector{Values: int64Array([]int64{-1, 5}), Def: []uint8{1, 1}, Rows: 2}},
		{Leaf: leaves[1], Vec: &Vector{Values: half, Def: []uint8{1, 1}, Rows: 2}},
	}
	cur := Bind(batch.Schema, []schema.Path{"u", "h"}).Cursor()
	cur.Reset(batch)
	for _, want := range []string{"18446744073709551615 1.5", "5 -2.0"} {
		cur.Next()
		if got := string(cur.At(0).AppendJSON(nil)) + " " + string(cur.At(1).AppendJSON(nil)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	big := schema.UintValue(1<<64 - 1)
	if !big.Big() || big.Float() != 1<<64 || big.Equal(schema.IntValue(-1)) || schema.UintValue(5).Big() || !schema.UintValue(5).Equal(schema.IntValue(5)) {
		t.Error("a number above the greatest int64 is not what it is")
	}
}
