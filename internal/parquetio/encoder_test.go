package parquetio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

func arrowData(typ arrow.DataType, n int, b []byte) *array.Data {
	return array.NewData(typ, n, []*memory.Buffer{nil, memory.NewBufferBytes(b)}, nil, 0, 0)
}

func int64Vector(values ...int64) *record.Vector {
	return &record.Vector{Values: array.NewInt64Data(arrowData(arrow.PrimitiveTypes.Int64, len(values), arrow.Int64Traits.CastToBytes(values))), Rows: len(values)}
}

func int32Vector(values ...int32) *record.Vector {
	return &record.Vector{Values: array.NewInt32Data(arrowData(arrow.PrimitiveTypes.Int32, len(values), arrow.Int32Traits.CastToBytes(values))), Rows: len(values)}
}

func float64Vector(values ...float64) *record.Vector {
	return &record.Vector{Values: array.NewFloat64Data(arrowData(arrow.PrimitiveTypes.Float64, len(values), arrow.Float64Traits.CastToBytes(values))), Rows: len(values)}
}

// encodeLeaf encodes one column from slices of it.
func encodeLeaf(t testing.TB, f schema.Field, codec Codec, batches ...*record.Batch) (*schema.Schema, *EncodedRowGroup) {
	t.Helper()
	s := &schema.Schema{Fields: []schema.Field{f}}
	e := NewEncoder(s, EncoderOptions{Codec: codec})
	for _, b := range batches {
		if err := e.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	g, err := e.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return s, g
}

func one(l record.Leaf, rows int) *record.Batch {
	return &record.Batch{Rows: rows, File: "f", Leaves: []record.Leaf{l}}
}

// A constant of any type costs about a hundred bytes and reads back in every row.
func TestConst(t *testing.T) {
	int8Type, floatType := schema.Type{Kind: schema.Int, Bits: 8}, schema.Type{Kind: schema.Float, Bits: 32}
	fixed := schema.Type{Kind: schema.Binary, Layout: schema.Fixed, Size: 3}
	tests := []struct {
		name string
		f    schema.Field
		v    schema.Value
		want any // PLAIN bytes; nil: null
	}{
		{"text", schema.NewField("a", schema.StringType), schema.TextValue("tool_agent"), "tool_agent"},
		{"empty text", schema.NewField("a", schema.StringType), schema.TextValue(""), ""},
		{"required text", schema.Field{Name: "a", Type: schema.StringType}, schema.TextValue("x"), "x"},
		{"bytes", schema.NewField("a", schema.Type{Kind: schema.Binary}), schema.BinaryValue("\xff\x00"), "\xff\x00"},
		{"fixed", schema.NewField("a", fixed), schema.BinaryValue("abc"), "abc"},
		{"int", schema.NewField("a", schema.Int64Type), schema.IntValue(-2), "\xfe\xff\xff\xff\xff\xff\xff\xff"},
		{"int8", schema.NewField("a", int8Type), schema.IntValue(-128), "\x80\xff\xff\xff"},
		{"float", schema.NewField("a", floatType), schema.FloatValue(1), "\x00\x00\x80\x3f"},
		{"true", schema.NewField("a", schema.BoolType), schema.BoolValue(true), "\x01"},
		{"false", schema.Field{Name: "a", Type: schema.BoolType}, schema.BoolValue(false), "\x00"},
		{"null text", schema.NewField("a", schema.StringType), schema.NullValue, nil},
		{"null int", schema.NewField("a", schema.Int64Type), schema.NullValue, nil},
	}
	const rows = 100_003
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := record.Leaf{Const: &tt.v}
			s, g := encodeLeaf(t, tt.f, Zstd, one(l, 100_000), one(l, 3))
			if n := g.Chunks[0].Pages.Len(); n > 150 {
				t.Errorf("%d bytes", n)
			}
			st := g.Chunks[0].Stats
			if tt.want == nil && (st.Nulls != rows || st.Min != nil) || tt.want != nil && (st.Nulls != 0 || string(st.Min) != tt.want || string(st.Max) != tt.want) {
				t.Errorf("statistics: %+v", st)
			}
			f := reopen(t, s, g)
			got := readAll(t, f, 0, 0, rows, func() int { return 30_000 })[0]
			other := readByParquetGo(t, f, 0, 0)
			if d := got.diff(&other); d != "" {
				t.Fatalf("read, parquet-go: %s", d)
			}
			if tt.want == nil {
				if len(got.values) != 0 || len(got.def) != rows {
					t.Errorf("%d values, %d entries", len(got.values), len(got.def))
				}
				return
			}
			for i, v := range got.values {
				if string(v) != tt.want {
					t.Fatalf("row %d: %q", i, v)
				}
			}
			if len(got.values) != rows {
				t.Errorf("%d values", len(got.values))
			}
		})
	}
}

