package parquetio

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// samples returns the Parquet files of testdata/parquet: by other writers than ours (make.py).
func samples(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("../../testdata/parquet/*.parquet")
	if err != nil || len(names) < 30 {
		t.Fatalf("testdata/parquet: %d files, %v: run its make.py", len(names), err)
	}
	return names
}

func sample(name string) string { return filepath.Join("../../testdata/parquet", name+".parquet") }

func openFile(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A fileEdit is what a file is rewritten to: the columns of schema, each leaf copied from the leaf of its path, or of the path
// that from says, or where there is none made of a constant.
type fileEdit struct {
	schema *schema.Schema
	from   map[schema.Path]schema.Path
	consts map[schema.Path]schema.Value
	codec  Codec
	hf     HFPolicy
	groups []int // row groups to keep; nil: all
}

// apply writes f as e has it and opens what was written.
func (e fileEdit) apply(t testing.TB, f *File) *File {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), filepath.Base(f.Name())))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if e.schema == nil {
		e.schema = f.Schema()
	}
	w, err := NewWriter(out, e.schema, WriterOptions{Base: f, CreatedBy: "rlprep version 0.1.0 (build test)", HF: e.hf})
	if err != nil {
		t.Fatal(err)
	}
	enc := NewEncoder(e.schema, EncoderOptions{Codec: e.codec})
	var rows int64
	for rg := range f.groups {
		if e.groups != nil && !slices.Contains(e.groups, rg) {
			continue
		}
		rows += f.groups[rg].Rows
		writeRowGroup(t, w, enc, e.batch(t, f, rg))
	}
	written, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	o := openFile(t, out.Name())
	if written.Bytes != o.Size() || written.Rows != rows || o.NumRows() != rows {
		t.Fatalf("%s: Close says %+v, the file has %d bytes and %d rows of %d", f.Name(), written, o.Size(), o.NumRows(), rows)
	}
	if dir := os.Getenv("RLPREP_KEEP"); dir != "" { // to be read by other tools
		keep(t, out.Name(), filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "_")+"-"+filepath.Base(f.Name())))
	}
	return o
}

func keep(t testing.TB, from, to string) {
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (e fileEdit) batch(t testing.TB, f *File, rg int) *record.Batch {
	t.Helper()
	b := &record.Batch{Schema: e.schema, Rows: int(f.groups[rg].Rows), File: f.Name(), RowGroup: rg}
	for _, l := range e.schema.Leaves() {
		leaf := record.Leaf{Leaf: l}
		from, ok := e.from[l.Path]
		if !ok {
			from = l.Path
		}
		at := slices.IndexFunc(f.leaves, func(x schema.Leaf) bool { return x.Path == from })
		c, isConst := e.consts[l.Path]
		switch {
		case isConst:
			leaf.Const = &c
		case at < 0:
			t.Fatalf("%s: no leaf %s", f.Name(), from)
		default:
			leaf.Raw = f.Raw(rg, at)
			if !CanMove(leaf.Raw, l, 0, true) {
				t.Fatalf("%s: leaf %s cannot be moved", f.Name(), from)
			}
		}
		b.Leaves = append(b.Leaves, leaf)
	}
	return b
}

// withColumn returns the schema of f with a constant string column at a position.
func withColumn(f *File, at int, name string, v schema.Value) fileEdit {
	s := f.Schema().Clone()
	s.Fields = slices.Insert(s.Fields, at, schema.NewField(name, schema.StringType))
	return fileEdit{schema: s, consts: map[schema.Path]schema.Value{schema.MakePath(name): v}}
}

// pages returns the bytes of a chunk.
func (f *File) pages(t testing.TB, rg, leaf int) []byte {
	t.Helper()
	c := f.chunk(rg, leaf)
	b := make([]byte, c.compressed)
	if err := f.readAt(b, c.start()); err != nil {
		t.Fatal(err)
	}
	return b
}

// leafAt returns the number of the leaf of that path.
func (f *File) leafAt(t testing.TB, p schema.Path) int {
	t.Helper()
	i := slices.IndexFunc(f.leaves, func(l schema.Leaf) bool { return l.Path == p })
	if i < 0 {
		t.Fatalf("%s: no leaf %s", f.Name(), p)
	}
	return i
}

// rawFields returns the fields of a struct as they are encoded, by number.
func rawFields(t testing.TB, b []byte) map[int16][]byte {
	t.Helper()
	out := map[int16][]byte{}
	s := thrift.Scanner{Buf: b}
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		start := s.At
		s.Skip(typ, 0)
		out[id] = b[start:s.At]
	}
	if s.Err != nil {
		t.Fatal(s.Err)
	}
	return out
}

// refooter writes a copy of the file with another footer, which change makes of the one that it has.
func refooter(t testing.TB, name string, change func(footer []byte) []byte) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := openFile(t, name)
	body := b[:len(b)-trailer-len(f.footer)]
	footer := change(slices.Clone(f.footer))
	n := uint32(len(footer))
	b = append(append(slices.Clone(body), footer...), byte(n), byte(n>>8), byte(n>>16), byte(n>>24), 'P', 'A', 'R', '1')
	out := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := os.WriteFile(out, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// mapList returns list<struct> src with each element changed.
func mapList(t testing.TB, src []byte, change func(i int, elem []byte) []byte) []byte {
	t.Helper()
	s := thrift.Scanner{Buf: src}
	n := s.ListOf(thrift.Struct)
	out := thrift.AppendList(nil, thrift.Struct, n)
	for i := range n {
		out = append(out, change(i, s.StructSpan().Of(src))...)
	}
	if s.Err != nil {
		t.Fatal(s.Err)
	}
	return out
}

func rewrite(t testing.TB, src []byte, edits ...thrift.Edit) []byte {
	t.Helper()
	b, err := thrift.Rewrite(nil, src, edits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// mapChunks returns a footer with the ColumnMetaData of each chunk changed.
func mapChunks(t testing.TB, footer []byte, change func(meta []byte) []byte) []byte {
	t.Helper()
	groups := mapList(t, rawFields(t, footer)[4], func(_ int, g []byte) []byte {
		columns := mapList(t, rawFields(t, g)[1], func(_ int, c []byte) []byte {
			return rewrite(t, c, thrift.Edit{ID: 3, Type: thrift.Struct, Raw: change(rawFields(t, c)[3])})
		})
		return rewrite(t, g, thrift.Edit{ID: 1, Type: thrift.List, Raw: columns})
	})
	return rewrite(t, footer, thrift.Edit{ID: 4, Type: thrift.List, Raw: groups})
}

// writeRowGroup writes the rows of b as a row group.
func writeRowGroup(t testing.TB, w *Writer, enc *Encoder, b *record.Batch) {
	t.Helper()
	if err := enc.Append(b); err != nil {
		t.Fatal(err)
	}
	g, err := enc.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(g); err != nil {
		t.Fatal(err)
	}
	g.Release()
}
