package parquetio

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// A tester is what *testing.T, *testing.B and *rapid.T have in common.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// A leafDump is a leaf's entries in a form that compares: levels, and PLAIN bytes of each value.
type leafDump struct {
	def, rep []byte
	values   [][]byte
}

func (d *leafDump) add(t tester, v *record.Vector, maxDef uint8) {
	t.Helper()
	n := v.Entries()
	for e := range n {
		def, rep := maxDef, uint8(0)
		if v.Def != nil {
			def = v.Def[e]
		}
		if v.Rep != nil {
			rep = v.Rep[e]
		}
		d.def, d.rep = append(d.def, def), append(d.rep, rep)
	}
	if v.Values == nil {
		return
	}
	for i := range v.Values.Len() {
		d.values = append(d.values, bytes.Clone(plainValue(v.Values, i)))
	}
}

// plainValue is value i in PLAIN encoding, without length; a boolean is a byte.
func plainValue(a arrow.Array, i int) []byte {
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return []byte{1}
		}
		return []byte{0}
	case *array.String:
		return []byte(a.Value(i))
	case *array.Binary:
		return a.Value(i)
	}
	width := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	return a.Data().Buffers()[1].Bytes()[(a.Data().Offset()+i)*width:][:width]
}

func (d *leafDump) diff(o *leafDump) string {
	switch {
	case !bytes.Equal(d.def, o.def):
		return fmt.Sprintf("definition levels:\n%v\n%v", d.def, o.def)
	case !bytes.Equal(d.rep, o.rep):
		return fmt.Sprintf("repetition levels:\n%v\n%v", d.rep, o.rep)
	case len(d.values) != len(o.values):
		return fmt.Sprintf("%d and %d values", len(d.values), len(o.values))
	}
	for i := range d.values {
		if !bytes.Equal(d.values[i], o.values[i]) {
			return fmt.Sprintf("value %d: %q and %q", i, d.values[i], o.values[i])
		}
	}
	return ""
}

