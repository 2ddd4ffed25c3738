// Package jsonltest has what tests of readers share: columns in short words, and the rows of a reader as text.
package jsonltest

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

var types = map[string]schema.Type{
	"string": schema.StringType, "int64": schema.Int64Type, "int32": {Kind: schema.Int, Bits: 32}, "uint8": {Kind: schema.Int, Bits: 8, Unsigned: true},
	"uint64": {Kind: schema.Int, Bits: 64, Unsigned: true}, "double": schema.FloatType, "float": {Kind: schema.Float, Bits: 32}, "bool": schema.BoolType,
	"null": {Kind: schema.Null}, "strings": schema.ListOf(schema.StringType), "binary": {Kind: schema.Binary},
	"chat":   schema.ListOf(schema.StructOf(schema.NewField("role", schema.StringType), schema.NewField("content", schema.StringType))),
	"nested": schema.StructOf(schema.NewField("a", schema.Int64Type), schema.NewField("b", schema.StructOf(schema.NewField("c", schema.ListOf(schema.ListOf(schema.Int64Type)))))),
	"mixed":  {Kind: schema.Other, Name: "mixed<int64, string>"},
}

// Fields makes columns from "name type" pairs. A type that ends in "!" makes a column without nulls.
func Fields(t testing.TB, spec ...string) []schema.Field {
	t.Helper()
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

// A Row is a row as tests compare it: its values as JSON, and its place.
type Row struct {
	JSON string
	Line int64
	Row  int64
}

// Texts returns the JSON of rows.
func Texts(rows []Row) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, r.JSON)
	}
	return out
}

// A Reader gives rows until io.EOF.
type Reader interface {
	Next(ctx context.Context, max int) (*record.Batch, error)
}

// Read reads the rows of r, which has the columns of s, in batches of max rows, and returns them and their faults: those before an error, too. A batch
// that names no file gets the name file.
func Read(r Reader, s *schema.Schema, file string, max int) (rows []Row, faults []string, err error) {
	cursor := All(s).Cursor()
	for {
		b, err := r.Next(context.Background(), max)
		if err == io.EOF {
			return rows, faults, nil
		}
		if err != nil {
			return rows, faults, err
		}
		if b.File == "" {
			b.File = file
		}
		for _, fault := range b.Faults {
			faults = append(faults, b.Pos(int(fault.Row)).String()+": "+fault.Reason+": "+fault.Message+" ("+fault.Value+")")
		}
		cursor.Reset(b)
		for cursor.Next() {
			text := []byte("{")
			for i, name := range s.Names() {
				if i > 0 {
					text = append(text, ',')
				}
				text = append(schema.AppendQuoted(text, name), ':')
				text = cursor.At(i).AppendJSON(text)
			}
			pos := cursor.Pos()
			rows = append(rows, Row{string(append(text, '}')), pos.Line, pos.Row})
		}
	}
}

// All binds every column of s.
func All(s *schema.Schema) *record.Binding {
	var paths []schema.Path
	for _, name := range s.Names() {
		paths = append(paths, schema.Path("").Field(name))
	}
	return record.Bind(s, paths)
}
