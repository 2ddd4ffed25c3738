package encoding

import (
	"encoding/binary"
	"math/bits"
)

// The shape of DELTA_BINARY_PACKED as every writer uses it: readers may insist on it.
const (
	deltaBlock      = 128
	deltaMiniblocks = 4
	deltaMiniblock  = deltaBlock / deltaMiniblocks
)

// AppendDelta64 appends plain, which is int64 values in PLAIN encoding, to b as DELTA_BINARY_PACKED.
func AppendDelta64(b, plain []byte) []byte {
	n := len(plain) / 8
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(plain[i*8:])) }
	b = appendDeltaHeader(b, n)
	if n == 0 {
		return binary.AppendVarint(b, 0)
	}
	prev := at(0)
	b = binary.AppendVarint(b, prev)
	var deltas [deltaBlock]uint64
	for i := 1; i < n; {
		k := min(deltaBlock, n-i)
		least := int64(0)
		for j := range k {
			v := at(i + j)
			d := v - prev // wraps, as the format wants
			if prev = v; j == 0 || d < least {
				least = d
			}
			deltas[j] = uint64(d)
		}
		for j := range k {
			deltas[j] -= uint64(least)
		}
		b = binary.AppendVarint(b, least)
		b = appendMiniblocks(b, &deltas, k)
		i += k
	}
	return b
}

// AppendDelta32 is AppendDelta64 for int32 values; differences wrap at 32 bits.
func AppendDelta32(b, plain []byte) []byte {
	n := len(plain) / 4
	at := func(i int) int32 { return int32(binary.LittleEndian.Uint32(plain[i*4:])) }
	b = appendDeltaHeader(b, n)
	if n == 0 {
		return binary.AppendVarint(b, 0)
	}
	prev := at(0)
	b = binary.AppendVarint(b, int64(prev))
	var deltas [deltaBlock]uint64
	for i := 1; i < n; {
		k := min(deltaBlock, n-i)
		least := int32(0)
		for j := range k {
			v := at(i + j)
			d := v - prev
			if prev = v; j == 0 || d < least {
				least = d
			}
			deltas[j] = uint64(uint32(d))
		}
		for j := range k {
			deltas[j] = uint64(uint32(deltas[j]) - uint32(least))
		}
		b = binary.AppendVarint(b, int64(least))
		b = appendMiniblocks(b, &deltas, k)
		i += k
	}
	return b
}

func appendDeltaHeader(b []byte, n int) []byte {
	b = binary.AppendUvarint(b, deltaBlock)
	b = binary.AppendUvarint(b, deltaMiniblocks)
	return binary.AppendUvarint(b, uint64(n))
}

// appendMiniblocks appends the widths and the miniblocks of the first n deltas.
func appendMiniblocks(b []byte, deltas *[deltaBlock]uint64, n int) []byte {
	clear(deltas[n:])
	widths := len(b)
	b = append(b, make([]byte, deltaMiniblocks)...)
	for m := range deltaMiniblocks {
		mini := deltas[m*deltaMiniblock : (m+1)*deltaMiniblock]
		all := uint64(0)
		for _, d := range mini {
			all |= d
		}
		if all == 0 {
			continue
		}
		w := bits.Len64(all)
		b[widths+m] = byte(w)
		b = appendBits(b, mini, w)
	}
	return b
}

// appendBits packs values of the given width, 1 to 64, lowest bits first. Their number is a multiple of eight.
func appendBits(b []byte, values []uint64, width int) []byte {
	var acc uint64
	have := 0
	for _, v := range values {
		acc |= v << have
		if have += width; have >= 64 {
			b = binary.LittleEndian.AppendUint64(b, acc)
			have -= 64
			acc = v >> (width - have) // a shift by 64, when nothing is left over, gives 0
		}
	}
	for ; have > 0; have -= 8 {
		b = append(b, byte(acc))
		acc >>= 8
	}
	return b
}
