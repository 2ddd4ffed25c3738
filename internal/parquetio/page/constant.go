package page

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/rlprep/rlprep/internal/parquetio/compress"
	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/schema"
)

// constRows is how many rows of a constant go into one page: they cost nothing there, but a reader may expand them.
const constRows = 1 << 20

// constSmall is the size up to which a constant is not compressed: a codec's frame would cost more than it saves.
const constSmall = 256

// codecHere returns the codec of the chunk.
func (c *Encoder) codecHere() compress.Codec {
	if c.form == formConst && c.kind != kindBool && len(c.dict.Plain()) <= constSmall {
		return compress.None
	}
	return c.codec
}

// constPages makes the chunk of a constant: a dictionary of one entry and runs that point to it. A null is levels alone, and
// booleans, which have no dictionaries, are bits.
func (c *Encoder) constPages(rows int64) error {
	if c.leaf.MaxRep > 0 {
		return fmt.Errorf("a constant cannot fill a column in a list")
	}
	level, enc := c.leaf.MaxDef, int32(encoding.RLEDictionary)
	c.dict.Reset(0, 0, 0)
	c.state = dictRefused
	var b bounds
	switch {
	case c.constant.IsNull():
		if !c.leaf.Nullable {
			return fmt.Errorf("null in a column that takes none")
		}
		level--
		enc = encoding.Plain
	case c.constant.Kind() == schema.Bool && c.leaf.Type.Kind == schema.Bool:
		c.kind = kindBool
		enc = encoding.Plain
		c.shared.values = append(c.shared.values[:0], boolByte(c.constant.Bool()))
		b.add(orderBool, c.shared.values)
	default:
		if err := c.constDict(); err != nil {
			return err
		}
		b.add(c.ordering(), c.dict.Value(0))
	}
	for rows > 0 {
		n := int(min(rows, constRows))
		body := c.shared.body[:0]
		if c.leaf.MaxDef > 0 {
			body = encoding.AppendConstLevels(body, level, n, c.leaf.MaxDef)
		}
		info := Info{FirstRow: c.rows, Values: int64(n)}
		switch {
		case c.constant.IsNull():
			info.AllNull, info.Stats.Nulls = true, int64(n)
		case c.kind == kindBool:
			body = appendBoolRun(body, c.constant.Bool(), n)
		default:
			body = encoding.AppendRun(append(body, 1), 0, n, 1)
		}
		if !info.AllNull {
			info.Stats = b.stats(c.ordering(), 0)
		}
		c.shared.body = body
		if err := c.writePage(body, enc, info, int64(n)); err != nil {
			return err
		}
		rows -= int64(n)
	}
	return nil
}

// constDict makes the dictionary of the constant.
func (c *Encoder) constDict() error {
	t, v := c.leaf.Type, c.constant
	if t.Kind == schema.Text && v.Kind() == schema.Text || t.Kind == schema.Binary && v.Kind() == schema.Binary {
		width := 0
		if t.Layout == schema.Fixed {
			if width = t.Size; len(v.Text()) != width {
				return fmt.Errorf("a value of %d bytes in a column of type %s", len(v.Text()), t)
			}
		}
		c.dict.Only(width, []byte(v.Text()))
		return nil
	}
	var plain [8]byte
	switch {
	case t.Kind == schema.Int && v.Kind() == schema.Int:
		if lo, hi := intRange(t); v.Int() < lo || v.Int() > hi {
			return fmt.Errorf("%d is beyond %s", v.Int(), t)
		}
		c.ints = true
		binary.LittleEndian.PutUint64(plain[:], uint64(v.Int()))
	case t.Kind == schema.Float && t.Bits == 64 && (v.Kind() == schema.Float || v.Kind() == schema.Int):
		binary.LittleEndian.PutUint64(plain[:], math.Float64bits(v.Float()))
	case t.Kind == schema.Float && t.Bits == 32 && (v.Kind() == schema.Float || v.Kind() == schema.Int):
		binary.LittleEndian.PutUint32(plain[:], math.Float32bits(float32(v.Float())))
	default:
		return fmt.Errorf("a constant of kind %s cannot go into a column of type %s", v.Kind(), t)
	}
	width := 8
	if t.Bits <= 32 {
		width = 4
	}
	c.dict.Only(width, plain[:width])
	return nil
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// appendBoolRun appends n equal booleans in PLAIN encoding.
func appendBoolRun(b []byte, v bool, n int) []byte {
	whole := byte(0)
	if v {
		whole = 0xFF
	}
	b = encoding.AppendFill(b, whole, n/8)
	if n%8 > 0 {
		b = append(b, whole>>(8-n%8))
	}
	return b
}
