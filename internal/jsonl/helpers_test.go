package jsonl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/jsonl/jsonltest"
	"github.com/rlprep/rlprep/schema"
)

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

// readRanges reads ranges in batches of max rows and returns their rows and faults.
func readRanges(f *file, ranges []Range, max int) (rows []jsonltest.Row, faults []string, err error) {
	f.unknown = map[schema.Path]Place{}
	for _, rg := range ranges {
		r, err := f.open(rg)
		if err != nil {
			return rows, faults, err
		}
		more, found, err := jsonltest.Read(r, f.schema, "train.jsonl", max)
		rows, faults = append(rows, more...), append(faults, found...)
		if err != nil {
			return rows, faults, named(err)
		}
		for key, row := range r.UnknownKeys() {
			f.unknown[key] = row
		}
	}
	return rows, faults, nil
}
