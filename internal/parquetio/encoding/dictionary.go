package encoding

import (
	"bytes"
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// A Dictionary numbers distinct values in the order of their first appearance. Its zero value takes none: call Reset first.
type Dictionary struct {
	width   int      // bytes of a value; 0: of varying length, which plain has before the value
	entries int      // at most
	size    int      // bytes of plain, at most
	plain   []byte   // the entries in PLAIN encoding
	starts  []uint32 // of each entry's value in plain
	hashes  []uint32
	table   []uint32 // open addressing: entry + 1
}

// Reset empties the dictionary, for values of width bytes; 0: of varying length. It takes at most so many entries, of size bytes together.
func (d *Dictionary) Reset(width, entries, size int) {
	d.width, d.entries, d.size = width, entries, size
	d.plain, d.starts, d.hashes = d.plain[:0], d.starts[:0], d.hashes[:0]
	clear(d.table)
}

// Only makes v the one entry of the dictionary, whatever its size. Number is not called before the next Reset.
func (d *Dictionary) Only(width int, v []byte) {
	d.Reset(width, 0, 0)
	d.add(v)
}

// Len returns the number of entries.
func (d *Dictionary) Len() int { return len(d.starts) }

// Plain returns the entries in PLAIN encoding, until the dictionary changes.
func (d *Dictionary) Plain() []byte { return d.plain }

// Value returns entry i, until the dictionary changes.
func (d *Dictionary) Value(i uint32) []byte {
	at := d.starts[i]
	if d.width > 0 {
		return d.plain[at : int(at)+d.width]
	}
	n := binary.LittleEndian.Uint32(d.plain[at-4:])
	return d.plain[at : at+n]
}

// Number returns the number of v, which it adds where it is new; false where the dictionary is full.
func (d *Dictionary) Number(v []byte) (uint32, bool) {
	if len(d.starts)*2 >= len(d.table) {
		d.grow()
	}
	h := uint32(xxh3.Hash(v))
	mask := uint32(len(d.table) - 1)
	i := h & mask
	for ; d.table[i] != 0; i = (i + 1) & mask {
		if e := d.table[i] - 1; d.hashes[e] == h && bytes.Equal(d.Value(e), v) {
			return e, true
		}
	}
	if len(d.starts) >= d.entries || len(d.plain)+4+len(v) > d.size {
		return 0, false
	}
	e := d.add(v)
	d.hashes = append(d.hashes, h)
	d.table[i] = e + 1
	return e, true
}

// add adds an entry and returns its number.
func (d *Dictionary) add(v []byte) uint32 {
	if d.width == 0 {
		d.plain = binary.LittleEndian.AppendUint32(d.plain, uint32(len(v)))
	}
	d.starts = append(d.starts, uint32(len(d.plain)))
	d.plain = append(d.plain, v...)
	return uint32(len(d.starts) - 1)
}

func (d *Dictionary) grow() {
	d.table = make([]uint32, max(1024, 2*len(d.table)))
	mask := uint32(len(d.table) - 1)
	for e, h := range d.hashes {
		i := h & mask
		for d.table[i] != 0 {
			i = (i + 1) & mask
		}
		d.table[i] = uint32(e) + 1
	}
}
