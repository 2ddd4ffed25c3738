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
		for _, h := range hashes {
			s.Add(h)
		}
		for _, i := range again {
			if i < len(hashes) {
				s.Add(hashes[i])
				s.Add(hashes[i])
				if !s.Many(hashes[i]) {
					t.Fatalf("hash %x was added three times", hashes[i])
				}
			}
		}
	})
}

func TestSieveLetsFewOthersThrough(t *testing.T) {
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, n)
	s := NewSieve(n)
	for i := range hashes {
		hashes[i] = random.Uint64()
		s.Add(hashes[i])
	}
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
