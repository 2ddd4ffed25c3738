package encoding

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errDeltaShort = errors.New("delta-encoded values are cut off")

// DecodeDelta decodes n DELTA_BINARY_PACKED integers of width bytes (4 or 8) from the front of b, appends them to dst in PLAIN encoding, and
// returns the bytes after them.
func DecodeDelta(dst, b []byte, n, width int) (out, rest []byte, err error) {
	d := deltaReader{b: b}
	block, minis, total, first := d.uvarint(), d.uvarint(), d.uvarint(), d.varint()
	switch {
	case d.short:
		return nil, nil, errDeltaShort
	case total != uint64(n):
		return nil, nil, fmt.Errorf("%d delta-encoded values, but the page has %d", total, n)
	case n == 0:
		return dst, d.b, nil
	case minis == 0 || minis > 1<<10 || block == 0 || block > 1<<20 || block%minis != 0 || block/minis%8 != 0:
		return nil, nil, fmt.Errorf("delta-encoded in blocks of %d values in %d miniblocks", block, minis)
	}
	dst = appendWidth(dst, uint64(first), width)
	prev, per := uint64(first), int(block/minis)
	for left := n - 1; left > 0; {
		least := uint64(d.varint())
		if d.short || uint64(len(d.b)) < minis {
			return nil, nil, errDeltaShort
		}
		widths := d.b[:minis]
		d.b = d.b[minis:]
		for _, w := range widths {
			if left == 0 {
				break
			}
			k := min(per, left)
			size := per / 8 * int(w)
			if w > 64 || size > len(d.b) {
				return nil, nil, errDeltaShort
			}
			mini := d.b[:size]
			d.b = d.b[size:]
			for i := range k {
				if w > 0 {
					prev += unpack64(mini, i*int(w), int(w))
				}
				prev += least
				dst = appendWidth(dst, prev, width)
			}
			left -= k
		}
	}
	return dst, d.b, nil
}

func appendWidth(b []byte, v uint64, width int) []byte {
	if width == 4 {
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// unpack64 returns the value of width bits, 1 to 64, at bit at of b.
func unpack64(b []byte, at, width int) uint64 {
	from := at >> 3
	if from+9 <= len(b) {
		v := binary.LittleEndian.Uint64(b[from:]) >> (at & 7)
		v |= uint64(b[from+8]) << 1 << (63 - at&7)
		return v & (1<<width - 1)
	}
	var tail [16]byte
	copy(tail[:], b[from:])
	v := binary.LittleEndian.Uint64(tail[:]) >> (at & 7)
	v |= uint64(tail[8]) << 1 << (63 - at&7)
	return v & (1<<width - 1)
}

type deltaReader struct {
	b     []byte
	short bool
}

func (d *deltaReader) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.short = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *deltaReader) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// undeltaLengths decodes n lengths and returns them with the bytes after them.
func undeltaLengths(b []byte, n int) (lengths []int32, rest []byte, err error) {
	plain, rest, err := DecodeDelta(nil, b, n, 4)
	if err != nil {
		return nil, nil, err
	}
	lengths = make([]int32, n)
	for i := range lengths {
		if lengths[i] = int32(binary.LittleEndian.Uint32(plain[4*i:])); lengths[i] < 0 {
			return nil, nil, fmt.Errorf("value %d: negative length", i)
		}
	}
	return lengths, rest, nil
}

// DecodeDeltaLength decodes n values in DELTA_LENGTH_BYTE_ARRAY: n+1 offsets into data, which is a view of b.
func DecodeDeltaLength(b []byte, n int) (offsets []int32, data []byte, err error) {
	lengths, rest, err := undeltaLengths(b, n)
	if err != nil {
		return nil, nil, err
	}
	offsets = make([]int32, n+1)
	total := int64(0)
	for i, l := range lengths {
		if total += int64(l); total > int64(len(rest)) {
			return nil, nil, errDeltaShort
		}
		offsets[i+1] = int32(total)
	}
	return offsets, rest[:total], nil
}

// DecodeDeltaByteArray decodes n values in DELTA_BYTE_ARRAY, where each value shares a prefix with the one before: n+1 offsets into data.
// More than limit bytes are an error: a few bytes can claim gigabytes.
func DecodeDeltaByteArray(b []byte, n, limit int) (offsets []int32, data []byte, err error) {
	prefixes, rest, err := undeltaLengths(b, n)
	if err != nil {
		return nil, nil, err
	}
	ends, suffixes, err := DecodeDeltaLength(rest, n)
	if err != nil {
		return nil, nil, err
	}
	offsets = make([]int32, n+1)
	data = make([]byte, 0, len(suffixes))
	for i, p := range prefixes {
		prev := data[offsets[max(i-1, 0)]:]
		if int(p) > len(prev) {
			return nil, nil, fmt.Errorf("value %d: shares %d bytes with a value of %d", i, p, len(prev))
		}
		data = append(append(data, prev[:p]...), suffixes[ends[i]:ends[i+1]]...)
		if len(data) > limit {
			return nil, nil, fmt.Errorf("value %d: the page grows beyond %d bytes", i, limit)
		}
		offsets[i+1] = int32(len(data))
	}
	return offsets, data, nil
}

// DecodeByteStreamSplit decodes n values of width bytes in BYTE_STREAM_SPLIT, which has the first bytes of all values, then their second
// bytes, and so on. The result is in the memory of dst where that has room.
func DecodeByteStreamSplit(dst, b []byte, n, width int) ([]byte, error) {
	if len(b) < n*width {
		return nil, errDeltaShort
	}
	dst = append(dst[:0], b[:n*width]...)
	for i := range n {
		for j := range width {
			dst[i*width+j] = b[j*n+i]
		}
	}
	return dst, nil
}
