package parquetio

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Encodings of the format, by number.
const (
	encPlain           = 0
	encPlainDictionary = 2
	encRLE             = 3
	encBitPacked       = 4
	encDelta           = 5
	encDeltaLength     = 6
	encDeltaByteArray  = 7
	encRLEDictionary   = 8
	encByteStreamSplit = 9
)

// appendLevels appends the levels of a v1 page: the length in four bytes, then the RLE / bit-packed hybrid.
func appendLevels(b []byte, levels []uint8, highest uint8) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	width := bits.Len8(highest)
	if len(levels) > 0 && bytes.Count(levels, levels[:1]) == len(levels) { // the everyday case, without a look at each
		b = appendRun(b, uint32(levels[0]), len(levels), width)
	} else {
		b = appendHybrid(b, levels, width)
	}
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// appendConstLevels is appendLevels for n equal levels.
func appendConstLevels(b []byte, level uint8, n int, highest uint8) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = appendRun(b, uint32(level), n, bits.Len8(highest))
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// appendRun appends one RLE run.
func appendRun(b []byte, v uint32, n, width int) []byte {
	b = binary.AppendUvarint(b, uint64(n)<<1)
	for ; width > 0; width -= 8 {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}

// appendHybrid appends values as runs where eight or more are equal, bit-packed in eights elsewhere.
func appendHybrid[T uint8 | uint32](b []byte, values []T, width int) []byte {
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
		b = appendRun(b, uint32(values[i]), end-i-pad, width)
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
