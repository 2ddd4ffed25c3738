package draw

import (
	"crypto/sha512"
	"math/bits"
)

// A Random draws as Python's random.Random(seed) does, and as the functions of the module random do after random.seed(seed).
type Random struct{ m mersenne }

// NewRandom returns random.Random(seed). Python takes the absolute value of a seed (_randommodule.c, random_seed).
func NewRandom(seed int64) *Random {
	abs := uint64(seed)
	if seed < 0 {
		abs = -abs
	}
	key := []uint32{uint32(abs)}
	if high := uint32(abs >> 32); high != 0 {
		key = append(key, high)
	}
	r := &Random{}
	r.m.seedWords(key)
	return r
}

// NewRandomText returns random.Random(seed) for a text: the number that its UTF-8 bytes and their SHA-512 are, read as one of base 256
// (Lib/random.py, seed, version 2).
func NewRandomText(seed string) *Random {
	sum := sha512.Sum512([]byte(seed))
	b := append([]byte(seed), sum[:]...)
	var key []uint32 // from the last word of the number to the first
	for end := len(b); end > 0; end -= 4 {
		word := uint32(0)
		for _, c := range b[max(end-4, 0):end] {
			word = word<<8 | uint32(c)
		}
		key = append(key, word)
	}
	for len(key) > 1 && key[len(key)-1] == 0 {
		key = key[:len(key)-1]
	}
	r := &Random{}
	r.m.seedWords(key)
	return r
}

// Float64 returns random(): a number in [0, 1) of 53 bits.
func (r *Random) Float64() float64 { return r.m.float64() }

// Uniform returns uniform(a, b).
func (r *Random) Uniform(a, b float64) float64 { return a + float64((b-a)*r.m.float64()) }

// Bits returns getrandbits(k), for k of 1 to 64.
func (r *Random) Bits(k int) uint64 {
	if k <= 32 {
		return uint64(r.m.uint32() >> (32 - k))
	}
	low := uint64(r.m.uint32())
	return uint64(r.m.uint32()>>(64-k))<<32 | low
}

// Below returns what choice takes an element by: a number in [0, n), of as many bits as n has, drawn until it is below n
// (Lib/random.py, _randbelow_with_getrandbits). n is positive.
func (r *Random) Below(n int) int {
	k := bits.Len(uint(n))
	v := r.Bits(k)
	for v >= uint64(n) {
		v = r.Bits(k)
	}
	return int(v)
}

// Int returns randint(a, b): a number in [a, b]. b is not below a.
func (r *Random) Int(a, b int) int { return a + r.Below(b-a+1) }

// Shuffle calls swap for the elements of a list of n that change places, as shuffle does: from the last to the second.
func (r *Random) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, r.Below(i+1))
	}
}

// Sample returns the places of sample(population, k) in a population of n: k different numbers below n, in a drawn order. k is at most n.
// A small population is drawn from a pool, a large one until a place is new (Lib/random.py, sample).
func (r *Random) Sample(n, k int) []int {
	out := make([]int, k)
	small := 21 // the size of a small set less that of an empty list
	if k > 5 {
		size := 1
		for size < k*3 {
			size *= 4
		}
		small += size
	}
	if n <= small {
		pool := make([]int, n)
		for i := range pool {
			pool[i] = i
		}
		for i := range out {
			j := r.Below(n - i)
			out[i], pool[j] = pool[j], pool[n-i-1]
		}
		return out
	}
	taken := make(map[int]bool, k)
	for i := range out {
		j := r.Below(n)
		for taken[j] {
			j = r.Below(n)
		}
		taken[j], out[i] = true, j
	}
	return out
}
