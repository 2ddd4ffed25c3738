package source

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rlprep/rlprep/schema"
)

var gsm8kFields = []schema.Field{schema.NewField("question", schema.StringType), schema.NewField("answer", schema.StringType)}

// shared returns the path of shared test data, or skips.
func shared(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("RLPREP_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: shared test data is not here (set RLPREP_SHARED): %v", err)
	}
	return path
}

func BenchmarkJSONLines(b *testing.B) {
	path := shared(b, "data/gsm8k/train.jsonl")
	set, err := Resolve(context.Background(), Spec{Args: []string{path}, Fields: func(string) []schema.Field { return gsm8kFields }})
	if err != nil {
		b.Fatal(err)
	}
	defer set.Close()
	f := set.Files()[0]
	b.SetBytes(f.Bytes)
	b.ReportAllocs()
	for b.Loop() {
		rows := int64(0)
		for _, u := range f.ReadRanges(0) {
			r, err := f.Open(context.Background(), u, nil)
			if err != nil {
				b.Fatal(err)
			}
			for {
				batch, err := r.Next(context.Background(), 8192)
				if err == io.EOF {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				rows += int64(batch.Rows)
			}
			r.Close()
		}
		if rows != f.Rows {
			b.Fatalf("%d rows, want %d", rows, f.Rows)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	path := shared(b, "data/gsm8k/train.jsonl")
	for _, bench := range []struct {
		name string
		spec Spec
	}{
		{"count", Spec{Args: []string{path}, Fields: func(string) []schema.Field { return gsm8kFields }}},
		{"infer", Spec{Args: []string{path}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				set, err := Resolve(context.Background(), bench.spec)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(set.Files()[0].Bytes)
				set.Close()
			}
		})
	}
}
