package page

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/rlprep/rlprep/internal/parquetio/compress"
	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/schema"
)

// flush makes a page of what is open.
func (c *Encoder) flush() error {
	if c.open == 0 {
		return nil
	}
	if c.count == 0 && len(c.values) == 0 {
		c.values = append(c.values[:0], make([]byte, headroom)...)
	}
	o := c.ordering()
	bounds := c.bounds(o)
	enc := c.choose()
	body, err := c.body(enc)
	if err != nil {
		return err
	}
	entries := max(len(c.def), len(c.rep), c.count)
	info := Info{FirstRow: c.rows, Values: int64(entries), AllNull: c.count == 0,
		Stats: bounds.stats(o, int64(entries-c.count))}
	if err := c.writePage(body, enc, info, int64(c.open)); err != nil {
		return err
	}
	c.clearPage()
	return nil
}

// writePage compresses a page and appends it to the chunk, now or when others have compressed it.
func (c *Encoder) writePage(body []byte, enc int32, info Info, rows int64) error {
	if len(body) > math.MaxInt32 || info.Values > math.MaxInt32 {
		return fmt.Errorf("rows from %d of the row group: a page of %d bytes and %d values (Parquet's limit is 2 GiB)", c.rows, len(body), info.Values)
	}
	info.Encoding = enc
	c.rows += rows
	c.entries += info.Values
	c.addEncoding(enc)
	if info.AllNull {
		c.stats.Nulls += info.Stats.Nulls
	} else {
		c.stats.merge(c.ordering(), info.Stats, !c.bounded)
		c.bounded = true
	}
	if p := c.shared.pack(body, c.codecHere()); p != nil {
		c.pending = append(c.pending, pendingPage{p, info, len(body)})
		return nil
	}
	packed, err := c.shared.compress(body, c.codecHere())
	if err == nil {
		err = c.placePending()
	}
	if err == nil {
		c.place(packed, info, len(body))
	}
	return err
}

// A pendingPage is a page that is being compressed.
type pendingPage struct {
	*packing
	info Info
	size int // uncompressed
}

// placePending appends the pages that were compressed elsewhere, when they are ready.
func (c *Encoder) placePending() error {
	for _, p := range c.pending {
		<-p.done
		if p.err != nil {
			return p.err
		}
		c.place(p.packed, p.info, p.size)
		PutBuffer(p.packed)
	}
	c.pending = c.pending[:0]
	return nil
}

// place appends a compressed page to the chunk.
func (c *Encoder) place(packed []byte, info Info, size int) {
	var header [64]byte
	h := appendHeader(header[:0], Data, info.Encoding, int(info.Values), size, packed)
	info.Offset, info.Size = c.pages.Len(), int64(len(h)+len(packed))
	if int64(size) >= Limits.Huge && c.codecHere() != compress.None {
		c.pages.addOwned(h, packed)
	} else {
		c.pages.add(h, packed)
	}
	c.index = append(c.index, info)
	c.uncompressed += int64(len(h) + size)
}

// choose decides the encoding of the open page, for the whole chunk where it is the first that holds values.
func (c *Encoder) choose() int32 {
	switch {
	case c.state == dictUsed:
		return encoding.RLEDictionary
	case c.count == 0:
		return encoding.Plain
	case c.plainAs < 0:
		c.plainAs = c.plainEncoding()
	}
	if c.state == dictTrying {
		size := len(c.values) - headroom
		if c.plainAs == encoding.Delta {
			size = len(c.shared.values)
		}
		if c.dictCost() <= size/4*3 {
			c.state = dictUsed
		} else {
			c.state = dictRefused
		}
	}
	if c.state == dictUsed {
		return encoding.RLEDictionary
	}
	return c.plainAs
}

// plainEncoding chooses between PLAIN and DELTA_BINARY_PACKED by trying, which leaves the attempt in the scratch.
func (c *Encoder) plainEncoding() int32 {
	if !c.ints {
		return encoding.Plain
	}
	c.shared.values = c.delta(c.shared.values[:0])
	if len(c.shared.values) <= (len(c.values)-headroom)/10*9 {
		return encoding.Delta
	}
	return encoding.Plain
}

func (c *Encoder) delta(b []byte) []byte {
	if c.width == 4 {
		return encoding.AppendDelta32(b, c.values[headroom:])
	}
	return encoding.AppendDelta64(b, c.values[headroom:])
}

// body returns the page before compression. PLAIN values stay where they were gathered, with the levels put before them.
func (c *Encoder) body(enc int32) ([]byte, error) {
	b := c.shared.body[:0]
	if c.leaf.MaxRep > 0 {
		b = encoding.AppendLevels(b, c.rep, c.leaf.MaxRep)
	}
	if c.leaf.MaxDef > 0 {
		b = encoding.AppendLevels(b, c.def, c.leaf.MaxDef)
	}
	switch {
	case enc == encoding.RLEDictionary:
		width := indexWidth(c.dict.Len())
		b = encoding.AppendHybrid(append(b, byte(width)), c.numbers, width)
	case enc == encoding.Delta:
		b = c.delta(b)
	case c.kind == kindBool:
		b = appendBools(b, c.values[min(headroom, len(c.values)):])
	case len(b) <= headroom:
		page := c.values[headroom-len(b):]
		copy(page, b)
		c.shared.body = b
		return page, nil
	default:
		b = append(b, c.values[headroom:]...)
	}
	c.shared.body = b
	return b, nil
}

// appendBools packs booleans, a byte each, into bits.
func appendBools(b, values []byte) []byte {
	for len(values) > 0 {
		n := min(8, len(values))
		var packed byte
		for i, v := range values[:n] {
			packed |= v << i
		}
		b = append(b, packed)
		values = values[n:]
	}
	return b
}

// ordering returns how values of this chunk compare; it is known once there are values.
func (c *Encoder) ordering() ordering {
	o := orderingOf(c.leaf.Type)
	if k := c.leaf.Type.Kind; (k == schema.Time || k == schema.Decimal) && !c.ints {
		return unordered // INT96, and decimals in bytes, which compare by two's complement
	}
	return o
}

// bounds finds the least and greatest value of the open page.
func (c *Encoder) bounds(o ordering) bounds {
	var b bounds
	switch {
	case o == unordered || c.count == 0:
	case c.state != dictRefused: // the numbers are all there
		c.boundNumbers(&b, o)
	case c.kind == kindText:
		for v := c.values[headroom:]; len(v) > 0; {
			n := int(binary.LittleEndian.Uint32(v)) + 4
			b.add(o, v[4:n:n])
			v = v[n:]
		}
	default:
		width := max(c.width, 1) // a boolean is a byte here
		for v := c.values[headroom:]; len(v) > 0; v = v[width:] {
			b.add(o, v[:width:width])
		}
	}
	return b
}

func (c *Encoder) boundNumbers(b *bounds, o ordering) {
	seen := slices.Grow(c.shared.seen[:0], c.dict.Len())[:c.dict.Len()]
	clear(seen)
	c.shared.seen = seen
	for _, n := range c.numbers {
		if !seen[n] {
			seen[n] = true
			b.add(o, c.dict.Value(n))
		}
	}
}
