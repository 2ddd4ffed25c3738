package source

import (
	"context"
	"fmt"
	"io"

	"github.com/rlprep/rlprep/internal/record"
)

// A Reader reads the rows of one unit. It is used by one goroutine.
type Reader interface {
	// Next returns the next rows, at most maxRows and at least one; fewer where they are large. At the end it returns
	// io.EOF. The batch is valid until the next call of Next or Close.
	Next(ctx context.Context, maxRows int) (*record.Batch, error)
	Close() error
}

const (
	batchBytes   = 16 << 20 // of JSON in one batch, about
	batchEntries = 1 << 24  // levels in one batch, about, where a file has very many columns
)

// Open returns a reader of u. decode are the leaves to decode, as numbered by Schema.Leaves; of a line format all are. Of a
// Parquet file the other leaves have neither Vec nor, unless the unit is Whole, Raw.
func (f *File) Open(ctx context.Context, u Unit, decode []int) (Reader, error) {
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
	u       Unit
	scan    *rowScanner
	close   func() error
	decoder *decoder
	read    int64 // rows handed out
	checked bool
}

func (f *File) openRows(u Unit) (Reader, error) {
	d, err := newDecoder(f.Schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	d.keep = f.asIs
	at, closeText, err := f.open()
	if err != nil {
		return nil, err
	}
	s := newRowScanner(at, f.layout.array, spot{offset: u.Offset, line: u.FirstLine, lineStart: u.lineStart}, f.limits.line())
	if f.layout.most >= hugeRow {
		s.buf = make([]byte, 0, min(int64(f.layout.most)+2*readSize, u.Bytes+readSize))
	}
	return &rowReader{f: f, u: u, scan: s, close: closeText, decoder: d}, nil
}

// Next implements Reader.
func (r *rowReader) Next(ctx context.Context, maxRows int) (*record.Batch, error) {
	if r.read == 0 {
		for range r.u.Skip {
			if _, err := r.next(); err != nil {
				return nil, err
			}
		}
		r.u.Skip = 0
	}
	rows := min(int64(maxRows), r.u.Rows-r.read, int64(max(1, batchEntries/max(1, len(r.decoder.cols)))))
	if rows <= 0 {
		return nil, r.end()
	}
	b := &record.Batch{Schema: r.f.Schema, File: r.f.Name, RowGroup: -1, FirstRow: r.u.First + r.read}
	b.First = r.f.First + b.FirstRow
	r.decoder.start(int(rows), min(batchBytes, r.u.Bytes*rows/r.u.Rows))
	for size := 0; b.Rows < int(rows) && size < batchBytes; b.Rows++ {
		if b.Rows%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		text, err := r.next()
		if err != nil {
			return nil, err
		}
		if !r.decoder.row(text) {
			return nil, r.f.syntaxError(r.scan, text, &r.decoder.parser)
		}
		addLine(b, r.scan.rowLine, int(rows))
		size += len(text)
	}
	r.scan.shrink()
	r.read += int64(b.Rows)
	b.Leaves, b.Faults = r.decoder.leaves(), r.decoder.faults
	return b, nil
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

func (r *rowReader) next() ([]byte, error) {
	text, err := r.scan.next()
	if err == io.EOF {
		if err = r.f.Unchanged(); err == nil {
			err = fmt.Errorf("%s: has fewer rows than when it was counted: it changed while it was read", r.f.Name)
		}
		return nil, err
	}
	if err != nil {
		return nil, r.f.formatError(err)
	}
	return text, nil
}

func (r *rowReader) end() error {
	if !r.checked {
		r.checked = true
		r.f.addUnknown(r.decoder.unknown)
		if err := r.f.Unchanged(); err != nil {
			return err
		}
	}
	return io.EOF
}

// Close implements Reader.
func (r *rowReader) Close() error {
	r.f.addUnknown(r.decoder.unknown)
	return r.close()
}

// syntaxError places the error that p holds about the row that s returned.
func (f *File) syntaxError(s *rowScanner, row []byte, p *parser) error {
	line, col := s.position(row, p.errAt)
	msg := p.errMsg
	if !s.array && p.errAt >= len(row) && s.rowLine == f.firstLine() && s.rowStart+int64(len(row)) < f.text.size {
		msg += " (one object a line, or one array of objects, is what can be read)"
	}
	return &FormatError{File: f.Name, Line: line, Column: col, Message: msg}
}

func (f *File) firstLine() int64 {
	if f.layout == nil || len(f.layout.spots) == 0 {
		return 1
	}
	return f.layout.spots[0].line
}