func TestSeq(t *testing.T) {
	rows := make([]int32, 30_000)
	for i := range rows {
		rows[i] = int32(i * 3)
	}
	for _, typ := range []schema.Type{schema.Int64Type, {Kind: schema.Int, Bits: 32}} {
		l := record.Leaf{Seq: &record.Seq{Start: -7}}
		whole := one(l, 50_000)
		whole.SplitRow = 1000
		some := one(l, len(rows))
		some.SplitRow, some.Source = 51_000, rows
		s, g := encodeLeaf(t, schema.NewField("index", typ), None, whole, some)
		c := g.Chunks[0]
		if lastEncoding(&c) != encoding.Delta || c.Pages.Len() > 80_000/128*6+500 {
			t.Errorf("%s: encoding %d, %d bytes", typ, lastEncoding(&c), c.Pages.Len())
		}
		f := reopen(t, s, g)
		got, other := readAll(t, f, 0, 0, 80_000, func() int { return 7777 })[0], readByParquetGo(t, f, 0, 0)
		if d := got.diff(&other); d != "" {
			t.Fatalf("read, parquet-go: %s", d)
		}
		for i, v := range got.values {
			want := int64(1000 + i - 7)
			if i >= 50_000 {
				want = int64(51_000 + 3*(i-50_000) - 7)
			}
			if n := plainInt(v); n != want {
				t.Fatalf("%s: row %d: %d, want %d", typ, i, n, want)
			}
		}
	}
}

