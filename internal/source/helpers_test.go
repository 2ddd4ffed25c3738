package source

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rlprep/rlprep/internal/jsonl/jsonltest"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// write writes files below a new folder and returns it.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// embedded opens text as a line format with these columns.
func embedded(t testing.TB, text string, cols []schema.Field) (*File, error) {
	t.Helper()
	spec := Spec{Embedded: []Embedded{{Name: "train.jsonl", Data: []byte(text)}}}
	if cols != nil {
		spec.Fields = func(string) []schema.Field { return cols }
	}
	set, err := Resolve(context.Background(), spec)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { set.Close() })
	return set.Files()[0], nil
}

// readUnits reads units in batches of max rows and returns their rows and faults.
func readUnits(f *File, units []ReadRange, max int) (rows []jsonltest.Row, faults []string, err error) {
	leaves := jsonltest.All(f.Schema).Leaves()
	for _, u := range units {
		r, err := f.Open(context.Background(), u, leaves)
		if err != nil {
			return rows, faults, err
		}
		more, found, err := jsonltest.Read(r, f.Schema, f.Name, max)
		rows, faults = append(rows, more...), append(faults, found...)
		if cerr := r.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return rows, faults, err
		}
	}
	return rows, faults, nil
}

// sound checks the levels of a leaf against its values and rows.
func sound(t *testing.T, rows int, l *record.Leaf) {
	t.Helper()
	v := l.Vec
	entries, values, begun := v.Entries(), v.Values.Len(), 0
	if v.Def == nil && v.Rep == nil && entries != rows {
		t.Fatalf("%s: %d values in %d rows", l.Path, entries, rows)
	}
	if v.Def != nil {
		values = 0
		for _, d := range v.Def {
			if d > l.MaxDef {
				t.Fatalf("%s: level %d of %d", l.Path, d, l.MaxDef)
			}
			if d == l.MaxDef {
				values++
			}
		}
	}
	if v.Rep != nil {
		if len(v.Rep) != entries || l.MaxRep == 0 {
			t.Fatalf("%s: %d repetition levels, %d entries", l.Path, len(v.Rep), entries)
		}
		for _, r := range v.Rep {
			if r == 0 {
				begun++
			}
		}
		entries = begun
	} else if l.MaxRep > 0 && rows > 0 {
		t.Fatalf("%s: no repetition levels", l.Path)
	}
	if entries != rows || values != v.Values.Len() || v.Rows != rows {
		t.Fatalf("%s: %d rows begun of %d, %d values of %d", l.Path, entries, rows, values, v.Values.Len())
	}
}
