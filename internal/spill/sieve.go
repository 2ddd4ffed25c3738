package spill

import (
	"math/bits"
	"sync"
)

// A Sieve distinguishes hashes that were added once from those that may have been added more often, in two bits a cell. It errs only
// to one side: a hash that was added twice is never taken for one that was added once. Adders add, Seal ends that, Many asks.
type Sieve struct {
	mu     sync.Mutex
	cells  []uint64 // 32 cells a word: 0 never, 1 once, 2 more often
	shift  uint
	sealed []uint64 // a bit a word: it has a cell of 2. It fits in a cache where the cells do not
}

// The number of cells: cellsEach for each hash, so that few that stand alone pass as well, also where there are two or three times as many
// as was expected, but no more than 4 MiB hold: memory is not to grow with the input, and of 20 million hashes a third is still held back.
const (
	cellsEach = 64
	minCells  = 1 << 12
	maxCells  = 1 << 24
)

// NewSieve returns a sieve for about n hashes.
func NewSieve(n int64) *Sieve {
	cells := uint64(minCells)
	for cells < maxCells && cells/cellsEach < uint64(n) {
		cells *= 2
	}
	return &Sieve{cells: make([]uint64, cells/32), shift: uint(64 - bits.TrailingZeros64(cells))}
}

// An Adder adds hashes for one goroutine. It gathers those of one region of the cells, so that memory is not walked at random.
type Adder struct {
	sieve   *Sieve
	regions [regions][]uint64
}

const (
	regions  = 64
	gathered = 1024 // hashes of a region
)

// Adder returns an adder to s. Each goroutine has its own.
func (s *Sieve) Adder() *Adder { return &Adder{sieve: s} }

// Add adds a hash, all of whose bits must be of use.
func (a *Adder) Add(hash uint64) {
	r := &a.regions[hash>>(64-6)]
	if *r == nil {
		*r = make([]uint64, 0, gathered)
	}
	if *r = append(*r, hash); len(*r) == gathered {
		a.sieve.add(*r)
		*r = (*r)[:0]
	}
}

// Flush adds what was gathered.
func (a *Adder) Flush() {
	for i, r := range a.regions {
		a.sieve.add(r)
		a.regions[i] = r[:0]
	}
}

func (s *Sieve) add(hashes []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hash := range hashes {
		cell := hash >> s.shift
		w, at := &s.cells[cell/32], cell%32*2
		if n := *w >> at & 3; n < 2 {
			*w += 1 << at
		}
	}
}

// Seal is called once all hashes were added, before the first is asked for.
func (s *Sieve) Seal() {
	s.sealed = make([]uint64, len(s.cells)/64)
	for i, w := range s.cells {
		if w&0xaaaaaaaaaaaaaaaa != 0 {
			s.sealed[i/64] |= 1 << (i % 64)
		}
	}
}

// Many reports whether the hash may have been added more than once. Several goroutines may ask at once.
func (s *Sieve) Many(hash uint64) bool {
	cell := hash >> s.shift
	word := cell / 32
	return s.sealed[word/64]>>(word%64)&1 != 0 && s.cells[word]>>(cell%32*2)&3 > 1
}