func plainInt(b []byte) int64 {
	if len(b) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func TestAppendRefuses(t *testing.T) {
	text, number := schema.NewField("a", schema.StringType), schema.NewField("a", schema.Int64Type)
	list := schema.NewField("a", schema.ListOf(schema.StringType))
	x, y, n := schema.TextValue("x"), schema.TextValue("y"), schema.IntValue(300)
	null := schema.NullValue
	chunk := &record.Raw{Chunk: &Chunk{file: &File{groups: []RowGroup{{Rows: 5}}}}}
	dropped := one(record.Leaf{Raw: chunk}, 5)
	dropped.Source = []int32{0, 1, 2, 3, 5}
	def := func(v *record.Vector, levels ...uint8) *record.Vector { v.Def = levels; v.Rows = len(levels); return v }
	tests := []struct {
		name    string
		f       schema.Field
		batches []*record.Batch
		want    string
	}{
		{"another constant", text, []*record.Batch{one(record.Leaf{Const: &x}, 1), one(record.Leaf{Const: &y}, 1)}, "constant changes"},
		{"another form", text, []*record.Batch{one(record.Leaf{Const: &x}, 1), one(record.Leaf{Vec: textVector([]string{"x"})}, 1)}, "form changes"},
		{"kind of constant", number, []*record.Batch{one(record.Leaf{Const: &x}, 1)}, "a constant of kind string cannot go into a column of type int64"},
		{"constant too large", schema.NewField("a", schema.Type{Kind: schema.Int, Bits: 8}), []*record.Batch{one(record.Leaf{Const: &n}, 1)}, "300 is beyond int8"},
		{"null in required", schema.Field{Name: "a", Type: schema.StringType}, []*record.Batch{one(record.Leaf{Const: &null}, 1)}, "takes none"},
		{"constant in list", list, []*record.Batch{one(record.Leaf{Const: &x}, 1)}, "in a list"},
		{"rows dropped under a raw chunk", text, []*record.Batch{dropped}, "rows were dropped"},
		{"raw chunk of more rows", text, []*record.Batch{one(record.Leaf{Raw: chunk}, 4)}, "has 4 rows, the column chunk to be copied 5"},
		{"another raw chunk", text, []*record.Batch{one(record.Leaf{Raw: chunk}, 2), one(record.Leaf{Raw: &record.Raw{Chunk: &Chunk{}}}, 2)}, "chunk changes"},
		{"not a chunk", text, []*record.Batch{one(record.Leaf{Raw: &record.Raw{Chunk: 3}}, 2)}, "raw data is a int"},
		{"nothing", text, []*record.Batch{one(record.Leaf{}, 2)}, "no data"},
		{"wrong type", text, []*record.Batch{one(record.Leaf{Vec: int64Vector(1)}, 1)}, "its type is string, but the values are int64"},
		{"wrong width", schema.NewField("a", schema.Type{Kind: schema.Int, Bits: 16}), []*record.Batch{one(record.Leaf{Vec: int64Vector(1)}, 1)}, "its type is int16"},
		{"rows", text, []*record.Batch{one(record.Leaf{Vec: textVector([]string{"x", "y"})}, 1)}, "2 rows"},
		{"too few values", text, []*record.Batch{one(record.Leaf{Vec: def(textVector([]string{"x"}), 1, 1)}, 2)}, "2 values"},
		{"level above", text, []*record.Batch{one(record.Leaf{Vec: def(textVector([]string{"x"}), 1, 2)}, 2)}, "above 1"},
		{"first repetition level", list, []*record.Batch{one(record.Leaf{Vec: &record.Vector{Values: textVector([]string{"x"}).Values, Rep: []uint8{1}, Rows: 1}}, 1)}, "repetition levels"},
		{"row number beyond", schema.NewField("a", schema.Type{Kind: schema.Int, Bits: 8}), []*record.Batch{one(record.Leaf{Seq: &record.Seq{}}, 129)}, "row number 128 is beyond int8"},
		{"leaves", text, []*record.Batch{{Rows: 1, File: "f"}}, "0 leaves"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := NewEncoder(&schema.Schema{Fields: []schema.Field{tt.f}}, EncoderOptions{})
			var err error
			for _, b := range tt.batches {
				if err = e.Append(b); err != nil {
					break
				}
			}
			_, err2 := e.Finish()
			if err2 == nil || err != nil && err2.Error() != err.Error() || !strings.Contains(err2.Error(), tt.want) {
				t.Errorf("Append: %v, Finish: %v; want %q", err, err2, tt.want)
			}
			if g, err := e.Finish(); err != nil || g.Rows != 0 {
				t.Errorf("the encoder is not as new: %v", err)
			}
		})
	}
}

