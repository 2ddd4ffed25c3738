package parquetio

import (
	"fmt"

	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// EncoderOptions say how an Encoder writes.
type EncoderOptions struct {
	Codec Codec
	// Spare has room for as many goroutines as may compress pages beside this one, at the time; nil: none. Several encoders share it.
	Spare chan struct{}
}

// An Encoder makes row groups from batches: one unit of work, one row group, that arrives in slices. It holds the compressed
// pages and, of each leaf, at most one page that is still open. It is for one goroutine.
type Encoder struct {
	columns []page.Encoder
	leaves  []schema.Leaf
	file    string // of the rows appended last
	rows    int64
	err     error
}

// NewEncoder returns an encoder for rows of schema s.
func NewEncoder(s *schema.Schema, o EncoderOptions) *Encoder {
	leaves := s.Leaves()
	e := &Encoder{columns: make([]page.Encoder, len(leaves)), leaves: leaves}
	shared := page.NewScratch(o.Spare)
	for i, l := range leaves {
		e.columns[i].Init(l, o.Codec, shared)
	}
	return e
}

// Append adds the rows of b, whose leaves stand in the order of the schema's. Nothing of b is used after it returns, but for
// Raw chunks. A leaf comes in the same form (Raw, Const, Seq, Vec) in every slice of a row group, and as the same chunk or
// value; where Raw and Vec are both set, Raw is written. After an error the encoder is of no use until Finish or Reset.
func (e *Encoder) Append(b *record.Batch) error {
	if e.err == nil {
		e.err = e.append(b)
	}
	return e.err
}

func (e *Encoder) append(b *record.Batch) (err error) {
	e.file = b.File
	defer page.Recover(&err, fmt.Sprintf("%s: row group %d: encode rows", b.File, b.RowGroup))
	if len(b.Leaves) != len(e.columns) {
		return fmt.Errorf("%s: encode rows: the batch has %d leaves, the schema %d", b.File, len(b.Leaves), len(e.columns))
	}
	if b.Rows == 0 {
		return nil
	}
	for i := range e.columns {
		l := &b.Leaves[i]
		err := checkRaw(l.Raw)
		if err == nil {
			err = e.columns[i].Append(b, l, e.rows)
		}
		if err != nil {
			return fmt.Errorf("%s: row group %d: column %s: encode: %w", b.File, b.RowGroup, e.leaves[i].Path, err)
		}
	}
	e.rows += int64(b.Rows)
	return nil
}

// Finish returns the row group and makes the encoder ready for the next one. Its pages are the caller's until Release.
func (e *Encoder) Finish() (g *EncodedRowGroup, err error) {
	defer e.Reset()
	if e.err != nil {
		return nil, e.err
	}
	defer page.Recover(&err, e.file+": encode a row group")
	g = &EncodedRowGroup{Rows: e.rows, Chunks: make([]EncodedChunk, len(e.columns))}
	for i := range e.columns {
		if g.Chunks[i], err = e.chunk(i); err != nil {
			g.Release()
			return nil, fmt.Errorf("%s: column %s: encode: %w", e.file, e.leaves[i].Path, err)
		}
	}
	return g, nil
}

// chunk ends the column chunk of a leaf.
func (e *Encoder) chunk(leaf int) (EncodedChunk, error) {
	p, raw, err := e.columns[leaf].Finish(e.rows)
	if err != nil {
		return EncodedChunk{}, err
	}
	c, _ := raw.(*Chunk) // checkRaw saw to it
	if c != nil && c.rows() != e.rows {
		return EncodedChunk{}, fmt.Errorf("the row group has %d rows, the column chunk to be copied %d", e.rows, c.rows())
	}
	return EncodedChunk{Leaf: e.leaves[leaf], Raw: c, Encoded: p}, nil
}

// checkRaw refuses undecoded data that is no column chunk of a Parquet file.
func checkRaw(r *record.Raw) error {
	if r == nil {
		return nil
	}
	if c, ok := r.Chunk.(*Chunk); !ok || c == nil {
		return fmt.Errorf("raw data is a %T, not a column chunk", r.Chunk)
	}
	return nil
}

// Reset forgets what was appended since the last Finish.
func (e *Encoder) Reset() {
	e.rows, e.err = 0, nil
	for i := range e.columns {
		e.columns[i].Reset()
	}
}

// Release gives the buffers of the row group's pages back. Neither they nor the group may be used after.
func (g *EncodedRowGroup) Release() {
	for i := range g.Chunks {
		g.Chunks[i].Pages.Free()
	}
}
