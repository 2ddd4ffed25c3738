package encoding

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// Delta pages in blocks and miniblocks of every size that is accepted, of every width, decode to the sums of their differences, whole and
// where bytes follow them. A page that is cut anywhere is an error, and a damaged one is no panic.
func TestDeltaShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, shape := range []struct{ block, minis int }{{128, 4}, {128, 1}, {8, 1}, {40, 5}, {256, 8}, {1024, 2}, {4096, 1}} {
		for _, width := range []int{4, 8} {
			for _, n := range []int{0, 1, 2, 8, 9, 33, 128, 129, 1000, 5000} {
				page, want := deltaPage(r, shape.block, shape.minis, n, width)
				for _, after := range []int{0, 1, 100} {
					got, rest, err := DecodeDelta(nil, append(bytes.Clone(page), make([]byte, after)...), n, width)
					if err != nil || !bytes.Equal(got, want) || len(rest) != after {
						t.Fatalf("%v, %d values of %d bytes, %d bytes after them: %v, %d bytes left, equal %v", shape, n, width, after, err, len(rest), bytes.Equal(got, want))
					}
				}
				for cut := range min(len(page), 300) {
					if _, _, err := DecodeDelta(nil, page[:cut:cut], n, width); err == nil {
						t.Fatalf("%v, %d values of %d bytes: %d of %d bytes are enough", shape, n, width, cut, len(page))
					}
				}
				for range 200 { // a panic fails the test
					damaged := bytes.Clone(page)
					damaged[r.IntN(len(damaged))] = byte(r.Uint32())
					_, _, _ = DecodeDelta(nil, damaged, n, width)
				}
			}
		}
	}
}

// deltaPage makes a page of n values and returns their PLAIN encoding too. Every miniblock has a width of its own.
func deltaPage(r *rand.Rand, block, minis, n, width int) (page, plain []byte) {
	prev := r.Uint64()
	page = binary.AppendUvarint(page, uint64(block))
	page = binary.AppendUvarint(page, uint64(minis))
	page = binary.AppendUvarint(page, uint64(n))
	page = binary.AppendVarint(page, int64(prev))
	if n > 0 {
		plain = appendWidth(plain, prev, width)
	}
	per := block / minis
	for left := n - 1; left > 0; {
		least := r.Uint64() >> r.IntN(64)
		page = binary.AppendVarint(page, int64(least))
		at := len(page)
		page = append(page, make([]byte, minis)...)
		for m := 0; m < minis && left > 0; m++ {
			w := r.IntN(65)
			page[at+m] = byte(w)
			values := make([]uint64, per)
			for i := range values {
				values[i] = r.Uint64() & (1<<w - 1)
				if i < left {
					prev += values[i] + least
					plain = appendWidth(plain, prev, width)
				}
			}
			left -= min(per, left)
			if w > 0 {
				page = appendBits(page, values, w)
			}
		}
	}
	return page, plain
}