func TestStats(t *testing.T) {
	long := strings.Repeat("x", 70)
	umlauts := strings.Repeat("ü", 33) // 66 bytes: the cut falls on a border
	mixed := "a" + strings.Repeat("ü", 40)
	last := strings.Repeat("\U0010FFFF", 17)
	negZero := math.Copysign(0, -1)
	f64 := func(v float64) string {
		return string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	i64 := func(v int64) string { return string(binary.LittleEndian.AppendUint64(nil, uint64(v))) }
	unsigned := schema.Type{Kind: schema.Int, Bits: 64, Unsigned: true}
	bin := func(values ...string) *record.Vector {
		b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
		for _, v := range values {
			b.AppendString(v)
		}
		return &record.Vector{Values: b.NewArray(), Rows: len(values)}
	}
	binary := schema.Type{Kind: schema.Binary}
	tests := []struct {
		name               string
		typ                schema.Type
		v                  *record.Vector
		min, max           string
		minExact, maxExact bool
		none               bool
	}{
		{"text", schema.StringType, textVector([]string{"b", "a", "ab"}), "a", "b", true, true, false},
		{"empty text", schema.StringType, textVector([]string{""}), "", "", true, true, false},
		{"cut", schema.StringType, textVector([]string{long, "xa"}), "xa", strings.Repeat("x", 63) + "y", true, false, false},
		{"cut below", schema.StringType, textVector([]string{long, "y"}), long[:64], "y", false, true, false},
		{"characters", schema.StringType, textVector([]string{umlauts}), umlauts[:64], umlauts[:62] + "ý", false, false, false},
		{"a character over the border", schema.StringType, textVector([]string{mixed}), mixed[:63], mixed[:61] + "ý", false, false, false},
		{"before surrogates", schema.StringType, textVector([]string{strings.Repeat("\uD7FF", 30)}), strings.Repeat("\uD7FF", 21), strings.Repeat("\uD7FF", 20) + "\uE000", false, false, false},
		{"no greater text", schema.StringType, textVector([]string{last}), last[:64], "", false, false, false},
		{"carry", schema.StringType, textVector([]string{"a" + last}), ("a" + last)[:61], "b", false, false, false},
		{"64 bytes", schema.StringType, textVector([]string{long[:64]}), long[:64], long[:64], true, true, false},
		{"bytes", binary, bin("\xff", "\x00"), "\x00", "\xff", true, true, false},
		{"bytes cut", binary, bin(strings.Repeat("\xff", 63) + "\x01\x02"), strings.Repeat("\xff", 63) + "\x01", strings.Repeat("\xff", 63) + "\x02", false, false, false},
		{"bytes without greater", binary, bin(strings.Repeat("\xff", 65)), strings.Repeat("\xff", 64), "", false, false, false},
		{"signed", schema.Int64Type, int64Vector(3, -1, 7), i64(-1), i64(7), true, true, false},
		{"unsigned", unsigned, int64Vector(3, -1, 7), i64(3), i64(-1), true, true, false},
		{"floats", schema.FloatType, float64Vector(1, math.Inf(-1), 2.5), f64(math.Inf(-1)), f64(2.5), true, true, false},
		{"zeros", schema.FloatType, float64Vector(0, 0), f64(negZero), f64(0), true, true, false},
		{"negative zeros", schema.FloatType, float64Vector(negZero, negZero), f64(negZero), f64(0), true, true, false},
		{"NaN", schema.FloatType, float64Vector(1, math.NaN()), "", "", false, false, true},
		{"no order", schema.Type{Kind: schema.Other, Name: "x"}, int64Vector(1), "", "", false, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, g := encodeLeaf(t, schema.NewField("a", tt.typ), None, one(record.Leaf{Vec: tt.v}, tt.v.Rows))
			for _, s := range []page.Stats{g.Chunks[0].Stats, g.Chunks[0].Index[0].Stats} {
				if tt.none {
					if s.Min != nil || s.Max != nil {
						t.Errorf("got %q, %q; want none", s.Min, s.Max)
					}
					continue
				}
				if string(s.Min) != tt.min || string(s.Max) != tt.max || s.MinExact != tt.minExact || s.MaxExact != tt.maxExact || s.Nulls != 0 || s.Min == nil {
					t.Errorf("got %q (%t) to %q (%t)\nwant %q (%t) to %q (%t)", s.Min, s.MinExact, s.Max, s.MaxExact, tt.min, tt.minExact, tt.max, tt.maxExact)
				}
			}
		})
	}
}

