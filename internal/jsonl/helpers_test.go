package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// A file is text that was begun and counted.
type file struct {
	text    *Text
	schema  *schema.Schema
	layout  *Layout
	unknown map[schema.Path]Place // after readRanges
}

// embedded opens text with these columns; nil: those that it has.
func embedded(t testing.TB, text string, cols []schema.Field) (*file, error) {
	t.Helper()
	f := &file{text: &Text{At: strings.NewReader(text), Size: int64(len(text)), Limit: 1 << 30}, schema: &schema.Schema{Fields: cols}}
	if err := f.text.Begin(); err != nil {
		return nil, named(err)
	}
	if cols == nil {
		var err error
		f.schema, f.layout, err = f.text.Infer(t.Context())
		return f, named(err)
	}
	if err := CheckSchema(f.schema); err != nil {
		return nil, err
	}
	var err error
	f.layout, err = f.text.Scan(t.Context())
	return f, named(err)
}

func (f *file) open(r Range) (*Reader, error) { return NewReader(f.text, f.layout, f.schema, r, false) }

// named puts the name of the file before an error of its text.
func named(err error) error {
	var e *Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Line == 0:
		return fmt.Errorf("train.jsonl: %w", e)
	}
	return fmt.Errorf("train.jsonl:%w", e)
}

// A readRow is a row as tests compare it.
type readRow struct {
	json string
	line int64
	row  int64
}

// readRanges reads ranges in batches of max rows and returns their rows and faults.
func readRanges(f *file, ranges []Range, max int) ([]readRow, []string, error) {
	var paths []schema.Path
	for _, name := range f.schema.Names() {
		paths = append(paths, schema.Path("").Field(name))
	}
	cursor := record.Bind(f.schema, paths).Cursor()
	var out []readRow
	var faults []string
	f.unknown = map[schema.Path]Place{}
	for _, rg := range ranges {
		r, err := f.open(rg)
		if err != nil {
			return out, faults, err
		}
		for {
			b, err := r.Next(context.Background(), max)
			if err == io.EOF {
				break
			}
			if err != nil {
				return out, faults, named(err)
			}
			b.File = "train.jsonl"
			for _, fault := range b.Faults {
				faults = append(faults, b.Pos(int(fault.Row)).String()+": "+fault.Reason+": "+fault.Message+" ("+fault.Value+")")
			}
			cursor.Reset(b)
			for cursor.Next() {
				text := []byte("{")
				for i, name := range f.schema.Names() {
					if i > 0 {
						text = append(text, ',')
					}
					text = append(schema.AppendQuoted(text, name), ':')
					text = cursor.At(i).AppendJSON(text)
				}
				pos := cursor.Pos()
				out = append(out, readRow{string(append(text, '}')), pos.Line, pos.Row})
			}
		}
		for key, row := range r.UnknownKeys() {
			f.unknown[key] = row
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
