package encoding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/bitpack"
	"github.com/parquet-go/bitpack/unsafecast"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
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
	var u unpacker
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
			size := per / 8 * int(w)
			if w > 64 || size > len(d.b) {
				return nil, nil, errDeltaShort
			}
			k := min(per, left)
			dst, prev = u.appendSums(dst, d.b, k, int(w), prev, least, width)
			d.b = d.b[size:]
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

// An unpacker unpacks miniblocks with parquet-go's bitpack, which reads some bytes beyond those that it unpacks.
type unpacker struct {
	values [256]uint64
	padded [256*8 + bitpack.PaddingInt64]byte // a copy of the last bytes of a page, which has none beyond them
}

// appendSums unpacks n differences of w bits from the front of b, adds each of them and least to prev, and appends the sums to dst, width
// bytes each. It returns the last sum. b has the bits.
func (u *unpacker) appendSums(dst, b []byte, n, w int, prev, least uint64, width int) ([]byte, uint64) {
	dst = slices.Grow(dst, n*width)
	for n > 0 {
		values := u.values[:min(n, len(u.values))] // as many as fill whole bytes, but for the last ones
		n -= len(values)
		u.unpack(values, b, w)
		b = b[min(len(values)*w/8, len(b)):]
		at := len(dst)
		dst = dst[:at+len(values)*width]
		if width == 4 {
			for i, v := range values {
				prev += v + least
				binary.LittleEndian.PutUint32(dst[at+4*i:], uint32(prev))
			}
			continue
		}
		for i, v := range values {
			prev += v + least
			binary.LittleEndian.PutUint64(dst[at+8*i:], prev)
		}
	}
	return dst, prev
}

// unpack fills values from the front of b, w bits each.
func (u *unpacker) unpack(values []uint64, b []byte, w int) {
	if w == 0 {
		clear(values)
		return
	}
	size := (len(values)*w + 7) / 8
	if len(b) < size+bitpack.PaddingInt64 {
		copy(u.padded[:size], b)
		b = u.padded[:]
	}
	bitpack.Unpack(values, b, uint(w))
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
	size, total := 0, 0 // of a value, and of those so far
	for i, p := range prefixes {
		if int(p) > size {
			return nil, nil, fmt.Errorf("value %d: shares %d bytes with a value of %d", i, p, size)
		}
		size = int(p) + int(ends[i+1]-ends[i])
		if total += size; total > limit {
			return nil, nil, fmt.Errorf("value %d: the page grows beyond %d bytes", i, limit)
		}
		offsets[i+1] = int32(total)
	}
	data = make([]byte, 0, total)
	for i, p := range prefixes {
		prev := data[offsets[max(i-1, 0)]:]
		data = append(append(data, prev[:p]...), suffixes[ends[i]:ends[i+1]]...)
	}
	return offsets, data, nil
}

// DecodeByteStreamSplit decodes n values of width bytes in BYTE_STREAM_SPLIT, which has the first bytes of all values, then their second
// bytes, and so on. The result is in memory of its own.
func DecodeByteStreamSplit(b []byte, n, width int) ([]byte, error) {
	if len(b) < n*width {
		return nil, errDeltaShort
	}
	b = b[:n*width]
	var split bytestreamsplit.Encoding
	switch width { // parquet-go has vector instructions for these
	case 4:
		v, err := split.DecodeInt32(make([]int32, n), b)
		return unsafecast.Slice[byte](v), err
	case 8:
		v, err := split.DecodeInt64(make([]int64, n), b)
		return unsafecast.Slice[byte](v), err
	}
	dst := make([]byte, len(b))
	for j := range width {
		for i, v := range b[j*n : (j+1)*n] {
			dst[i*width+j] = v
		}
	}
	return dst, nil
}
