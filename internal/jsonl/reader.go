package jsonl

import (
	"context"
	"errors"
	"io"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

const (
	batchBytes   = 16 << 20 // of JSON in one batch, about
	batchEntries = 1 << 24  // levels in one batch, about, where a file has very many columns
)

// ErrFewerRows says that the text has fewer rows than when it was counted.
var ErrFewerRows = errors.New("fewer rows than when they were counted")

// CheckSchema returns an error for a schema that JSON cannot be read into, which names the column.
func CheckSchema(s *schema.Schema) error {
	_, err := newDecoder(s)
	return err
}

// A Reader reads a range of rows. It is used by one goroutine.
type Reader struct {
	text    *Text
	layout  *Layout
	schema  *schema.Schema
	r       Range
	scan    *scanner
	decoder *decoder
	read    int64 // rows handed out
}

// NewReader returns a reader of the rows r of a text that has this layout. With asIs rows are judged, not written: half a surrogate pair and an
// integer that a column of floats rounds are handed on, and are no faults. Text that is not UTF-8 is a fault where SkipBroken is set and asIs is not:
// a rule finds it elsewhere.
func NewReader(t *Text, l *Layout, s *schema.Schema, r Range, asIs bool) (*Reader, error) {
	d, err := newDecoder(s)
	if err != nil {
		return nil, err
	}
	d.Keep, d.utf8 = asIs, t.SkipBroken && !asIs
	scan := t.scanner(r.From)
	if l.Longest >= hugeRow {
		scan.buf = make([]byte, 0, min(int64(l.Longest)+2*readSize, r.Bytes+readSize))
	}
	return &Reader{text: t, layout: l, schema: s, r: r, scan: scan, decoder: d}, nil
}

// Next returns the next rows, at most maxRows and at least one; fewer where they are large. At the end it returns io.EOF. The batch names no
// file; it is valid until the next call. Errors are *Error, ErrFewerRows, and those of the text's ReaderAt.
func (r *Reader) Next(ctx context.Context, maxRows int) (*record.Batch, error) {
	if r.read == 0 {
		for range r.r.Skip {
			if _, err := r.next(); err != nil {
				return nil, err
			}
		}
		r.r.Skip = 0
	}
	rows := min(int64(maxRows), r.r.Rows-r.read, int64(max(1, batchEntries/max(1, len(r.decoder.cols)))))
	if rows <= 0 {
		return nil, io.EOF
	}
	b := &record.Batch{Schema: r.schema, RowGroup: -1, FileRow: r.r.FirstRow + r.read}
	r.decoder.start(int(rows), min(batchBytes, r.r.Bytes*rows/r.r.Rows))
	for size := 0; b.Rows < int(rows) && size < batchBytes; b.Rows++ {
		if b.Rows%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		text, err := r.next()
		if err != nil {
			return nil, err
		}
		r.decoder.line = r.scan.rowLine
		if !r.decoder.row(text) {
			e := r.text.syntaxError(r.scan, text, &r.decoder.Parser, r.layout.Spots[0].Line)
			if !r.text.SkipBroken || r.text.Array {
				return nil, e
			}
			r.decoder.broken(text, e)
		}
		addLine(b, r.scan.rowLine, int(rows))
		size += len(text)
	}
	r.decoder.Src = nil // a huge row would stay in memory with it
	r.scan.shrink()
	r.read += int64(b.Rows)
	b.Leaves, b.Faults = r.decoder.leaves(), r.decoder.faults
	return b, nil
}

func (r *Reader) next() ([]byte, error) {
	row, err := r.scan.next()
	if err == io.EOF {
		return nil, ErrFewerRows
	}
	return row, err
}

// A Place is a row of a text.
type Place struct {
	Row  int64 // from 0
	Line int64 // from 1: where the row begins
}

// UnknownKeys returns the keys, as paths, that rows read so far have and that no column is declared for, with the first row that has
// each: at most 64.
func (r *Reader) UnknownKeys() map[schema.Path]Place {
	out := make(map[schema.Path]Place, len(r.decoder.unknown))
	for key, at := range r.decoder.unknown {
		at.Row += r.r.FirstRow
		out[key] = at
	}
	return out
}

// addLine notes the line of the row that is being added to b.
func addLine(b *record.Batch, line int64, rows int) {
	switch {
	case b.Rows == 0:
		b.FirstLine = line
	case b.Lines != nil:
		b.Lines = append(b.Lines, line)
	case b.FirstLine+int64(b.Rows) != line:
		b.Lines = make([]int64, b.Rows, rows)
		for i := range b.Lines {
			b.Lines[i] = b.FirstLine + int64(i)
		}
		b.Lines = append(b.Lines, line)
	}
}
