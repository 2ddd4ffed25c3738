package encoding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/bitpack"
)

var (
	errRunsShort   = errors.New("runs end before the values do")
	errLevelAbove  = errors.New("a level is above its maximum")
	errLevelsShort = errors.New("levels are cut off")
)

// A Hybrid reads the RLE / bit-packed hybrid. It never looks beyond its bytes and never allocates.
type Hybrid struct {
	b     []byte
	width int // bits of a value, 0 to 32

	run   int // values left of an RLE run
	value uint32

	packed    []byte // a bit-packed run
	at        int    // bit of its next value
	packedRun int    // values left of it
}

// NewHybrid returns a Hybrid that reads values of width bits, 0 to 32, from b.
func NewHybrid(b []byte, width int) Hybrid { return Hybrid{b: b, width: width} }

// next reads the header of the next run.
func (h *Hybrid) next() error {
	head, n := binary.Uvarint(h.b)
	if n <= 0 {
		return errRunsShort
	}
	h.b = h.b[n:]
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if size > len(h.b) {
			return errRunsShort
		}
		h.value = 0
		for i := range size {
			h.value |= uint32(h.b[i]) << (8 * i)
		}
		h.b = h.b[size:]
		h.run = int(min(head>>1, 1<<40))
		return nil
	}
	groups := int(min(head>>1, 1<<40))
	values := groups * 8
	size := len(h.b)
	if h.width > 0 { // not every writer fills up its last group, but it begins
		if size <= (groups-1)*h.width {
			return errRunsShort
		}
		size = min(size, values/8*h.width)
		values = min(values, size*8/h.width)
	} else {
		size = 0
	}
	h.packed, h.b = h.b[:size], h.b[size:]
	h.at, h.packedRun = 0, values
	return nil
}

// ReadHybrid fills dst with the next values of h, or returns an error where h ends before that.
func ReadHybrid[T uint8 | uint32](h *Hybrid, dst []T) error {
	for len(dst) > 0 {
		switch {
		case h.run > 0:
			n := min(h.run, len(dst))
			v := T(h.value)
			for i := range dst[:n] {
				dst[i] = v
			}
			h.run -= n
			dst = dst[n:]
		case h.packedRun > 0:
			n := min(h.packedRun, len(dst))
			unpack(dst[:n], h.packed, h.at, h.width)
			h.at += n * h.width
			h.packedRun -= n
			dst = dst[n:]
		default:
			if err := h.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpack reads bit-packed values, lowest bits first, from bit at of b on. Width is at most 32.
func unpack[T uint8 | uint32](dst []T, b []byte, at, width int) {
	if numbers, ok := any(dst).([]uint32); ok {
		n := unpackNumbers(numbers, b, at, width)
		dst, at = dst[n:], at+n*width
	}
	mask := uint64(1)<<width - 1
	i := 0
	for last := len(b) - 8; i < len(dst) && at>>3 <= last; i++ {
		dst[i] = T(binary.LittleEndian.Uint64(b[at>>3:]) >> (at & 7) & mask)
		at += width
	}
	if i == len(dst) {
		return
	}
	var tail [16]byte // what is left is less than eight bytes: give it room to be loaded from
	from := min(at>>3, len(b))
	copy(tail[:], b[from:])
	for at -= from * 8; i < len(dst); i++ {
		dst[i] = T(binary.LittleEndian.Uint64(tail[at>>3:]) >> (at & 7) & mask)
		at += width
	}
}

// unpackNumbers is unpack by parquet-go's bitpack, for as many values as that can take: it begins at a whole byte, takes groups of eight, and
// reads some bytes beyond them. It returns how many it took.
func unpackNumbers(dst []uint32, b []byte, at, width int) int {
	if at%8 != 0 || width == 0 {
		return 0
	}
	n := min(len(dst), (len(b)-at/8-bitpack.PaddingInt32)*8/width) &^ 7
	if n <= 0 {
		return 0
	}
	bitpack.Unpack(dst[:n], b[at/8:], uint(width))
	return n
}

// ReadLevels reads len(dst) levels from the front of b, where v1 pages have them, and returns the bytes after them. enc is RLE or the
// deprecated BitPacked. Where all levels are equal to level, same is true and dst is not written.
func ReadLevels(dst []uint8, b []byte, highest uint8, enc int32) (rest []byte, level uint8, same bool, err error) {
	width := bits.Len8(highest)
	if enc == BitPacked { // long deprecated: no length, highest bits first
		size := (len(dst)*width + 7) / 8
		if size > len(b) {
			return nil, 0, false, errLevelsShort
		}
		unpackBigEndian(dst, b[:size], width)
		return b[size:], 0, false, checkLevels(dst, highest)
	}
	if enc != RLE {
		return nil, 0, false, fmt.Errorf("levels in encoding %d: the format has RLE and BIT_PACKED for them", enc)
	}
	if len(b) < 4 {
		return nil, 0, false, errLevelsShort
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if b = b[4:]; n > uint64(len(b)) {
		return nil, 0, false, errLevelsShort
	}
	level, same, err = ReadRawLevels(dst, b[:n], highest)
	return b[n:], level, same, err
}

// ReadRawLevels is ReadLevels for v2 pages, whose header has the length of b.
func ReadRawLevels(dst []uint8, b []byte, highest uint8) (level uint8, same bool, err error) {
	h := Hybrid{b: b, width: bits.Len8(highest)}
	if len(dst) == 0 {
		return 0, false, nil
	}
	if err := h.next(); err != nil {
		return 0, false, err
	}
	if h.run >= len(dst) {
		if h.value > uint32(highest) {
			return 0, false, errLevelAbove
		}
		return uint8(h.value), true, nil
	}
	if err := ReadHybrid(&h, dst); err != nil {
		return 0, false, err
	}
	return 0, false, checkLevels(dst, highest)
}

func checkLevels(levels []uint8, highest uint8) error {
	for _, l := range levels {
		if l > highest {
			return errLevelAbove
		}
	}
	return nil
}

func unpackBigEndian(dst []uint8, b []byte, width int) {
	bit := 0
	for i := range dst {
		v := uint8(0)
		for range width {
			v = v<<1 | b[bit/8]>>(7-bit%8)&1
			bit++
		}
		dst[i] = v
	}
}