// writeFile writes row groups of schema s to name.
func writeFile(t tester, name string, s *schema.Schema, groups ...*EncodedRowGroup) {
	t.Helper()
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := NewWriter(out, s, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if err := w.Write(g); err != nil {
			t.Fatal(err)
		}
		g.Release()
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// reopen writes row groups to a file of its own and opens it.
func reopen(t testing.TB, s *schema.Schema, groups ...*EncodedRowGroup) *File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f.parquet")
	writeFile(t, name, s, groups...)
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// readAll reads a row group in slices of at most the rows that next returns.
func readAll(t tester, f *File, rg int, first, rows int64, next func() int) []leafDump {
	t.Helper()
	leaves := f.Schema().Leaves()
	numbers := make([]int, len(leaves))
	for i := range numbers {
		numbers[i] = i
	}
	r, err := f.Reader(rg, numbers, first, rows)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	dumps := make([]leafDump, len(leaves))
	for total := int64(0); ; {
		most := next()
		vectors, err := r.Next(most)
		if err == io.EOF {
			if total != rows {
				t.Fatalf("%d rows, want %d", total, rows)
			}
			return dumps
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range vectors {
			if v.Rows != vectors[0].Rows || v.Rows > most || v.Rows < 1 {
				t.Fatalf("leaf %d: %d rows in a slice of %d, the first has %d", i, v.Rows, most, vectors[0].Rows)
			}
			dumps[i].add(t, v, leaves[i].MaxDef)
		}
		total += int64(vectors[0].Rows)
	}
}

// readByParquetGo reads a leaf with parquet-go's values: an independent decoder.
func readByParquetGo(t tester, f *File, rg, leaf int) leafDump {
	t.Helper()
	pq, err := f.parquet()
	if err != nil {
		t.Fatal(err)
	}
	var d leafDump
	pages := pq.RowGroups()[rg].ColumnChunks()[leaf].Pages()
	defer pages.Close()
	for {
		p, err := pages.ReadPage()
		if err == io.EOF {
			return d
		}
		if err != nil {
			t.Fatalf("parquet-go: leaf %d: %v", leaf, err)
		}
		values := make([]parquet.Value, p.NumValues())
		n, err := p.Values().ReadValues(values)
		if int64(n) != p.NumValues() || err != nil && err != io.EOF {
			t.Fatalf("parquet-go: leaf %d: %d values: %v", leaf, n, err)
		}
		for _, v := range values {
			d.def, d.rep = append(d.def, byte(v.DefinitionLevel())), append(d.rep, byte(v.RepetitionLevel()))
			if !v.IsNull() {
				d.values = append(d.values, v.AppendBytes(nil))
			}
		}
		parquet.Release(p)
	}
}

var texts = []string{"", "a", "b", "ä", "日本", "assistant", "user", "tool_agent", "#### 42",
	"How many clips did she sell altogether in April and May, and how many in all of the year before that one?",
	"How many clips did she sell altogether in April and May, and how many in all of the year before that two?"}

func drawType(t *rapid.T, depth int) schema.Type {
	kinds := []schema.Kind{schema.Text, schema.Int, schema.Bool, schema.Float, schema.Binary, schema.Text, schema.Int}
	if depth < 3 {
		kinds = append(kinds, schema.List, schema.Struct, schema.List, schema.Struct)
	}
	typ := schema.Type{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch typ.Kind {
	case schema.Int, schema.Float:
		typ.Bits = rapid.SampledFrom([]int{32, 64}).Draw(t, "bits")
		typ.Unsigned = typ.Kind == schema.Int && rapid.Bool().Draw(t, "unsigned")
	case schema.List:
		e := drawField(t, "element", depth+1)
		typ.Fields = []schema.Field{e}
	case schema.Struct:
		for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
			typ.Fields = append(typ.Fields, drawField(t, fmt.Sprintf("f%d", i), depth+1))
		}
	}
	return typ
}

func drawField(t *rapid.T, name string, depth int) schema.Field {
	return schema.Field{Name: name, Type: drawType(t, depth), Nullable: rapid.Bool().Draw(t, "nullable")}
}

// A valueShape says what the values of a run of rows are like, so that every encoding comes up.
type valueShape struct{ nulls, distinct int }

func drawValue(r *rand, f *schema.Field, s valueShape) schema.Value {
	if f.Nullable && r.n(100) < s.nulls {
		return schema.NullValue
	}
	switch f.Type.Kind {
	case schema.Struct:
		kids := make([]schema.Value, len(f.Type.Fields))
		for i := range kids {
			kids[i] = drawValue(r, &f.Type.Fields[i], s)
		}
		return schema.StructValue(&f.Type, kids)
	case schema.List:
		elems := make([]schema.Value, []int{0, 1, 1, 2, 3, 7}[r.n(6)])
		for i := range elems {
			elems[i] = drawValue(r, &f.Type.Fields[0], s)
		}
		return schema.ListValue(elems)
	case schema.Text, schema.Binary:
		v := texts[r.n(len(texts))]
		if s.distinct > len(texts) {
			v = fmt.Sprintf("%s%d", v, r.n(s.distinct))
		}
		if f.Type.Kind == schema.Binary {
			return schema.BinaryValue(v)
		}
		return schema.TextValue(v)
	case schema.Bool:
		return schema.BoolValue(r.n(2) == 0)
	case schema.Float:
		return schema.FloatValue([]float64{0, math.Copysign(0, -1), 1.5, math.Inf(-1), math.NaN(), float64(r.n(s.distinct))}[r.n(6)])
	}
	v := int64(r.n(s.distinct))
	if s.distinct > 2000 {
		v = int64(r.next()) // all bits
	}
	if f.Type.Bits == 32 {
		v = int64(int32(v))
	}
	return schema.IntValue(v)
}

// rand is a small generator: rapid's own draws are too slow for thousands of values.
type rand struct{ state uint64 }

func (r *rand) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rand) n(n int) int { return int(r.next() % uint64(n)) }

// smallPages makes pages small, so that few rows fill several.
func smallPages(t testing.TB, size, rows int) {
	oldSize, oldRows := page.Limits.Target, page.Limits.Rows
	page.Limits.Target, page.Limits.Rows = size, rows
	t.Cleanup(func() { page.Limits.Target, page.Limits.Rows = oldSize, oldRows })
}

func TestRoundTrip(t *testing.T) {
	smallPages(t, 3000, 200)
	oldEntries := page.Limits.DictEntries
	page.Limits.DictEntries = 300 // so that some are given up half-way
	defer func() { page.Limits.DictEntries = oldEntries }()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := &schema.Schema{}
		for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
			s.Fields = append(s.Fields, drawField(t, fmt.Sprintf("c%d", i), 0))
		}
		e := NewEncoder(s, EncoderOptions{Codec: rapid.SampledFrom([]Codec{None, Snappy, Zstd}).Draw(t, "codec")})
		r := &rand{rapid.Uint64().Draw(t, "seed")}
		for range rapid.IntRange(1, 2).Draw(t, "row groups") {
			want := make([]leafDump, len(s.Leaves()))
			first := int64(0)
			for range rapid.IntRange(1, 4).Draw(t, "slices") {
				b := drawBatch(t, s, r, first)
				for i, l := range s.Leaves() {
					want[i].add(t, b.Leaves[i].Vec, l.MaxDef)
				}
				if err := e.Append(b); err != nil {
					t.Fatal(err)
				}
				first += int64(b.Rows)
			}
			g, err := e.Finish()
			if err != nil {
				t.Fatal(err)
			}
			compare(t, dir, s, g, want, r)
		}
	})
}

