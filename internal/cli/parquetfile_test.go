package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// A testFile is a Parquet file to be made: its rows, in row groups of so many.
type testFile struct {
	name     string
	rows     []map[string]any
	group    int
	metadata []parquetio.KeyValue
}

// columnsOf infers the columns of rows, as of JSON Lines.
func columnsOf(t *testing.T, rows []map[string]any) []schema.Field {
	t.Helper()
	set := resolve(t, rows, nil)
	defer set.Close()
	return set.Files()[0].Schema.Fields
}

// resolve opens rows as a JSON Lines file of these columns; nil: inferred.
func resolve(t *testing.T, rows []map[string]any, columns []schema.Field) *source.Set {
	t.Helper()
	name := filepath.Join(t.TempDir(), "train.jsonl")
	var text []byte
	for _, r := range rows {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.ReplaceAll(b, []byte(halfPair), []byte(`\ud83d`))
		text = append(append(text, b...), '\n')
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	spec := source.Spec{Args: []string{name}, Lenient: true}
	if columns != nil {
		spec.Fields = func(string) []schema.Field { return columns }
	}
	set, err := source.Resolve(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Errors) > 0 {
		t.Fatal(set.Errors)
	}
	return set
}

// write makes the file in dir, with these columns.
func (f *testFile) write(t *testing.T, dir string, columns []schema.Field) string {
	t.Helper()
	set := resolve(t, f.rows, columns)
	defer set.Close()
	in := set.Files()[0]
	s := &schema.Schema{Fields: columns}
	r, err := in.Open(t.Context(), in.ReadRanges(0)[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := filepath.Join(dir, f.name)
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := parquetio.NewWriter(out, s, parquetio.WriterOptions{Metadata: f.metadata})
	if err != nil {
		t.Fatal(err)
	}
	enc := parquetio.NewEncoder(s, parquetio.EncoderOptions{Codec: parquetio.Snappy})
	for left := len(f.rows); left > 0; {
		b, err := r.Next(t.Context(), min(f.group, left))
		if err != nil {
			t.Fatal(err)
		}
		left -= b.Rows
		b.Schema = s
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
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}
