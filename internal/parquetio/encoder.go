package parquetio

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/parquetio/compress"
	"github.com/rlprep/rlprep/internal/parquetio/encoding"
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
	columns []columnEncoder
	file    string // of the rows appended last
	rows    int64
	err     error
}

// NewEncoder returns an encoder for rows of schema s.
func NewEncoder(s *schema.Schema, o EncoderOptions) *Encoder {
	leaves := s.Leaves()
	e := &Encoder{columns: make([]columnEncoder, len(leaves))}
	shared := &scratch{spare: o.Spare}
	for i, l := range leaves {
		e.columns[i] = columnEncoder{leaf: l, codec: o.Codec, shared: shared}
		e.columns[i].reset()
	}
	return e
}

// scratch is what the columns of an encoder share: no page lives in it for longer than one flush.
type scratch struct {
	body, packed, values []byte
	seen                 []bool
	spare                chan struct{}
}

// A packing is a page that is compressed elsewhere.
type packing struct {
	packed []byte
	err    error
	done   chan struct{}
}

// packAside is the least size of a page that is worth handing to another goroutine.
var packAside = 128 << 10

// pack begins to compress a copy of body elsewhere; nil where nobody is free, and for a huge page, which is not held twice.
func (s *scratch) pack(body []byte, codec Codec) *packing {
	if codec == None || len(body) < packAside || int64(len(body)) >= hugePage {
		return nil
	}
	select {
	case s.spare <- struct{}{}:
	default:
		return nil // also where spare is nil
	}
	p := &packing{done: make(chan struct{})}
	src := append(pageBuffer(len(body)), body...)
	go func() {
		defer close(p.done)
		defer func() { <-s.spare }()
		defer recovered(&p.err, "compress a page")
		p.packed, p.err = compress.Compress(pageBuffer(len(src)/2), src, codec)
		freePages(src)
	}()
	return p
}

