package source

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/record"
)

// A groupReader reads a unit of a Parquet file.
type groupReader struct {
	u      ReadRange
	leaves []record.Leaf // with Raw, where the unit is Whole
	decode []int
	reader *parquetio.Reader // nil where nothing is decoded
	read   int64
}

type laneKey struct{}

// Together returns a context for a goroutine that uses several Readers at once: they never wait for each other's memory.
func Together(ctx context.Context) context.Context {
	return context.WithValue(ctx, laneKey{}, &parquetio.Lane{})
}

func lane(ctx context.Context) *parquetio.Lane {
	if l, ok := ctx.Value(laneKey{}).(*parquetio.Lane); ok {
		return l
	}
	return &parquetio.Lane{}
}

func (f *File) openGroup(ctx context.Context, u ReadRange, decode []int) (Reader, error) {
	r := &groupReader{u: u, decode: slices.Clone(decode)}
	for i, l := range f.Schema.Leaves() {
		r.leaves = append(r.leaves, record.Leaf{Leaf: l})
		if u.Whole {
			r.leaves[i].Raw = f.Parquet.Raw(u.RowGroup, i)
		}
	}
	slices.Sort(r.decode)
	r.decode = slices.Compact(r.decode)
	for _, i := range r.decode {
		if i < 0 || i >= len(r.leaves) {
			return nil, fmt.Errorf("%s: open: no leaf %d", f.Name, i)
		}
	}
	if len(r.decode) > 0 {
		var err error
		if r.reader, err = f.Parquet.ReaderIn(lane(ctx), u.RowGroup, r.decode, u.InGroup, u.Rows); err != nil {
			return nil, f.parquetError(err)
		}
		r.reader.Reuse()
	}
	return r, nil
}

// Next implements Reader.
func (r *groupReader) Next(ctx context.Context, maxRows int) (*record.Batch, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := r.u.File
	rows := int(min(int64(maxRows), r.u.Rows-r.read))
	if rows <= 0 {
		if err := f.Unchanged(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	b := &record.Batch{Schema: f.Schema, File: f.Name, RowGroup: r.u.RowGroup, FileRow: r.u.FileRow + r.read, Rows: rows}
	b.SplitRow = f.SplitRow + b.FileRow
	b.Leaves = slices.Clone(r.leaves)
	if r.reader != nil {
		vecs, err := r.reader.Next(rows)
		if err == io.EOF {
			return nil, &FormatError{File: f.Name, Message: fmt.Sprintf("row group %d: %d of %d rows are there: the file is damaged",
				r.u.RowGroup, r.u.InGroup+r.read, r.u.InGroup+r.u.Rows)}
		}
		if err != nil {
			return nil, f.parquetError(err)
		}
		for k, v := range vecs {
			b.Leaves[r.decode[k]].Vec = v
			b.Rows = v.Rows
		}
	}
	r.read += int64(b.Rows)
	return b, nil
}

// Ahead lets the reader decode the next rows rows beside the caller, where spare has a place: see parquetio.Reader.Ahead.
func (r *groupReader) Ahead(rows int, spare chan struct{}) {
	if r.reader != nil {
		r.reader.Ahead(rows, spare)
	}
}

// Close implements Reader.
func (r *groupReader) Close() error {
	if r.reader == nil {
		return nil
	}
	return r.reader.Close()
}