func drawBatch(t *rapid.T, s *schema.Schema, r *rand, first int64) *record.Batch {
	rows := rapid.IntRange(1, 700).Draw(t, "rows")
	shape := valueShape{rapid.SampledFrom([]int{0, 0, 20, 100}).Draw(t, "nulls"),
		rapid.SampledFrom([]int{1, 3, 50, 2000, 100000}).Draw(t, "distinct")}
	b := &record.Batch{Schema: s, Rows: rows, File: "f", SplitRow: first}
	for i := range s.Fields {
		build, err := record.NewBuilder(s.Fields[i], 0)
		if err != nil {
			t.Fatal(err)
		}
		for range rows {
			if err := build.Append(drawValue(r, &s.Fields[i], shape)); err != nil {
				t.Fatal(err)
			}
		}
		for _, v := range build.Vectors() {
			b.Leaves = append(b.Leaves, record.Leaf{Vec: v})
		}
	}
	return b
}

// compare writes a row group and reads it back: by our Reader, whole and in part, and by parquet-go.
func compare(t *rapid.T, dir string, s *schema.Schema, g *EncodedRowGroup, want []leafDump, r *rand) {
	name, rows := filepath.Join(dir, "f.parquet"), g.Rows
	writeFile(t, name, s, g)
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := readAll(t, f, 0, 0, rows, func() int { return 1 + r.n(500) })
	first := int64(r.n(int(rows)))
	some := int64(r.n(int(rows-first))) + 1
	part := readAll(t, f, 0, first, some, func() int { return 1 + r.n(300) })
	for i, l := range s.Leaves() {
		if d := got[i].diff(&want[i]); d != "" {
			t.Fatalf("column %s: read, written: %s", l.Path, d)
		}
		if other := readByParquetGo(t, f, 0, i); other.diff(&want[i]) != "" {
			t.Fatalf("column %s: parquet-go, written: %s", l.Path, other.diff(&want[i]))
		}
		cut := want[i].rows(int(first), int(first+some), l.MaxDef)
		if d := part[i].diff(&cut); d != "" {
			t.Fatalf("column %s: rows [%d, %d): read, written: %s", l.Path, first, first+some, d)
		}
	}
}

// rows returns the entries of rows [from, to).
func (d *leafDump) rows(from, to int, maxDef uint8) (out leafDump) {
	row, value := -1, 0
	for e := range d.def {
		if d.rep[e] == 0 {
			row++
		}
		in := row >= from && row < to
		if in {
			out.def, out.rep = append(out.def, d.def[e]), append(out.rep, d.rep[e])
		}
		if d.def[e] == maxDef {
			if in {
				out.values = append(out.values, d.values[value])
			}
			value++
		}
	}
	return out
}
