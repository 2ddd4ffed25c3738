package parquetio

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlprep/rlprep/schema"
)

// manyGroups writes a file of n row groups: those of a sample, over and over.
func manyGroups(t testing.TB, n int) string {
	t.Helper()
	in := openFile(t, sample("pyarrow-many-groups"))
	out, err := os.Create(filepath.Join(t.TempDir(), "many.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := NewWriter(out, in.Schema(), WriterOptions{Base: in})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		rg := i % len(in.groups)
		g := &EncodedRowGroup{Rows: in.groups[rg].Rows, Chunks: make([]EncodedChunk, len(in.leaves))}
		for leaf := range g.Chunks {
			g.Chunks[leaf].Raw = in.chunk(rg, leaf)
		}
		if err := w.Write(g); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}

// BenchmarkOpen reads the footer of 748 row groups, as HF datasets wrote them from 747,300 rows.
func BenchmarkOpen(b *testing.B) {
	name := manyGroups(b, 748)
	b.ReportAllocs()
	for b.Loop() {
		f, err := Open(name)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(f.footer)), "footer-bytes")
		f.Close()
	}
}

// BenchmarkAddColumn adds a constant column to that file: what is left beside the footer is small.
func BenchmarkAddColumn(b *testing.B) {
	in := openFile(b, manyGroups(b, 748))
	e := withColumn(in, 1, "agent_name", schema.TextValue("tool_agent"))
	enc := NewEncoder(e.schema, EncoderOptions{})
	name := filepath.Join(b.TempDir(), "out.parquet")
	b.ReportAllocs()
	for b.Loop() {
		out, err := os.Create(name)
		if err != nil {
			b.Fatal(err)
		}
		w, err := NewWriter(out, e.schema, WriterOptions{Base: in})
		if err != nil {
			b.Fatal(err)
		}
		for rg := range in.groups {
			writeRowGroup(b, w, enc, e.batch(b, in, rg))
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
		out.Close()
	}
}
