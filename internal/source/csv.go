package source

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
)

// csvLines returns the decompressor, so to say, that makes JSON Lines of CSV (RFC 4180) with a header: the values of declared columns as their
// types ask, the others as text. Each line of JSON has the number of the line on which its record begins.
func csvLines(comma rune, fields []schema.Field, limit int64) *decompressor {
	name := "CSV"
	if comma == '\t' {
		name = "TSV"
	}
	return &decompressor{name, func(r io.Reader) (io.ReadCloser, error) {
		in := &capped{in: r, room: limit}
		c := &csvReader{in: in, limit: limit, fields: fields, line: 1}
		text := bufio.NewReader(in)
		if head, _ := text.Peek(len(bom)); bytes.Equal(head, bom) {
			if _, err := text.Discard(len(bom)); err != nil {
				return nil, err
			}
		}
		c.csv = csv.NewReader(text)
		c.csv.Comma, c.csv.ReuseRecord = comma, true
		return c, c.header()
	}}
}

// A csvReader reads CSV as JSON Lines.
type csvReader struct {
	in      *capped
	limit   int64
	csv     *csv.Reader
	fields  []schema.Field // declared
	names   []string
	types   []schema.Kind // of the columns; Text where none is declared
	line    int           // that comes next in the JSON Lines
	pending []byte
}

func (c *csvReader) header() error {
	names, err := c.csv.Read()
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty: the first line must name the columns")
	case err != nil:
		return c.fault(err)
	}
	for i, name := range names {
		if name == "" {
			name = fmt.Sprintf("Unnamed: %d", i) // as pandas calls it
		}
		if slices.Contains(c.names, name) {
			return fmt.Errorf("line 1: two columns are called %q", name)
		}
		kind := schema.Text
		for _, f := range c.fields {
			if f.Name == name {
				kind = f.Type.Kind
			}
		}
		c.names, c.types = append(c.names, strings.Clone(name)), append(c.types, kind)
	}
	return nil
}

// fault says what is wrong with the CSV, with its line.
func (c *csvReader) fault(err error) error {
	var parse *csv.ParseError
	switch {
	case !errors.As(err, &parse):
		return err
	case errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("line %d: the record has another number of values than the header, which has %d", parse.StartLine, len(c.names))
	case errors.Is(err, csv.ErrQuote):
		return fmt.Errorf("line %d, column %d: a quote that is not closed, or text after a closing quote (the record begins in line %d)", parse.Line, parse.Column, parse.StartLine)
	case errors.Is(err, csv.ErrBareQuote):
		return fmt.Errorf("line %d, column %d: a quote inside a value without quotes: put the value in quotes and double the quote", parse.Line, parse.Column)
	}
	return fmt.Errorf("line %d: %w", parse.Line, parse.Err)
}

// Read implements io.Reader.
func (c *csvReader) Read(b []byte) (int, error) {
	for len(c.pending) == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

// next makes the line of the next record, after blank ones for the lines before it.
func (c *csvReader) next() error {
	c.in.room = c.limit
	record, err := c.csv.Read()
	if err != nil {
		return c.fault(err)
	}
	line, _ := c.csv.FieldPos(0)
	out := c.pending[:0]
	for ; c.line < line; c.line++ {
		out = append(out, '\n')
	}
	out = append(out, '{')
	for i, text := range record {
		if !utf8.ValidString(text) {
			return fmt.Errorf("line %d: column %q is not UTF-8: convert the file, with iconv for example", line, c.names[i])
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(schema.AppendQuoted(out, c.names[i]), ':')
		out = appendCell(out, text, c.types[i])
	}
	c.pending = append(out, '}', '\n')
	c.line++
	return nil
}

// appendCell appends a value as JSON: as text where its column is text, or the value is none of the column's type, which is found later.
func appendCell(out []byte, text string, kind schema.Kind) []byte {
	trimmed := strings.TrimSpace(text)
	switch {
	case kind == schema.Text:
	case trimmed == "":
		return append(out, "null"...)
	case kind == schema.Bool:
		if lower := strings.ToLower(trimmed); lower == "true" || lower == "false" {
			return append(out, lower...)
		}
	case json.Valid([]byte(trimmed)):
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(trimmed)) == nil { // one line
			return append(out, compact.Bytes()...)
		}
	}
	return schema.AppendQuoted(out, text)
}

// Close implements io.Closer.
func (c *csvReader) Close() error { return nil }

// A capped reader refuses to go on after room bytes, so that a quote which is never closed does not fill the memory.
type capped struct {
	in   io.Reader
	room int64
}

// Read implements io.Reader.
func (c *capped) Read(b []byte) (int, error) {
	if c.room <= 0 {
		return 0, errors.New("a record is longer than --max-line-bytes allows: is a quote not closed?")
	}
	n, err := c.in.Read(b)
	c.room -= int64(n)
	return n, err
}
