package spill

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestSieveKeepsWhatCameTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Uint64(), 0, 200).Draw(t, "hashes")
		again := rapid.SliceOfN(rapid.IntRange(0, 199), 0, 20).Draw(t, "again")
		s := NewSieve(int64(len(hashes)))
		adders := []*Adder{s.Adder(), s.Adder()} // of two goroutines
		for i, h := range hashes {
			adders[i%2].Add(h)
		}
		var twice []uint64
		for _, i := range again {
			if i < len(hashes) {
				adders[i/2%2].Add(hashes[i])
				twice = append(twice, hashes[i])
			}
		}
		for _, a := range adders {
			a.Flush()
		}
		s.Seal()
		for _, h := range twice {
			if !s.Many(h) {
				t.Fatalf("hash %x was added more than once", h)
			}
		}
	})
}

func TestSieveLetsFewOthersThrough(t *testing.T) {
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, n)
	s := NewSieve(n)
	a := s.Adder()
	for i := range hashes {
		hashes[i] = random.Uint64()
		a.Add(hashes[i])
	}
	a.Flush()
	s.Seal()
	through := 0
	for _, h := range hashes {
		if s.Many(h) {
			through++
		}
	}
	if through == 0 || through > n/cellsEach {
		t.Errorf("%d of %d pass, expected some, at most one in %d", through, n, cellsEach)
	}
}
