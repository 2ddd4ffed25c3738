package spill

import "math/bits"

// A Sieve tells hashes that were added once from those that may have been added more often, in two bits a cell. It errs only
// to one side: a hash that was added twice is never taken for one that was added once.
type Sieve struct {
	cells []uint64 // 32 cells a word: 0 never, 1 once, 2 more often
	shift uint
}

// The number of cells: cellsEach for each hash, so that one in eight that stands alone passes as well, but no more than
// 64 MiB hold.
const (
	cellsEach = 8
	minCells  = 1 << 10
	maxCells  = 1 << 28
)

// NewSieve returns a sieve for about n hashes.
func NewSieve(n int64) *Sieve {
	cells := uint64(minCells)
	for cells < maxCells && cells/cellsEach < uint64(n) {
		cells *= 2
	}
	return &Sieve{cells: make([]uint64, cells/32), shift: uint(64 - bits.TrailingZeros64(cells))}
}

// Add adds a hash, all of whose bits must be of use.
func (s *Sieve) Add(hash uint64) {
	cell := hash >> s.shift
	w, at := &s.cells[cell/32], cell%32*2
	if n := *w >> at & 3; n < 2 {
		*w += 1 << at
	}
}

// Many reports whether the hash may have been added more than once.
func (s *Sieve) Many(hash uint64) bool {
	cell := hash >> s.shift
	return s.cells[cell/32]>>(cell%32*2)&3 > 1
}