// compress returns src as codec stores it: in memory of s, or src itself; a huge page in memory of its own.
func (s *scratch) compress(src []byte, codec Codec) ([]byte, error) {
	if codec == None {
		return src, nil
	}
	packed, err := compress.Compress(s.packed, src, codec)
	if err == nil {
		s.packed = packed
	}
	if int64(len(src)) >= hugePage {
		s.packed = nil // the chunk takes it
	}
	return packed, err
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
	defer recovered(&err, fmt.Sprintf("%s: row group %d: encode rows", b.File, b.RowGroup))
	if len(b.Leaves) != len(e.columns) {
		return fmt.Errorf("%s: encode rows: the batch has %d leaves, the schema %d", b.File, len(b.Leaves), len(e.columns))
	}
	if b.Rows == 0 {
		return nil
	}
	for i := range e.columns {
		c := &e.columns[i]
		if err := c.append(b, &b.Leaves[i], e.rows); err != nil {
			return fmt.Errorf("%s: row group %d: column %s: encode: %w", b.File, b.RowGroup, c.leaf.Path, err)
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
	defer recovered(&err, e.file+": encode a row group")
	g = &EncodedRowGroup{Rows: e.rows, Chunks: make([]EncodedChunk, len(e.columns))}
	for i := range e.columns {
		c := &e.columns[i]
		chunk, err := c.finish(e.rows)
		if err != nil {
			g.Release()
			return nil, fmt.Errorf("%s: column %s: encode: %w", e.file, c.leaf.Path, err)
		}
		g.Chunks[i] = chunk
	}
	return g, nil
}

// Reset forgets what was appended since the last Finish.
func (e *Encoder) Reset() {
	e.rows, e.err = 0, nil
	for i := range e.columns {
		e.columns[i].reset()
	}
}

// Release gives the buffers of the row group's pages back. Neither they nor the group may be used after.
func (g *EncodedRowGroup) Release() {
	for i := range g.Chunks {
		g.Chunks[i].Pages.free()
	}
}

// A leafForm is how a leaf arrives.
type leafForm uint8

const (
	formNone leafForm = iota
	formRaw
	formConst
	formSeq
	formVec
)

func formOf(l *record.Leaf) leafForm {
	switch {
	case l.Raw != nil:
		return formRaw
	case l.Const != nil:
		return formConst
	case l.Seq != nil:
		return formSeq
	case l.Vec != nil:
		return formVec
	}
	return formNone
}

// append adds the leaf's rows of one slice; before is how many rows the row group has before it.
func (c *columnEncoder) append(b *record.Batch, l *record.Leaf, before int64) error {
	form := formOf(l)
	if before == 0 {
		c.form = form
	} else if form != c.form {
		return fmt.Errorf("its form changes within the row group")
	}
	switch form {
	case formRaw:
		return c.appendRaw(b, l.Raw)
	case formConst:
		return c.appendConst(*l.Const)
	case formSeq:
		return c.appendSeq(b, l.Seq.Start)
	case formVec:
		return c.appendVector(l.Vec, b.Rows)
	}
	return fmt.Errorf("the batch has no data for it")
}

func (c *columnEncoder) appendRaw(b *record.Batch, r *record.Raw) error {
	chunk, ok := r.Chunk.(*Chunk)
	switch {
	case !ok || chunk == nil:
		return fmt.Errorf("raw data is a %T, not a column chunk", r.Chunk)
	case c.raw != nil && c.raw != chunk:
		return fmt.Errorf("the column chunk changes within the row group")
	case b.Source != nil:
		return fmt.Errorf("rows were dropped or moved: a column chunk cannot be copied")
	}
	c.raw = chunk
	return nil
}

func (c *columnEncoder) appendConst(v schema.Value) error {
	switch {
	case !c.hasConst:
		c.constant, c.hasConst = v.Clone(), true
	case !c.constant.Equal(v):
		return fmt.Errorf("the constant changes within the row group")
	}
	return nil
}

// finish returns the chunk of a row group of that many rows.
func (c *columnEncoder) finish(rows int64) (EncodedChunk, error) {
	switch c.form {
	case formRaw:
		if have := c.raw.file.groups[c.raw.rowGroup].Rows; have != rows {
			return EncodedChunk{}, fmt.Errorf("the row group has %d rows, the column chunk to be copied %d", rows, have)
		}
		return EncodedChunk{Leaf: c.leaf, Raw: c.raw}, nil
	case formConst:
		if err := c.constPages(rows); err != nil {
			return EncodedChunk{}, err
		}
	default:
		if err := c.flush(); err != nil {
			return EncodedChunk{}, err
		}
	}
	return c.chunk()
}

// chunk puts the pages together, the dictionary before them.
func (c *columnEncoder) chunk() (EncodedChunk, error) {
	if err := c.placePending(); err != nil {
		return EncodedChunk{}, err
	}
	out := EncodedChunk{Leaf: c.leaf, Values: c.entries, Uncompressed: c.uncompressed, Codec: c.codecHere(),
		Stats: c.stats, Index: c.index}
	if c.leaf.MaxDef > 0 || c.leaf.MaxRep > 0 {
		c.addEncoding(encoding.RLE)
	}
	if slices.Contains(c.encodings, encoding.RLEDictionary) {
		if err := c.dictPage(&out); err != nil {
			return out, err
		}
	} else {
		out.Pages, c.pages = c.pages, Pages{}
	}
	out.Encodings = c.encodings
	c.index, c.encodings = nil, nil // the caller's now
	return out, nil
}

// dictPage writes the dictionary page and the data pages behind it.
func (c *columnEncoder) dictPage(out *EncodedChunk) error {
	packed, err := c.shared.compress(c.dict.Plain(), out.Codec)
	if err != nil {
		return err
	}
	var header [64]byte
	h := appendPageHeader(header[:0], pageDictionary, encoding.Plain, c.dict.Len(), len(c.dict.Plain()), packed)
	out.DictBytes = int64(len(h) + len(packed))
	out.Uncompressed += int64(len(h) + len(c.dict.Plain()))
	out.Pages.add(h, packed)
	out.Pages.join(&c.pages)
	for i := range out.Index {
		out.Index[i].Offset += out.DictBytes
	}
	c.addEncoding(encoding.Plain)
	return nil
}

func (c *columnEncoder) addEncoding(e int32) {
	if !slices.Contains(c.encodings, e) {
		c.encodings = append(c.encodings, e)
		slices.Sort(c.encodings)
	}
}
