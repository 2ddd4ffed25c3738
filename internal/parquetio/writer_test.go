package parquetio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q, want %q in it", err, p)
		}
	}
}

// sameLeaf checks that a leaf has the same bytes in two files, and that parquet-go reads the same values.
func sameLeaf(t *testing.T, a, b *File, from, to, rgA, rgB int) {
	t.Helper()
	if !bytes.Equal(a.pages(t, rgA, from), b.pages(t, rgB, to)) {
		t.Errorf("%s: row group %d: %s: the pages differ", a.Name(), rgA, a.leaves[from].Path)
	}
	if !readable(a.chunk(rgA, from)) {
		return
	}
	want, got := readByParquetGo(t, a, rgA, from), readByParquetGo(t, b, rgB, to)
	if d := got.diff(&want); d != "" {
		t.Errorf("%s: row group %d: %s: %s", a.Name(), rgA, a.leaves[from].Path, d)
	}
}

// readable leaves out INT96, whose values parquet-go compares in another form.
func readable(c *Chunk) bool { return c.stored != encoding.Int96 }

// Every file, copied whole: the same pages, the same schema elements, the same values.
func TestCopyAll(t *testing.T) {
	for _, name := range samples(t) {
		in := openFile(t, name)
		out := fileEdit{}.apply(t, in)
		if a, b := rawFields(t, in.footer), rawFields(t, out.footer); !bytes.Equal(a[2], b[2]) || !bytes.Equal(a[1], b[1]) {
			t.Errorf("%s: version or schema elements changed", name)
		}
		for i, f := range in.Schema().Fields {
			if got := out.Schema().Fields[i].String(); got != f.String() {
				t.Errorf("%s: %s became %s", name, f, got)
			}
		}
		if in.NumRows() == 0 {
			if len(out.groups) != 0 {
				t.Errorf("%s: a row group without rows was written", name)
			}
			continue
		}
		for rg := range in.groups {
			for leaf := range in.leaves {
				sameLeaf(t, in, out, leaf, leaf, rg, rg)
				compareMeta(t, in, out, in.chunk(rg, leaf), out.chunk(rg, leaf))
			}
		}
	}
}

// compareMeta checks that of a ColumnMetaData only offsets changed, and each by as much as the chunk moved.
func compareMeta(t *testing.T, in, out *File, a, b *Chunk) {
	t.Helper()
	x, y := rawFields(t, a.meta.Of(in.footer)), rawFields(t, b.meta.Of(out.footer))
	for id := range x {
		if !slices.Contains([]int16{9, 10, 11, 14, 15}, id) && !bytes.Equal(x[id], y[id]) {
			t.Errorf("%s: column %s: field %d changed", in.Name(), in.leaves[a.leaf].Path, id)
		}
	}
	if len(x) != len(y) && a.bloom.length >= 0 {
		t.Errorf("%s: column %s: %d fields became %d", in.Name(), in.leaves[a.leaf].Path, len(x), len(y))
	}
	if b.dataPage-b.start() != a.dataPage-a.start() || b.dictPage > 0 != (a.dictPage > 0) {
		t.Errorf("%s: column %s: pages stand otherwise in their chunk", in.Name(), in.leaves[a.leaf].Path)
	}
	if a.columnIndex.length != b.columnIndex.length || a.offsetIndex.length > 0 != (b.offsetIndex.length > 0) {
		t.Errorf("%s: column %s: page index %+v %+v became %+v %+v", in.Name(), in.leaves[a.leaf].Path, a.columnIndex, a.offsetIndex, b.columnIndex,
			b.offsetIndex)
	}
}

