package parquetio

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

func TestLedger(t *testing.T) {
	var l ledger
	var want []entry
	for i := range 3000 { // several blocks
		e := entry{fmt.Appendf(nil, "meta %d", i), bytes.Repeat([]byte{byte(i)}, i%100), nil}
		if i%7 == 0 {
			e = entry{nil, nil, []byte("offsets")}
		}
		if err := l.add(e); err != nil {
			t.Fatal(err)
		}
		want = append(want, e)
	}
	if len(l.blocks) < 2 || len(l.open) == 0 {
		t.Fatalf("%d blocks and %d open bytes: the test wants some of both", len(l.blocks), len(l.open))
	}
	for range 2 { // it is read more than once
		r := ledgerReader{ledger: &l}
		for i, w := range want {
			got, err := r.next()
			if err != nil {
				t.Fatal(err)
			}
			for k := range w {
				if !bytes.Equal(got[k], w[k]) {
					t.Fatalf("entry %d: %q, expected %q", i, got[k], w[k])
				}
			}
		}
		if _, err := r.next(); err != errLedger {
			t.Fatalf("behind the last entry: %v", err)
		}
	}
}

// The memory of a Writer must hardly grow with the file: of a row group in verl's shape 7 KB are described, and were once kept.
func TestKeptOfARowGroup(t *testing.T) {
	const columns, few, many, limit = 11, 100, 1100, 1200
	s := &schema.Schema{}
	for i := range columns {
		s.Fields = append(s.Fields, schema.NewField(fmt.Sprintf("column_%d", i), schema.StringType))
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := NewWriter(out, s, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	enc := NewEncoder(s, EncoderOptions{Codec: Zstd})
	write := func(n int) {
		for i := range n {
			b := &record.Batch{Schema: s, Rows: 3}
			for c, l := range s.Leaves() { // bounds of 64 bytes that differ
				text := fmt.Sprintf("%d %d: a problem that is stated in so many words that its bounds are cut", i*7919%n, c)
				b.Leaves = append(b.Leaves, record.Leaf{Leaf: l, Vec: textVector([]string{text, text + ".", "Q" + text})})
			}
			writeRowGroup(t, w, enc, b)
		}
	}
	write(few)
	before := liveHeap()
	write(many - few)
	each := (liveHeap() - before) / (many - few)
	t.Logf("%d bytes a row group", each)
	if each > limit {
		t.Errorf("%d bytes are kept of a row group of %d columns, expected at most %d", each, columns, limit)
	}
	if done, err := w.Close(); err != nil || done.RowGroups != many {
		t.Fatalf("%d row groups, %v", done.RowGroups, err)
	}
	if f := openFile(t, out.Name()); len(f.groups) != many || f.chunk(many-1, columns-1).columnIndex.length == 0 {
		t.Error("row groups or page indexes are missing")
	}
}

// liveHeap is how many bytes are in use; what pools hold is gone after the second collection.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
