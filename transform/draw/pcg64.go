package draw

import "math/bits"

// A Generator draws as numpy.random.default_rng(seed) does: PCG64, the variant XSL RR 128/64, seeded by a SeedSequence.
type Generator struct {
	state, inc uint128
	high       uint32 // the half of the last 64 bits that is not drawn yet
	held       bool
}

type uint128 struct{ hi, lo uint64 }

// NewGenerator returns numpy.random.default_rng(seed).
func NewGenerator(seed uint64) *Generator {
	var w [8]uint32
	seedSequence(seed, w[:])
	word := func(i int) uint64 { return uint64(w[2*i]) | uint64(w[2*i+1])<<32 }
	seq := uint128{word(2), word(3)}
	g := &Generator{inc: uint128{seq.hi<<1 | seq.lo>>63, seq.lo<<1 | 1}}
	g.step()
	var carry uint64
	g.state.lo, carry = bits.Add64(g.state.lo, word(1), 0)
	g.state.hi, _ = bits.Add64(g.state.hi, word(0), carry)
	g.step()
	return g
}

// step goes to the next state: a multiplication and an addition of 128 bits (src/pcg64/pcg64.h, PCG_DEFAULT_MULTIPLIER).
func (g *Generator) step() {
	const mulHi, mulLo = 0x2360ED051FC65DA4, 0x4385DF649FCCF645
	hi, lo := bits.Mul64(g.state.lo, mulLo)
	hi += g.state.hi*mulLo + g.state.lo*mulHi
	var carry uint64
	g.state.lo, carry = bits.Add64(lo, g.inc.lo, 0)
	g.state.hi, _ = bits.Add64(hi, g.inc.hi, carry)
}

func (g *Generator) uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.state.hi^g.state.lo, -int(g.state.hi>>58))
}

// uint32 draws the low half of 64 bits, and the high half at the next call.
func (g *Generator) uint32() uint32 {
	if g.held {
		g.held = false
		return g.high
	}
	v := g.uint64()
	g.high, g.held = uint32(v>>32), true
	return uint32(v)
}

// Permutation returns Generator.permutation(n): the numbers below n in a drawn order. It is what datasets.Dataset.shuffle(seed) and
// train_test_split(seed) take their rows by (datasets 5.2.0, arrow_dataset.py).
func (g *Generator) Permutation(n uint32) []uint32 { return permutation(g, n) }

// seedSequence fills out as SeedSequence(seed).generate_state does (bit_generator.pyx): the seed's words are hashed into a pool of four,
// and each word of the state is a hash of one of these.
func seedSequence(seed uint64, out []uint32) {
	const multA, multB, mixL, mixR = 0x931e8875, 0x58f38ded, 0xca01f9dd, 0x4973f715
	hash := uint32(0x43b0d7e5)
	hashed := func(v uint32) uint32 {
		v ^= hash
		hash *= multA
		v *= hash
		return v ^ v>>16
	}
	pool := [4]uint32{hashed(uint32(seed)), hashed(uint32(seed >> 32)), hashed(0), hashed(0)}
	for from := range pool {
		for to := range pool {
			if from != to {
				v := mixL*pool[to] - mixR*hashed(pool[from])
				pool[to] = v ^ v>>16
			}
		}
	}
	hash = 0x8b51f9dd
	for i := range out {
		v := pool[i%4] ^ hash
		hash *= multB
		v *= hash
		out[i] = v ^ v>>16
	}
}
