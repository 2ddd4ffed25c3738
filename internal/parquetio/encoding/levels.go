// Package encoding holds the encodings of values and levels inside the pages of Parquet files: bytes in, bytes out. Decoders never look
// beyond their input and never allocate more than the caller asked for, whatever damaged input claims.
package encoding

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// The encodings of the format, by their number in it.
const (
	Plain           = 0
	PlainDictionary = 2
	RLE             = 3
	BitPacked       = 4
	Delta           = 5
	DeltaLength     = 6
	DeltaByteArray  = 7
	RLEDictionary   = 8
	ByteStreamSplit = 9
)

// AppendLevels appends the levels of a v1 page to b: the length in four bytes, then the RLE / bit-packed hybrid. No level is above highest.
func AppendLevels(b []byte, levels []uint8, highest uint8) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	width := bits.Len8(highest)
	if len(levels) > 0 && bytes.Count(levels, levels[:1]) == len(levels) { // the usual case, found without comparing each
		b = AppendRun(b, uint32(levels[0]), len(levels), width)
	} else {
		b = AppendHybrid(b, levels, width)
	}
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// AppendConstLevels is AppendLevels for n equal levels.
func AppendConstLevels(b []byte, level uint8, n int, highest uint8) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = AppendRun(b, uint32(level), n, bits.Len8(highest))
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// AppendRun appends one RLE run of n values v, of width bits each.
func AppendRun(b []byte, v uint32, n, width int) []byte {
	b = binary.AppendUvarint(b, uint64(n)<<1)
	for ; width > 0; width -= 8 {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}

// AppendHybrid appends values, of width bits each, in the RLE / bit-packed hybrid: as a run where eight or more are equal, bit-packed in
// groups of eight elsewhere.
func AppendHybrid[T uint8 | uint32](b []byte, values []T, width int) []byte {
	literal := 0 // start of the values not written yet
	for i := 0; i < len(values); {
		end := i + 1
		for end < len(values) && values[end] == values[i] {
			end++
		}
		pad := (8 - (i-literal)%8) % 8 // what the open group still takes
		if end-i < 8+pad {
			i = end
			continue
		}
		b = appendPacked(b, values[literal:i+pad], width)
		b = AppendRun(b, uint32(values[i]), end-i-pad, width)
		i, literal = end, end
	}
	return appendPacked(b, values[literal:], width)
}

// appendPacked appends one bit-packed run; the last group of eight is filled up with zeros.
func appendPacked[T uint8 | uint32](b []byte, values []T, width int) []byte {
	if len(values) == 0 {
		return b
	}
	groups := (len(values) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	var acc uint64
	have := 0
	for _, v := range values {
		acc |= uint64(v) << have
		have += width
		for have >= 8 {
			b = append(b, byte(acc))
			acc >>= 8
			have -= 8
		}
	}
	for left := groups*8 - len(values); left > 0; left-- {
		have += width
		for have >= 8 {
			b = append(b, byte(acc))
			acc >>= 8
			have -= 8
		}
	}
	return b
}

// AppendFill appends n times v.
func AppendFill(b []uint8, v uint8, n int) []uint8 {
	b = slices.Grow(b, n)
	fill := b[len(b) : len(b)+n]
	for i := range fill {
		fill[i] = v
	}
	return b[:len(b)+n]
}
