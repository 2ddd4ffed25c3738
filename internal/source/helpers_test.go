package source

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// fields makes columns from "name type" pairs.
func fields(t testing.TB, spec ...string) []schema.Field {
	t.Helper()
	types := map[string]schema.Type{
		"string": schema.StringType, "int64": schema.Int64Type, "int32": {Kind: schema.Int, Bits: 32}, "uint8": {Kind: schema.Int, Bits: 8, Unsigned: true},
		"uint64": {Kind: schema.Int, Bits: 64, Unsigned: true}, "double": schema.FloatType, "float": {Kind: schema.Float, Bits: 32}, "bool": schema.BoolType,
		"null": {Kind: schema.Null}, "strings": schema.ListOf(schema.StringType), "binary": {Kind: schema.Binary},
		"chat":   schema.ListOf(schema.StructOf(schema.NewField("role", schema.StringType), schema.NewField("content", schema.StringType))),
		"nested": schema.StructOf(schema.NewField("a", schema.Int64Type), schema.NewField("b", schema.StructOf(schema.NewField("c", schema.ListOf(schema.ListOf(schema.Int64Type)))))),
		"mixed":  {Kind: schema.Other, Name: "mixed<int64, string>"},
	}
	var out []schema.Field
	for _, s := range spec {
		name, typ, _ := strings.Cut(s, " ")
		typ, required := strings.CutSuffix(typ, "!")
		ty, ok := types[typ]
		if !ok {
			t.Fatalf("no type %q", typ)
		}
		out = append(out, schema.Field{Name: name, Type: ty, Nullable: !required})
	}
	return out
}

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

// A readRow is a row as tests compare it.
type readRow struct {
	json string
	line int64
	row  int64
}

// readUnits reads units in batches of max rows and returns their rows and faults.
func readUnits(f *File, units []ReadRange, max int) ([]readRow, []string, error) {
	var paths []schema.Path
	for _, name := range f.Schema.Names() {
		paths = append(paths, schema.Path("").Field(name))
	}
	bind := record.Bind(f.Schema, paths)
	cursor := bind.Cursor()
	var out []readRow
	var faults []string
	for _, u := range units {
		r, err := f.Open(context.Background(), u, bind.Leaves())
		if err != nil {
			return out, faults, err
		}
		for {
			b, err := r.Next(context.Background(), max)
			if err == io.EOF {
				break
			}
			if err != nil {
				r.Close()
				return out, faults, err
			}
			for _, fault := range b.Faults {
				faults = append(faults, b.Pos(int(fault.Row)).String()+": "+fault.Reason+": "+fault.Message+" ("+fault.Value+")")
			}
			cursor.Reset(b)
			for cursor.Next() {
				text := []byte("{")
				for i, name := range f.Schema.Names() {
					if i > 0 {
						text = append(text, ',')
					}
					text = schema.AppendQuoted(text, name)
					text = append(text, ':')
					text = cursor.At(i).AppendJSON(text)
				}
				pos := cursor.Pos()
				out = append(out, readRow{string(append(text, '}')), pos.Line, pos.Row})
			}
		}
		if err := r.Close(); err != nil {
			return out, faults, err
		}
	}
	return out, faults, nil
}

// texts returns the JSON of rows.
func texts(rows []readRow) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, r.json)
	}
	return out
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
