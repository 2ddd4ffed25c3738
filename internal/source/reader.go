package source

import (
	"context"
	"fmt"
	"io"

	"github.com/rlprep/rlprep/internal/jsonl"
	"github.com/rlprep/rlprep/internal/record"
)

// A Reader reads the rows of one unit. It is used by one goroutine.
type Reader interface {
	// Next returns the next rows, at most maxRows and at least one; fewer where they are large. At the end it returns
	// io.EOF. The batch is valid until the next call of Next or Close.
	Next(ctx context.Context, maxRows int) (*record.Batch, error)
	Close() error
}

// Open returns a reader of u. decode are the leaves to decode, as numbered by Schema.Leaves; of a line format all are. Of a
// Parquet file the other leaves have neither Vec nor, unless the unit is Whole, Raw.
func (f *File) Open(ctx context.Context, u ReadRange, decode []int) (Reader, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if u.File != f {
		return nil, fmt.Errorf("%s: open: unit of another file", f.Name)
	}
	if f.Parquet != nil {
		return f.openGroup(ctx, u, decode)
	}
	return f.openRows(u)
}

// A rowReader reads a unit of a line format.
type rowReader struct {
	f       *File
	u       ReadRange
	rows    *jsonl.Reader
	close   func() error
	checked bool
}

func (f *File) openRows(u ReadRange) (Reader, error) {
	at, closeText, err := f.open()
	if err != nil {
		return nil, err
	}
	text := *f.lines
	text.At = at
	rows, err := jsonl.NewReader(&text, f.layout, f.Schema, jsonl.Range{FirstRow: u.FileRow, Rows: u.Rows, Bytes: u.Bytes, From: u.from, Skip: u.skip}, f.asIs)
	if err != nil {
		_ = closeText() // nothing was written
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return &rowReader{f: f, u: u, rows: rows, close: closeText}, nil
}

// Next implements Reader.
func (r *rowReader) Next(ctx context.Context, maxRows int) (*record.Batch, error) {
	b, err := r.rows.Next(ctx, maxRows)
	if err == io.EOF {
		return nil, r.end()
	}
	if err != nil {
		return nil, r.f.formatError(err)
	}
	b.File, b.SplitRow = r.f.Name, r.f.SplitRow+b.FileRow
	return b, nil
}

func (r *rowReader) end() error {
	if !r.checked {
		r.checked = true
		r.f.addUnknown(r.rows.UnknownKeys())
		if err := r.f.Unchanged(); err != nil {
			return err
		}
	}
	return io.EOF
}

// Close implements Reader.
func (r *rowReader) Close() error {
	r.f.addUnknown(r.rows.UnknownKeys())
	return r.close()
}
