package parquetio

import (
	"fmt"
	"io"

	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/record"
)

// A Reader decodes leaves of a range of rows of one row group, page by page: it holds about a page of each leaf, beside what
// it hands out. It is for one goroutine; several Readers may read one File at once.
type Reader struct {
	leaves []leafReader
	where  string // "NAME: row group N"
	left   int64  // rows that Next has still to return
	toEnd  bool   // the range ends with the row group: then nothing may be left in the chunks
	err    error
	shared *page.Buffers
	reuse  bool
	ahead  ahead

	siblings []sibling
}

// Reader returns a reader of rows [first, first+rows) of row group rg. leaves are numbers of Schema().Leaves(), in any order.
func (f *File) Reader(rg int, leaves []int, first, rows int64) (*Reader, error) {
	return f.ReaderIn(&Lane{}, rg, leaves, first, rows)
}

// ReaderIn is Reader for one of several Readers that a goroutine uses at once: they share a lane.
func (f *File) ReaderIn(lane *Lane, rg int, leaves []int, first, rows int64) (*Reader, error) {
	if rg < 0 || rg >= len(f.groups) {
		return nil, fmt.Errorf("%s: read rows: no row group %d (there are %d)", f.name, rg, len(f.groups))
	}
	g := &f.groups[rg]
	if first < 0 || rows < 0 || first > g.Rows || rows > g.Rows-first {
		return nil, fmt.Errorf("%s: row group %d: read rows %d to %d: it has %d", f.name, rg, first, first+rows, g.Rows)
	}
	r := &Reader{leaves: make([]leafReader, len(leaves)), where: fmt.Sprintf("%s: row group %d", f.name, rg), left: rows, toEnd: first+rows == g.Rows, shared: page.TakeBuffers(len(leaves))}
	for i, leaf := range leaves {
		if leaf < 0 || leaf >= len(f.leaves) {
			return nil, fmt.Errorf("%s: read rows: no column %d (there are %d)", f.name, leaf, len(f.leaves))
		}
		r.leaves[i].page.buf = r.shared.Leaves[i].Page
		if err := r.leaves[i].open(f, rg, leaf, first, r.shared, lane); err != nil {
			r.Close()
			return nil, err
		}
	}
	r.siblings = f.siblings(leaves)
	return r, nil
}

// Next returns the next min(max, left) rows of every leaf, in the order of the leaves that Reader was given: fewer where the
// rows are huge, but at least one. The vectors own their memory, unless Reuse was called, and share none with each other; BYTE_ARRAY
// comes as *array.String for text and as *array.Binary else, INT96 and FIXED_LEN_BYTE_ARRAY as *array.FixedSizeBinary, all
// other values in their physical type. It returns io.EOF after the last row, and a *FormatError where the file is damaged or
// a chunk holds fewer or more rows than the footer says.
func (r *Reader) Next(max int) ([]*record.Vector, error) {
	if r.err != nil {
		return nil, r.err
	}
	out, err := r.nextSlice(max)
	if err != nil {
		r.err = err
		return nil, err
	}
	r.begin(out)
	return out, nil
}

// slice is next; a panic is its error, also in the goroutine that reads ahead.
func (r *Reader) slice(max int) (out []*record.Vector, err error) {
	defer page.Recover(&err, r.where)
	return r.next(max)
}

func (r *Reader) next(max int) ([]*record.Vector, error) {
	if r.left == 0 {
		return nil, r.finish()
	}
	if max <= 0 {
		return nil, fmt.Errorf("read rows: a slice of %d rows was asked for", max)
	}
	want := int(min(int64(max), r.left))
	for i := range r.leaves {
		if p := r.leaves[i].pending; p != nil {
			want = min(want, p.Rows) // what a slice before this one could not take is used up first
		}
	}
	vectors := make([]*record.Vector, len(r.leaves))
	got, size := want, int64(0)
	for i := range r.leaves {
		l := &r.leaves[i]
		if l.pending != nil {
			continue
		}
		if err := l.crowded(got, size); err != nil {
			return nil, err
		}
		v, err := l.readRows(got, r.memory(i))
		if err != nil {
			return nil, err
		}
		vectors[i], got = v, min(got, v.Rows)
		size += int64(vectorBytes(vectors[i : i+1]))
	}
	for i := range r.leaves {
		l := &r.leaves[i]
		v := vectors[i]
		if v == nil {
			v, l.pending = l.pending, nil
		}
		if v.Rows > got {
			v, l.pending = cutVector(v, got, l.maxDef)
		}
		vectors[i] = v
	}
	if err := r.agree(vectors); err != nil {
		return nil, err
	}
	r.left -= int64(got)
	if r.left == 0 {
		if err := r.finish(); err != io.EOF { // before the last rows go out, not after
			return nil, err
		}
	}
	return vectors, nil
}

// Reuse lets the Reader use the memory of vectors again: they are valid until the next call of Next or Close.
func (r *Reader) Reuse() { r.reuse = true }

// memory is what the values of a leaf go into; nil: their own.
func (r *Reader) memory(leaf int) *page.LeafBuffers {
	if !r.reuse {
		return nil
	}
	b := &r.shared.Leaves[leaf]
	if r.ahead.beside { // the values of the slice before are in use
		b.Data, b.OtherData = b.OtherData, b.Data
		b.Offsets, b.OtherOffsets = b.OtherOffsets, b.Offsets
	}
	return b
}

// finish returns io.EOF, or what is wrong with the end of the chunks.
func (r *Reader) finish() error {
	for i := range r.leaves {
		if err := r.leaves[i].finish(r.toEnd); err != nil {
			return err
		}
	}
	return io.EOF
}

// Close gives up the Reader's memory. Vectors that Next returned stay valid, unless Reuse was called.
func (r *Reader) Close() error {
	r.end()
	if r.shared != nil {
		for i := range r.leaves {
			r.leaves[i].giveUp()
			r.shared.Leaves[i].Page = r.leaves[i].page.buf
		}
		r.shared.GiveBack()
	}
	r.leaves, r.left, r.shared = nil, 0, nil
	r.err = fmt.Errorf("read rows: the reader is closed")
	return nil
}
