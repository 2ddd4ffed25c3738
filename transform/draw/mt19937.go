package draw

// mersenne is MT19937, the generator below numpy's RandomState and Python's random.
type mersenne struct {
	state [624]uint32
	next  int // of state
}

// seedWord sets the state by one word: init_genrand.
func (m *mersenne) seedWord(seed uint32) {
	m.state[0] = seed
	for i := 1; i < len(m.state); i++ {
		m.state[i] = 1812433253*(m.state[i-1]^m.state[i-1]>>30) + uint32(i)
	}
	m.next = len(m.state)
}

// seedWords sets the state by words, of which there is at least one: init_by_array.
func (m *mersenne) seedWords(key []uint32) {
	m.seedWord(19650218)
	s := &m.state
	i, j := 1, 0
	wrap := func() {
		if i++; i >= len(s) {
			s[0], i = s[len(s)-1], 1
		}
	}
	for range max(len(s), len(key)) {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		wrap()
		if j++; j >= len(key) {
			j = 0
		}
	}
	for range len(s) - 1 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		wrap()
	}
	s[0] = 0x80000000
}

// refill makes the next words of the state.
func (m *mersenne) refill() {
	const n, far = len(m.state), 397
	s := &m.state
	for i := range s {
		y := s[i]&0x80000000 | s[(i+1)%n]&0x7fffffff
		s[i] = s[(i+far)%n] ^ y>>1 ^ -(y&1)&0x9908b0df
	}
	m.next = 0
}

func (m *mersenne) uint32() uint32 {
	if m.next == len(m.state) {
		m.refill()
	}
	y := m.state[m.next]
	m.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// float64 draws a number in [0, 1) of 53 bits: both libraries' random().
func (m *mersenne) float64() float64 {
	a, b := m.uint32()>>5, m.uint32()>>6
	return (float64(a)*67108864 + float64(b)) / 9007199254740992
}

// A RandomState draws as numpy.random.RandomState(seed) does, and as the functions of numpy.random do after numpy.random.seed(seed).
type RandomState struct{ m mersenne }

// NewRandomState returns numpy.random.RandomState(seed).
func NewRandomState(seed uint32) *RandomState {
	r := &RandomState{}
	r.m.seedWord(seed)
	return r
}

// Shuffle calls swap for the elements of a list of n that change places, as shuffle does: from the last to the second.
func (r *RandomState) Shuffle(n int, swap func(i, j int)) { shuffle(&r.m, n, swap) }

// Permutation returns RandomState.permutation(n): the numbers below n in a drawn order.
func (r *RandomState) Permutation(n uint32) []uint32 { return permutation(&r.m, n) }

// Choice returns RandomState.choice(n, size, replace=False): size different numbers below n, in a drawn order. Size is at most n.
func (r *RandomState) Choice(n, size uint32) []uint32 { return r.Permutation(n)[:size] }