// The statistics of a chunk are those of its pages together, also where some have none.
func TestStatsMerge(t *testing.T) {
	smallPages(t, 1<<20, 2)
	v := float64Vector(1, 2, 5, 6, -3)
	v.Def, v.Rows = []uint8{1, 1, 0, 0, 1, 1, 0, 1}, 8
	_, g := encodeLeaf(t, schema.NewField("a", schema.FloatType), None, one(record.Leaf{Vec: v}, 8))
	c := g.Chunks[0]
	if len(c.Index) != 4 || !c.Index[1].AllNull || c.Stats.Nulls != 3 || c.Index[3].Stats.Nulls != 1 || c.Index[3].FirstRow != 6 {
		t.Fatalf("pages: %+v", c.Index)
	}
	least, most := math.Float64frombits(binary.LittleEndian.Uint64(c.Stats.Min)), math.Float64frombits(binary.LittleEndian.Uint64(c.Stats.Max))
	if least != -3 || most != 6 {
		t.Errorf("%v to %v", least, most)
	}
	_, g = encodeLeaf(t, schema.NewField("a", schema.FloatType), None, one(record.Leaf{Vec: float64Vector(1, 2, math.NaN(), 4, 5, 6)}, 6))
	if s := g.Chunks[0].Stats; s.Min != nil || s.Max != nil || g.Chunks[0].Index[2].Stats.Min == nil {
		t.Errorf("with a NaN in the second page: %+v", s)
	}
}

// What encoding values get, and that a dictionary is not kept where it saves nothing.
func TestChoice(t *testing.T) {
	var few, many, numbers []string
	var small, steps, noise []int64
	r := &rand{1}
	for i := range 5000 {
		few = append(few, texts[i%len(texts)])
		many = append(many, fmt.Sprintf("question number %d", i))
		numbers = append(numbers, fmt.Sprint(r.n(300)))
		small = append(small, int64(r.n(3))*1e12)
		steps = append(steps, int64(i)*17+1e15)
		noise = append(noise, int64(r.next()))
	}
	tests := []struct {
		name string
		typ  schema.Type
		v    *record.Vector
		want int32
	}{
		{"few texts", schema.StringType, textVector(few), encoding.RLEDictionary},
		{"unique texts", schema.StringType, textVector(many), encoding.Plain},
		{"short answers", schema.StringType, textVector(numbers), encoding.RLEDictionary},
		{"few numbers", schema.Int64Type, int64Vector(small...), encoding.RLEDictionary},
		{"steps", schema.Int64Type, int64Vector(steps...), encoding.Delta},
		{"noise", schema.Int64Type, int64Vector(noise...), encoding.Plain},
		{"two texts", schema.StringType, textVector([]string{"a", "b"}), encoding.Plain},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, g := encodeLeaf(t, schema.NewField("a", tt.typ), Zstd, one(record.Leaf{Vec: tt.v}, tt.v.Rows))
			c := g.Chunks[0]
			if lastEncoding(&c) != tt.want || (c.DictBytes > 0) != (tt.want == encoding.RLEDictionary) {
				t.Errorf("encoding %d, dictionary of %d bytes; want %d", lastEncoding(&c), c.DictBytes, tt.want)
			}
			var want leafDump
			want.add(t, tt.v, 1)
			f := reopen(t, s, g)
			got := readAll(t, f, 0, 0, int64(tt.v.Rows), func() int { return 999 })[0]
			if d := got.diff(&want); d != "" {
				t.Error(d)
			}
		})
	}
}

