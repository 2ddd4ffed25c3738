package encoding

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A hybrid of runs and packed values, of every width, reads back as it was written, in pieces of any length.
func TestHybrid(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for width := range 33 {
		for _, n := range []int{0, 1, 7, 8, 9, 100, 1000, 5000} {
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(r.Uint64() & (1<<width - 1))
				if i > 0 && r.IntN(100) < 90 && i/200%2 == 1 {
					want[i] = want[i-1] // runs
				}
			}
			page := AppendHybrid(nil, want, width)
			for _, most := range []int{n, 3, 64, 1024} {
				h, got := NewHybrid(page, width), make([]uint32, n)
				for left := got; len(left) > 0; {
					piece := left[:min(len(left), 1+r.IntN(max(most, 1)))]
					if err := ReadHybrid(&h, piece); err != nil {
						t.Fatalf("width %d, %d values: %v", width, n, err)
					}
					left = left[len(piece):]
				}
				if !slices.Equal(got, want) {
					t.Fatalf("width %d, %d values in pieces of up to %d: values differ", width, n, most)
				}
			}
		}
	}
}
