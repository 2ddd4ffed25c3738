package page

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

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

// Append adds the leaf's rows of one slice; before is how many rows the row group has before it.
func (c *Encoder) Append(b *record.Batch, l *record.Leaf, before int64) error {
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

// appendRaw takes a column chunk that is to be copied whole.
func (c *Encoder) appendRaw(b *record.Batch, r *record.Raw) error {
	switch {
	case c.raw != nil && c.raw != r.Chunk:
		return fmt.Errorf("the column chunk changes within the row group")
	case b.Source != nil:
		return fmt.Errorf("rows were dropped or moved: a column chunk cannot be copied")
	}
	c.raw = r.Chunk
	return nil
}

func (c *Encoder) appendConst(v schema.Value) error {
	switch {
	case !c.hasConst:
		c.constant, c.hasConst = v.Clone(), true
	case !c.constant.Equal(v):
		return fmt.Errorf("the constant changes within the row group")
	}
	return nil
}

// Finish returns the pages of a row group of that many rows, or the column chunk that is to be copied in place of pages.
func (c *Encoder) Finish(rows int64) (p Encoded, raw any, err error) {
	switch c.form {
	case formRaw:
		return Encoded{}, c.raw, nil
	case formConst:
		err = c.constPages(rows)
	default:
		err = c.flush()
	}
	if err != nil {
		return Encoded{}, nil, err
	}
	p, err = c.encoded()
	return p, nil, err
}

// encoded puts the pages together, the dictionary before them.
func (c *Encoder) encoded() (Encoded, error) {
	if err := c.placePending(); err != nil {
		return Encoded{}, err
	}
	out := Encoded{Values: c.entries, Uncompressed: c.uncompressed, Codec: c.codecHere(),
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
func (c *Encoder) dictPage(out *Encoded) error {
	packed, err := c.shared.compress(c.dict.Plain(), out.Codec)
	if err != nil {
		return err
	}
	var header [64]byte
	h := appendHeader(header[:0], Dictionary, encoding.Plain, c.dict.Len(), len(c.dict.Plain()), packed)
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

func (c *Encoder) addEncoding(e int32) {
	if !slices.Contains(c.encodings, e) {
		c.encodings = append(c.encodings, e)
		slices.Sort(c.encodings)
	}
}