// Types that only vectors tell: fixed size, times, decimals; and arrays that are slices of others.
func TestOtherTypes(t *testing.T) {
	fixed := func(width int, n int) *record.Vector {
		b := make([]byte, width*n)
		for i := range b {
			b[i] = byte(i * 7)
		}
		a := array.NewFixedSizeBinaryData(arrowData(&arrow.FixedSizeBinaryType{ByteWidth: width}, n, b))
		return &record.Vector{Values: a, Rows: n}
	}
	sliced := textVector([]string{"x", "yy", "", "zzz", "ä"})
	sliced.Values, sliced.Rows = array.NewSlice(sliced.Values, 1, 4), 3
	bools := &record.Vector{Values: array.NewSlice(array.NewBooleanData(arrowData(arrow.FixedWidthTypes.Boolean, 16, []byte{0xA5, 0x5A})), 3, 14), Rows: 11}
	tests := []struct {
		typ schema.Type
		v   *record.Vector
	}{
		{schema.Type{Kind: schema.Binary, Layout: schema.Fixed, Size: 5}, fixed(5, 20)},
		{schema.Type{Kind: schema.Float, Bits: 16}, fixed(2, 9)},
		{schema.Type{Kind: schema.Time, Name: "timestamp[us]"}, int64Vector(1, 2, 3, -5)},
		{schema.Type{Kind: schema.Time, Name: "date32[day]"}, int32Vector(1, 2, 3, math.MinInt32, math.MaxInt32)},
		{schema.Type{Kind: schema.Int, Bits: 32}, int32Vector(math.MinInt32, math.MaxInt32, 0, -1, 5, math.MinInt32)},
		{schema.Int64Type, int64Vector(math.MinInt64, math.MaxInt64, 0, -1, 5, math.MinInt64)},
		{schema.StringType, sliced},
		{schema.BoolType, bools},
	}
	for _, tt := range tests {
		t.Run(tt.typ.String(), func(t *testing.T) {
			s, g := encodeLeaf(t, schema.Field{Name: "a", Type: tt.typ}, Snappy, one(record.Leaf{Vec: tt.v}, tt.v.Rows))
			var want leafDump
			want.add(t, tt.v, 0)
			f := reopen(t, s, g)
			got, other := readAll(t, f, 0, 0, int64(tt.v.Rows), func() int { return 3 })[0], readByParquetGo(t, f, 0, 0)
			if d := got.diff(&want); d != "" {
				t.Errorf("read, written: %s", d)
			}
			if d := other.diff(&want); d != "" {
				t.Errorf("parquet-go, written: %s", d)
			}
		})
	}
}

// The bytes do not depend on how the rows were sliced, nor on what the encoder made before, nor on who compressed the pages, nor on which
// of them are huge: those are compressed where they stand, and become a part of the chunk without a copy.
func TestSameBytes(t *testing.T) {
	defer func(n int64) { page.Limits.Huge = n }(page.Limits.Huge)
	smallPages(t, 20000, 2000)
	defer func(n int) { page.Limits.Aside = n }(page.Limits.Aside)
	page.Limits.Aside = 10000
	list := schema.ListOf(schema.StringType)
	s := &schema.Schema{Fields: []schema.Field{schema.NewField("few then many", schema.StringType), schema.NewField("unique", schema.StringType),
		schema.NewField("list", list), schema.NewField("index", schema.Int64Type), schema.NewField("nulls", schema.StringType)}}
	old := page.Limits.DictEntries
	page.Limits.DictEntries = 700
	defer func() { page.Limits.DictEntries = old }()
	r := &rand{3}
	var rows [][]schema.Value
	for i := range 9000 {
		many := schema.TextValue(fmt.Sprintf("%s %d", texts[i%len(texts)], max(0, i-4000)))
		elems := make([]schema.Value, r.n(4))
		for j := range elems {
			elems[j] = many
		}
		row := []schema.Value{many, schema.TextValue(fmt.Sprintf("question %d", i)), schema.ListValue(elems), schema.IntValue(int64(i)), many}
		if r.n(3) == 0 {
			row[4] = schema.NullValue
		}
		rows = append(rows, row)
	}
	e := NewEncoder(s, EncoderOptions{Codec: Zstd})
	var first [][]byte
	for n, slice := range []int{9000, 1, 7, 299, 301, 5000, 9000, 299, 9000, 7} {
		if n == 8 {
			page.Limits.Huge = 10000
		}
		if n == 6 { // from here on others help
			e = NewEncoder(s, EncoderOptions{Codec: Zstd, Spare: make(chan struct{}, 3)})
		}
		for from := 0; from < len(rows); from += slice {
			if err := e.Append(batchOf(t, s, rows[from:min(from+slice, len(rows))])); err != nil {
				t.Fatal(err)
			}
		}
		g, err := e.Finish()
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range g.Chunks {
			pages := bytes.Join(c.Pages.Parts(), nil)
			if n == 0 {
				first = append(first, pages)
			}
			if !bytes.Equal(first[i], pages) {
				t.Errorf("column %s, slices of %d rows: %d bytes, other than the %d before", c.Leaf.Path, slice, len(pages), len(first[i]))
			}
		}
		if c := g.Chunks[0]; c.DictBytes == 0 || lastEncoding(&c) != encoding.Plain {
			t.Errorf("dictionary of %d bytes, encoding %d: the test wants a chunk that gives its dictionary up", c.DictBytes, lastEncoding(&c))
		}
		g.Release()
	}
}

