package mutant

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
)

// byteKinds know nothing of the format; they damage any file.
var byteKinds = []kind{
	{"bits in the data", func(r *rand.Rand, s *Seed) *Mutant { return flipped(r, s, 0, s.begin, 1+r.IntN(2)*r.IntN(30)) }},
	{"bits in the footer", func(r *rand.Rand, s *Seed) *Mutant { return flipped(r, s, s.begin, len(s.Data), 1+r.IntN(2)*r.IntN(6)) }},
	{"truncated", func(r *rand.Rand, s *Seed) *Mutant {
		n := r.IntN(len(s.Data))
		return &Mutant{Data: s.Data[:n], What: fmt.Sprintf("to %d of %d bytes", n, len(s.Data))}
	}},
	{"a piece cut out", pieces(func(r *rand.Rand, d []byte, from, to int) []byte { return slices.Concat(d[:from], d[to:]) })},
	{"a piece zeroed", pieces(func(r *rand.Rand, d []byte, from, to int) []byte {
		out := bytes.Clone(d)
		clear(out[from:to])
		return out
	})},
	{"a piece of noise", pieces(func(r *rand.Rand, d []byte, from, to int) []byte {
		out := bytes.Clone(d)
		for i := from; i < to; i++ {
			out[i] = byte(r.Uint32())
		}
		return out
	})},
	{"a piece twice", pieces(func(r *rand.Rand, d []byte, from, to int) []byte { return slices.Concat(d[:to], d[from:]) })},
	{"pieces exchanged", pieces(func(r *rand.Rand, d []byte, from, to int) []byte {
		end := min(len(d), to+1+r.IntN(1000))
		return slices.Concat(d[:from], d[to:end], d[from:to], d[end:])
	})},
	{"another ending", func(r *rand.Rand, s *Seed) *Mutant {
		ends := [][]byte{{0}, []byte("PAR1"), []byte("\xff\xff\xff\xffPAR1"), []byte("\xff\xff\xff\x7fPAR1"), {0xff, 0xfe}, bytes.Repeat([]byte("["), 20000)}
		end := ends[r.IntN(len(ends))]
		return &Mutant{Data: slices.Concat(s.Data, end), What: fmt.Sprintf("%.12q at the end", end)}
	}},
}

func flipped(r *rand.Rand, s *Seed, from, to, count int) *Mutant {
	if from >= to {
		return nil
	}
	out := bytes.Clone(s.Data)
	for range count {
		out[from+r.IntN(to-from)] ^= 1 << r.IntN(8)
	}
	return &Mutant{Data: out, What: fmt.Sprintf("%d bits", count)}
}

// pieces makes mutants of a change of some bytes in a row.
func pieces(c func(r *rand.Rand, d []byte, from, to int) []byte) func(*rand.Rand, *Seed) *Mutant {
	return func(r *rand.Rand, s *Seed) *Mutant {
		from := r.IntN(len(s.Data) - 1)
		to := min(len(s.Data), from+1+r.IntN(1000))
		return &Mutant{Data: c(r, s.Data, from, to), What: fmt.Sprintf("bytes %d to %d", from, to)}
	}
}
