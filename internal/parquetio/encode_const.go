package parquetio

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/rlprep/rlprep/schema"
)

// constRows is how many rows of a constant go into one page: they cost nothing there, but a reader may expand them.
const constRows = 1 << 20

// constSmall is the size up to which a constant is not compressed: a codec's frame would cost more than it saves.
const constSmall = 256

// codecHere returns the codec of the chunk.
func (c *columnEncoder) codecHere() Codec {
	if c.form == formConst && c.kind != kindBool && len(c.dict.plain) <= constSmall {
		return None
	}
	return c.codec
}

// constPages makes the chunk of a constant: a dictionary of one entry and runs that point to it. A null is levels alone, and
// booleans, which have no dictionaries, are bits.
func (c *columnEncoder) constPages(rows int64) error {
	if c.leaf.MaxRep > 0 {
		return fmt.Errorf("a constant cannot fill a column in a list")
	}
	level, encoding := c.leaf.MaxDef, int32(encRLEDictionary)
	c.dict.reset(0)
	c.state = dictRefused
	var b bounds
	switch {
	case c.constant.IsNull():
		if !c.leaf.Nullable {
			return fmt.Errorf("null in a column that takes none")
		}
		level--
		encoding = encPlain
	case c.constant.Kind() == schema.Bool && c.leaf.Type.Kind == schema.Bool:
		c.kind = kindBool
		encoding = encPlain
		c.shared.values = append(c.shared.values[:0], boolByte(c.constant.Bool()))
		b.add(orderBool, c.shared.values)
	default:
		if err := c.constDict(); err != nil {
			return err
		}
		b.add(c.ordering(), c.dict.value(0))
	}
	for rows > 0 {
		n := int(min(rows, constRows))
		body := c.shared.body[:0]
		if c.leaf.MaxDef > 0 {
			body = appendConstLevels(body, level, n, c.leaf.MaxDef)
		}
		info := PageInfo{FirstRow: c.rows, Values: int64(n)}
		switch {
		case c.constant.IsNull():
			info.AllNull, info.Stats.Nulls = true, int64(n)
		case c.kind == kindBool:
			body = appendBoolRun(body, c.constant.Bool(), n)
		default:
			body = appendRun(append(body, 1), 0, n, 1)
		}
		if !info.AllNull {
			info.Stats = b.stats(c.ordering(), 0)
		}
		c.shared.body = body
		if err := c.writePage(body, encoding, info, int64(n)); err != nil {
			return err
		}
		rows -= int64(n)
	}
	return nil
}

// constDict makes the dictionary of the constant.
func (c *columnEncoder) constDict() error {
	t, v := c.leaf.Type, c.constant
	d := &c.dict
	switch {
	case t.Kind == schema.Text && v.Kind() == schema.Text, t.Kind == schema.Binary && v.Kind() == schema.Binary:
		if t.Form == schema.Fixed {
			if len(v.Text()) != t.Size {
				return fmt.Errorf("a value of %d bytes in a column of type %s", len(v.Text()), t)
			}
			d.width = t.Size
		} else {
			d.plain = binary.LittleEndian.AppendUint32(d.plain, uint32(len(v.Text())))
		}
		d.starts = append(d.starts, uint32(len(d.plain)))
		d.plain = append(d.plain, v.Text()...)
		return nil
	case t.Kind == schema.Int && v.Kind() == schema.Int:
		if lo, hi := intRange(t); v.Int() < lo || v.Int() > hi {
			return fmt.Errorf("%d is beyond %s", v.Int(), t)
		}
		c.ints = true
		d.plain = binary.LittleEndian.AppendUint64(d.plain, uint64(v.Int()))
	case t.Kind == schema.Float && t.Bits == 64 && (v.Kind() == schema.Float || v.Kind() == schema.Int):
		d.plain = binary.LittleEndian.AppendUint64(d.plain, math.Float64bits(v.Float()))
	case t.Kind == schema.Float && t.Bits == 32 && (v.Kind() == schema.Float || v.Kind() == schema.Int):
		d.plain = binary.LittleEndian.AppendUint32(d.plain, math.Float32bits(float32(v.Float())))
	default:
		return fmt.Errorf("a constant of kind %s cannot go into a column of type %s", v.Kind(), t)
	}
	d.width = 8
	if t.Bits <= 32 {
		d.width, d.plain = 4, d.plain[:4]
	}
	d.starts = append(d.starts, 0)
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
	b = appendFill(b, whole, n/8)
	if n%8 > 0 {
		b = append(b, whole>>(8-n%8))
	}
	return b
}