func batchOf(t tester, s *schema.Schema, rows [][]schema.Value) *record.Batch {
	t.Helper()
	b := &record.Batch{Schema: s, Rows: len(rows), File: "f"}
	for i, f := range s.Fields {
		build, err := record.NewBuilder(f, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if err := build.Append(row[i]); err != nil {
				t.Fatal(err)
			}
		}
		for _, v := range build.Vectors() {
			b.Leaves = append(b.Leaves, record.Leaf{Vec: v})
		}
	}
	return b
}

// Memory stays bounded by slices: huge rows make a slice shorter, and leaves stay in step.
func TestHugeRows(t *testing.T) {
	smallPages(t, 100<<10, page.Limits.Rows)
	old := page.Limits.Slice
	page.Limits.Slice = 400 << 10
	defer func() { page.Limits.Slice = old }()
	huge := strings.Repeat("0123456789abcdef", 100<<10/16)
	values := make([]string, 9)
	for i := range values {
		values[i] = fmt.Sprint(i) + huge
	}
	s := &schema.Schema{Fields: []schema.Field{schema.NewField("a", schema.StringType), schema.NewField("b", schema.Int64Type)}}
	e := NewEncoder(s, EncoderOptions{Codec: Zstd})
	b := &record.Batch{Rows: 9, File: "f", Leaves: []record.Leaf{{Vec: textVector(values)}, {Vec: int64Vector(0, 1, 2, 3, 4, 5, 6, 7, 8)}}}
	if err := e.Append(b); err != nil {
		t.Fatal(err)
	}
	g, err := e.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(g.Chunks[0].Index); n != 9 {
		t.Errorf("%d pages of values larger than a page", n)
	}
	f := reopen(t, s, g)
	r, err := f.Reader(0, []int{0, 1}, 0, 9)
	if err != nil {
		t.Fatal(err)
	}
	slices, row := 0, 0
	for ; ; slices++ {
		v, err := r.Next(1000)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, number := v[0].Values.(*array.String), v[1].Values.(*array.Int64)
		for i := range v[0].Rows {
			if got := text.Value(i); got != values[row] || number.Value(i) != int64(row) {
				t.Fatalf("row %d: %s… and %d", row, got[:10], number.Value(i))
			}
			row++
		}
	}
	if row != 9 || slices < 2 || slices > 3 {
		t.Errorf("%d rows in %d slices", row, slices)
	}
}

// lastEncoding is the encoding of the last data page: that of all, but where a dictionary was given up.
func lastEncoding(c *EncodedChunk) int32 { return c.Index[len(c.Index)-1].Encoding }