// The same files with a column in front, in the middle and at the end, and without one.
func TestAddAndDrop(t *testing.T) {
	for _, name := range samples(t) {
		in := openFile(t, name)
		n := len(in.Schema().Fields)
		for _, at := range []int{0, n / 2, n} {
			out := withColumn(in, at, "agent_name", schema.TextValue("tool_agent")).apply(t, in)
			added := out.leafAt(t, "agent_name")
			for rg, g := range out.groups {
				d := readByParquetGo(t, out, rg, added)
				if len(d.values) != int(g.Rows) || string(d.values[0]) != "tool_agent" {
					t.Errorf("%s: row group %d: %d values of %d rows", name, rg, len(d.values), g.Rows)
				}
				for leaf, l := range in.leaves {
					sameLeaf(t, in, out, leaf, out.leafAt(t, l.Path), rg, rg)
				}
			}
		}
		if n < 2 {
			continue
		}
		s := in.Schema().Clone()
		s.Fields = slices.Delete(s.Fields, 0, 1)
		out := fileEdit{schema: s}.apply(t, in)
		for rg := range out.groups {
			for leaf, l := range out.leaves {
				sameLeaf(t, in, out, in.leafAt(t, l.Path), leaf, rg, rg)
			}
		}
	}
}

// A column moved into a struct that is required keeps its levels, so its pages move as they are.
func TestTransplant(t *testing.T) {
	in := openFile(t, sample("pyarrow-page-index"))
	text, _ := in.Schema().Column("text")
	id, _ := in.Schema().Column("id")
	copied := text
	copied.Name = "question"
	s := &schema.Schema{Fields: []schema.Field{text, {Name: "extra", Type: schema.StructOf(copied, id)}}}
	e := fileEdit{schema: s, from: map[schema.Path]schema.Path{"extra.question": "text", "extra.id": "id"}}
	out := e.apply(t, in)
	for rg := range out.groups {
		sameLeaf(t, in, out, in.leafAt(t, "text"), out.leafAt(t, "extra.question"), rg, rg)
		sameLeaf(t, in, out, in.leafAt(t, "text"), out.leafAt(t, "text"), rg, rg)
		sameLeaf(t, in, out, in.leafAt(t, "id"), out.leafAt(t, "extra.id"), rg, rg)
	}
	if got := out.Schema().Fields[1].String(); got != "extra: struct<question: string, id: int64> not null" {
		t.Error(got)
	}
}

// Every entry of a moved offset index is where a page header stands, as it was in the source.
func TestOffsetIndexNamesThePages(t *testing.T) {
	in := openFile(t, sample("pyarrow-page-index"))
	out := withColumn(in, 1, "agent_name", schema.TextValue("tool_agent")).apply(t, in)
	moved := 0
	for rg := range in.groups {
		for leaf, l := range in.leaves {
			a, b := in.chunk(rg, leaf), out.chunk(rg, out.leafAt(t, l.Path))
			was, is := pageOffsets(t, in, a), pageOffsets(t, out, b)
			for i := range was {
				if was[i]-a.start() != is[i]-b.start() {
					t.Errorf("row group %d: %s: page %d at %d of its chunk, was at %d", rg, l.Path, i, is[i]-b.start(), was[i]-a.start())
				}
				moved++
			}
		}
		c := out.chunk(rg, out.leafAt(t, "agent_name"))
		if at := pageOffsets(t, out, c); len(at) != 1 || at[0] != c.dataPage {
			t.Errorf("row group %d: agent_name: pages at %v, data begins at %d", rg, at, c.dataPage)
		}
	}
	if moved < 3*len(in.groups)*len(in.leaves) {
		t.Errorf("only %d pages: the sample has too few to tell", moved)
	}
}

func pageOffsets(t *testing.T, f *File, c *Chunk) (out []int64) {
	t.Helper()
	b := make([]byte, c.offsetIndex.length)
	if err := f.readAt(b, c.offsetIndex.offset); err != nil {
		t.Fatal(err)
	}
	mapList(t, rawFields(t, b)[1], func(_ int, page []byte) []byte {
		s := thrift.Scanner{Buf: rawFields(t, page)[1]}
		out = append(out, s.Int())
		return page
	})
	return out
}

