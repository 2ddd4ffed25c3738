package parquetio

import (
	"bytes"
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// Where a dictionary stops to be one.
var (
	dictEntries = 1 << 16
	dictBytes   = 1 << 20
)

// A dictionary numbers distinct values in the order of their first appearance.
type dictionary struct {
	width  int      // bytes of a value; 0: of varying length, which stands before the value
	plain  []byte   // the entries in PLAIN encoding
	starts []uint32 // of each entry's value in plain
	hashes []uint32
	table  []uint32 // open addressing: entry + 1
}

func (d *dictionary) reset(width int) {
	d.width = width
	d.plain, d.starts, d.hashes = d.plain[:0], d.starts[:0], d.hashes[:0]
	clear(d.table)
}

func (d *dictionary) len() int { return len(d.starts) }

// value returns entry i.
func (d *dictionary) value(i uint32) []byte {
	at := d.starts[i]
	if d.width > 0 {
		return d.plain[at : int(at)+d.width]
	}
	n := binary.LittleEndian.Uint32(d.plain[at-4:])
	return d.plain[at : at+n]
}

// number returns the number of v, which it adds when it is new; false when the dictionary is full.
func (d *dictionary) number(v []byte) (uint32, bool) {
	if len(d.starts)*2 >= len(d.table) {
		d.grow()
	}
	h := uint32(xxh3.Hash(v))
	mask := uint32(len(d.table) - 1)
	i := h & mask
	for ; d.table[i] != 0; i = (i + 1) & mask {
		if e := d.table[i] - 1; d.hashes[e] == h && bytes.Equal(d.value(e), v) {
			return e, true
		}
	}
	if len(d.starts) >= dictEntries || len(d.plain)+4+len(v) > dictBytes {
		return 0, false
	}
	if d.width == 0 {
		d.plain = binary.LittleEndian.AppendUint32(d.plain, uint32(len(v)))
	}
	e := uint32(len(d.starts))
	d.starts = append(d.starts, uint32(len(d.plain)))
	d.plain = append(d.plain, v...)
	d.hashes = append(d.hashes, h)
	d.table[i] = e + 1
	return e, true
}

func (d *dictionary) grow() {
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
