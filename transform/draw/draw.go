// Package draw makes the random draws that Python programs make, number for number: those of numpy and of Python's own module random. A
// script that is seeded draws the same numbers for everybody, so what a recipe draws here is what the script of that recipe drew.
//
// The sources are numpy 2.4.6 (numpy/random/bit_generator.pyx, src/pcg64, src/mt19937, src/distributions/distributions.c) and CPython 3.11
// (Lib/random.py, Modules/_randommodule.c). testdata/golden.py writes the numbers that the tests compare, with those two themselves.
package draw

import "math/bits"

// words are what numpy draws numbers below a bound from.
type words interface{ uint32() uint32 }

// permutation returns the numbers below n in an order that w draws (numpy's Generator.permutation and RandomState.permutation).
func permutation(w words, n uint32) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(i)
	}
	shuffle(w, len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// shuffle calls swap for each element from the last to the second, with the one that it changes places with, which may be itself. That
// one is drawn by random_interval (distributions.c): as many bits as the place has, until they are no more than it. Generator.integers
// draws otherwise, by multiplication.
func shuffle(w words, n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		mask := uint32(1)<<bits.Len32(uint32(i)) - 1
		j := w.uint32() & mask
		for j > uint32(i) {
			j = w.uint32() & mask
		}
		swap(i, int(j))
	}
}