// The column index of pages made here, and how their bounds are said to run.
func TestBoundaryOrder(t *testing.T) {
	text := &physicalLeaf{Physical: encoding.ByteArray, Order: sortUnsigned}
	number := &physicalLeaf{Physical: encoding.Int32, Order: sortSigned}
	unsigned := &physicalLeaf{Physical: encoding.Int32, Order: sortUnsigned}
	bounded := func(lo, hi string) page.Info { return page.Info{Stats: page.Stats{Min: []byte(lo), Max: []byte(hi)}} }
	empty := page.Info{AllNull: true}
	minusOne, zero, one := "\xff\xff\xff\xff", "\x00\x00\x00\x00", "\x01\x00\x00\x00"
	for _, c := range []struct {
		name  string
		leaf  *physicalLeaf
		pages []page.Info
		want  int64
	}{
		{"one page", text, []page.Info{bounded("a", "b")}, 1},
		{"ascending", text, []page.Info{bounded("a", "b"), bounded("b", "c"), bounded("b", "d")}, 1},
		{"descending", text, []page.Info{bounded("c", "d"), bounded("b", "d"), bounded("a", "a")}, 2},
		{"neither", text, []page.Info{bounded("a", "b"), bounded("c", "d"), bounded("b", "e")}, 0},
		{"minima up, maxima down", text, []page.Info{bounded("a", "z"), bounded("b", "y")}, 0},
		{"nulls between", text, []page.Info{bounded("a", "b"), empty, bounded("c", "d")}, 1},
		{"nulls only", text, []page.Info{empty, empty}, 1},
		{"bytes above 127", text, []page.Info{bounded("a", "b"), bounded("\xe4", "\xff")}, 1},
		{"signed", number, []page.Info{bounded(minusOne, minusOne), bounded(zero, one)}, 1},
		{"unsigned", unsigned, []page.Info{bounded(minusOne, minusOne), bounded(zero, one)}, 2},
		{"bounds of another width", number, []page.Info{bounded("a", "b")}, 0},
		{"decimal in bytes", &physicalLeaf{Physical: encoding.FixedLenByteArray, Length: 1, Order: sortSigned}, []page.Info{bounded("a", "b"), bounded("c", "d")}, 0},
	} {
		if got := boundaryOrder(c.pages, c.leaf); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	unknown := &EncodedChunk{Encoded: page.Encoded{Index: []page.Info{bounded("a", "b"), {}}}}
	if columnIndex(unknown, text) != nil {
		t.Error("a column index without the bounds of a page that has values")
	}
	if columnIndex(&EncodedChunk{Encoded: page.Encoded{Index: []page.Info{bounded("a", "b")}}}, &physicalLeaf{Physical: encoding.Int96}) != nil {
		t.Error("a column index for values without an order")
	}
}

// A field id names one column: where a column is copied, the copy goes without.
func TestFieldIDsStayUnique(t *testing.T) {
	name := refooter(t, sample("pyarrow-v1-zstd"), func(footer []byte) []byte {
		elements := mapList(t, rawFields(t, footer)[2], func(i int, e []byte) []byte {
			return rewrite(t, e, thrift.Edit{ID: 9, Type: thrift.I32, Num: int64(i)})
		})
		return rewrite(t, footer, thrift.Edit{ID: 2, Type: thrift.List, Raw: elements})
	})
	in := openFile(t, name)
	s := in.Schema().Clone()
	text, _ := s.Column("text")
	text.Name = "question"
	s.Fields = append(s.Fields, text)
	out := fileEdit{schema: s, from: map[schema.Path]schema.Path{"question": "text"}}.apply(t, in)
	seen := map[int32]bool{}
	for _, e := range out.meta.elements {
		if e.fieldID >= 0 && seen[e.fieldID] {
			t.Errorf("field id %d is there twice, again in %s", e.fieldID, e.name)
		}
		seen[e.fieldID] = true
	}
	if len(seen) != len(in.meta.elements)+1 || out.meta.elements[len(out.meta.elements)-1].fieldID != -1 {
		t.Errorf("%d field ids of %d elements, the copy has %d", len(seen), len(in.meta.elements), out.meta.elements[len(out.meta.elements)-1].fieldID)
	}
}

// Row groups of a file can be cut into shards, and their bookkeeping follows.
func TestShardAlongRowGroups(t *testing.T) {
	in := openFile(t, sample("pyarrow-many-groups"))
	out := fileEdit{groups: []int{3, 4, 7}}.apply(t, in)
	for i, rg := range []int{3, 4, 7} {
		for leaf := range in.leaves {
			sameLeaf(t, in, out, leaf, leaf, rg, i)
		}
		g := rawFields(t, out.groups[i].raw.Of(out.footer))
		if want := thrift.AppendInt(nil, int64(i)); !bytes.Equal(g[7], want) {
			t.Errorf("row group %d: ordinal %x", i, g[7])
		}
		if want := thrift.AppendInt(nil, out.chunk(i, 0).start()); !bytes.Equal(g[5], want) {
			t.Errorf("row group %d: file_offset %x, want %x", i, g[5], want)
		}
	}
}

func TestSortingColumnsFollow(t *testing.T) {
	in := openFile(t, sample("pyarrow-sorted")) // by leaves 5 and 0
	sorting := func(f *File) []int64 {
		var out []int64
		list := rawFields(t, f.groups[0].raw.Of(f.footer))[4]
		if list != nil {
			mapList(t, list, func(_ int, e []byte) []byte { out = append(out, sortingColumn(e)); return e })
		}
		return out
	}
	first, second := in.leaves[5].Path, in.leaves[0].Path
	if got := sorting(in); !slices.Equal(got, []int64{5, 0}) {
		t.Fatalf("the sample is sorted by %v", got)
	}
	out := withColumn(in, 0, "agent_name", schema.TextValue("x")).apply(t, in)
	if got, want := sorting(out), []int64{int64(out.leafAt(t, first)), int64(out.leafAt(t, second))}; !slices.Equal(got, want) {
		t.Errorf("with a column in front: %v, want %v", got, want)
	}
	for _, c := range []struct {
		drop schema.Path
		want int
	}{{second, 1}, {first, 0}} {
		s := in.Schema().Clone()
		s.Fields = slices.DeleteFunc(s.Fields, func(f schema.Field) bool { return f.Name == c.drop.Top() })
		if got := sorting(fileEdit{schema: s}.apply(t, in)); len(got) != c.want {
			t.Errorf("without %s: sorted by %v, want %d columns", c.drop, got, c.want)
		}
	}
}

// Bloom filters move with their columns, with and without a length in the footer, and still answer.
func TestBloomFiltersFollow(t *testing.T) {
	noLength := refooter(t, sample("pyarrow-bloom"), func(footer []byte) []byte {
		return mapChunks(t, footer, func(meta []byte) []byte { return rewrite(t, meta, thrift.Edit{ID: 15}) })
	})
	for _, name := range []string{sample("pyarrow-bloom"), noLength} {
		in := openFile(t, name)
		out := withColumn(in, 0, "agent_name", schema.TextValue("x")).apply(t, in)
		pq, err := out.parquet()
		if err != nil {
			t.Fatal(err)
		}
		leaf := out.leafAt(t, "text")
		filter := pq.RowGroups()[0].ColumnChunks()[leaf].BloomFilter()
		if filter == nil || out.chunk(0, leaf).bloom.length < 32 {
			t.Fatalf("%s: the filter is gone: %+v", name, out.chunk(0, leaf).bloom)
		}
		absent := 0
		for i := range 200 {
			in, err := filter.Check(parquet.ValueOf("no such text " + strings.Repeat("q", i)))
			if err != nil {
				t.Fatal(err)
			}
			if !in {
				absent++
			}
		}
		d := readByParquetGo(t, out, 0, leaf)
		for _, v := range d.values {
			if in, err := filter.Check(parquet.ValueOf(string(v))); err != nil || !in {
				t.Fatalf("%s: the filter does not know %q: %v", name, v, err)
			}
		}
		if absent < 100 {
			t.Errorf("%s: the filter says yes to nearly everything (%d of 200 absent)", name, absent)
		}
	}
	garbled := refooter(t, sample("pyarrow-bloom"), func(footer []byte) []byte {
		return mapChunks(t, footer, func(meta []byte) []byte {
			return rewrite(t, meta, thrift.Edit{ID: 14, Type: thrift.I64, Num: 4}, thrift.Edit{ID: 15}) // no filter stands there
		})
	})
	in := openFile(t, garbled)
	if out := (fileEdit{}).apply(t, in); out.chunk(0, 0).bloom.length != 0 {
		t.Error("a filter whose end is not known was kept")
	}
}

// Copies work by the kernel, and where it does not: into a pipe, and into a file open for appending.
func TestCopy(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big")
	want := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	if err := os.WriteFile(big, want, 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := os.Open(big)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	src := &File{name: "big", f: h, size: int64(len(want))}
	appended, err := os.OpenFile(filepath.Join(t.TempDir(), "out"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer appended.Close()
	o := newOutput(appended)
	copyTwice(t, o, src)
	got, err := os.ReadFile(appended.Name())
	if err != nil || !bytes.Equal(got, append([]byte("head"), want[16:]...)) {
		t.Errorf("appending: %d bytes, %v", len(got), err)
	}

	plain, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	copyTwice(t, newOutput(plain), src)
	got, err = os.ReadFile(plain.Name())
	if err != nil || !bytes.Equal(got, append([]byte("head"), want[16:]...)) {
		t.Errorf("a file: %d bytes, %v", len(got), err)
	}

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	piped := make(chan []byte)
	go func() { b, _ := io.ReadAll(r); piped <- b }()
	copyTwice(t, newOutput(w), src)
	w.Close()
	if got := <-piped; !bytes.Equal(got, append([]byte("head"), want[16:]...)) {
		t.Errorf("pipe: %d bytes", len(got))
	}
	err = newOutput(appended).copy(src, section{int64(len(want)) - 10, 100})
	if !errors.Is(err, ErrFormat) {
		t.Errorf("beyond the end: %v", err)
	}
}

func copyTwice(t *testing.T, o *output, src *File) {
	t.Helper()
	half := src.size / 2
	if err := errors.Join(o.write([]byte("head")), o.copy(src, section{16, half - 16}), o.copy(src, section{half, 100}),
		o.copy(src, section{half + 100, src.size - half - 100}), o.flush()); err != nil {
		t.Fatal(err)
	}
	if o.off != 4+src.size-16 {
		t.Errorf("offset %d", o.off)
	}
}

func TestWriterRefuses(t *testing.T) {
	in := openFile(t, sample("pyarrow-v1-zstd"))
	out, err := os.Create(filepath.Join(t.TempDir(), "out.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	one := &schema.Schema{Fields: []schema.Field{schema.NewField("a", schema.StringType)}}
	raw := func(path schema.Path) *EncodedRowGroup {
		c := in.chunk(0, in.leafAt(t, path))
		return &EncodedRowGroup{Rows: c.rows(), Chunks: []EncodedChunk{{Raw: c}}}
	}
	short := raw("text")
	short.Rows--
	for _, c := range []struct {
		group *EncodedRowGroup
		want  string
	}{
		{&EncodedRowGroup{Rows: 1}, "0 column chunks for 1 columns"},
		{raw("id"), "stored as INT64"},
		{raw("prompt[].role"), "levels 4/1 in a column with 1/0"},
		{short, "row group of 39"},
		{&EncodedRowGroup{Rows: 2, Chunks: []EncodedChunk{{Encoded: page.Encoded{Values: 1}}}}, "1 values for 2 rows"},
	} {
		w, err := NewWriter(out, one, WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, w.Write(c.group), out.Name(), c.want)
		if _, err := w.Close(); err == nil {
			t.Errorf("%s: Close after an error gave none", c.want)
		}
	}
	for _, f := range []schema.Field{
		schema.NewField("s", schema.StructOf()),
		schema.NewField("o", schema.Type{Kind: schema.Other, Name: "geometry"}),
		schema.NewField("i", schema.Type{Kind: schema.Int, Bits: 24}),
	} {
		_, err := NewWriter(out, &schema.Schema{Fields: []schema.Field{f}}, WriterOptions{})
		wantError(t, err, "column "+f.Name)
	}
}

// The offset index of a chunk that names pages elsewhere is damaged, and copying it on would mislead readers.
func TestDamagedOffsetIndex(t *testing.T) {
	whole := openFile(t, sample("pyarrow-page-index"))
	b, err := os.ReadFile(whole.Name())
	if err != nil {
		t.Fatal(err)
	}
	at := whole.chunk(0, 1).offsetIndex
	for i := range b[at.offset : at.offset+at.length] {
		b[at.offset+int64(i)] |= 0x40
	}
	garbled := filepath.Join(t.TempDir(), "garbled.parquet")
	if err := os.WriteFile(garbled, b, 0o644); err != nil {
		t.Fatal(err)
	}
	other := whole.chunk(0, 2).offsetIndex // of the column after
	swapped := refooter(t, whole.Name(), func(footer []byte) []byte {
		groups := mapList(t, rawFields(t, footer)[4], func(_ int, g []byte) []byte {
			columns := mapList(t, rawFields(t, g)[1], func(i int, c []byte) []byte {
				if i != 1 {
					return c
				}
				return rewrite(t, c, thrift.Edit{ID: 4, Type: thrift.I64, Num: other.offset}, thrift.Edit{ID: 5, Type: thrift.I32, Num: other.length})
			})
			return rewrite(t, g, thrift.Edit{ID: 1, Type: thrift.List, Raw: columns})
		})
		return rewrite(t, footer, thrift.Edit{ID: 4, Type: thrift.List, Raw: groups})
	})
	for _, name := range []string{garbled, swapped} {
		w, err := copyFirst(t, openFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Close()
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%v, want a format error", err)
		}
		wantError(t, err, name, "offset index")
	}
}

// A data page offset that does not follow the dictionary is carried over by nobody: some readers start there, others do not.
func TestDamagedDataPageOffset(t *testing.T) {
	whole, i := openFile(t, sample("pyarrow-v1-zstd")), -1
	name := refooter(t, whole.Name(), func(footer []byte) []byte {
		return mapChunks(t, footer, func(meta []byte) []byte {
			i++
			c := whole.chunk(i/len(whole.leaves), i%len(whole.leaves))
			if c.dictPage == 0 {
				return meta
			}
			return rewrite(t, meta, thrift.Edit{ID: 9, Type: thrift.I64, Num: c.dataPage + 1})
		})
	})
	in := openFile(t, name)
	_, err := copyFirst(t, in)
	wantError(t, err, in.Name(), "row group 0", "data pages begin at byte", "the dictionary page ends at")
}

// copyFirst writes the first row group of f, copied, to a new file. The error is that of the Write; the Writer is not closed.
func copyFirst(t *testing.T, f *File) (*Writer, error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	w, err := NewWriter(out, f.Schema(), WriterOptions{Base: f})
	if err != nil {
		t.Fatal(err)
	}
	g := &EncodedRowGroup{Rows: f.groups[0].Rows, Chunks: make([]EncodedChunk, len(f.leaves))}
	for i := range g.Chunks {
		g.Chunks[i].Raw = f.chunk(0, i)
	}
	return w, w.Write(g)
}

// What is written does not depend on whether the footers of the inputs were kept whole.
func TestShedFooters(t *testing.T) {
	kept := keptGroups
	defer func() { keptGroups = kept }()
	shed := 0
	for _, name := range samples(t) {
		var whole []byte
		var hash [16]byte
		for n, limit := range []int{1 << 30, 0} {
			keptGroups = limit
			in := openFile(t, name)
			if in.shed {
				shed++
			}
			out := withColumn(in, 1, "added", schema.TextValue("x")).apply(t, in)
			b, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				whole, hash = b, in.FooterHash()
			}
			if !bytes.Equal(b, whole) || in.FooterHash() != hash {
				t.Errorf("%s: without the row groups of its footer: other bytes, or another hash", name)
			}
		}
	}
	if shed < 30 {
		t.Errorf("%d footers were shed", shed)
	}
}
