package draw

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

//go:embed testdata/golden.txt
var golden string

// TestGolden compares what numpy and Python draw for 1,000 seeds and sizes; testdata/golden.py wrote it with these.
func TestGolden(t *testing.T) {
	cases := 0
	for lines := bufio.NewScanner(strings.NewReader(golden)); lines.Scan(); cases++ {
		var seed int64
		var n, k int
		want := make([]string, 4)
		if _, err := fmt.Sscan(lines.Text(), &seed, &n, &k, &want[0], &want[1], &want[2], &want[3]); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		state := NewRandomState(uint32(seed))
		shuffled := numbers(n)
		state.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for _, c := range state.Choice(uint32(n), uint32(k)) {
			shuffled = append(shuffled, uint64(c))
		}
		for i, got := range []string{
			digest(wide(NewGenerator(uint64(seed)).Permutation(uint32(n)))),
			digest(shuffled),
			digest(python(NewRandom(seed), n, k)),
			digest(python(NewRandomText(strconv.FormatInt(seed, 10)), n, k)),
		} {
			if got != want[i] {
				t.Errorf("seed %d, n %d, k %d: draw %d is not that of numpy and Python", seed, n, k, i)
			}
		}
	}
	if cases != 1000 {
		t.Errorf("%d cases, expected 1000", cases)
	}
}

// python draws as draws() of golden.py.
func python(r *Random, n, k int) []uint64 {
	out := []uint64{math.Float64bits(r.Float64()), math.Float64bits(r.Uniform(1, 10)), r.Bits(k%64 + 1), uint64(r.Int(-5, 20)), uint64(r.Int(3, 3))}
	if n > 0 {
		out = append(out, uint64(r.Below(n)))
	}
	shuffled := numbers(n)
	r.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	out = append(out, shuffled...)
	for _, s := range r.Sample(n, k) {
		out = append(out, uint64(s))
	}
	return append(out, r.Bits(32))
}

func numbers(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i)
	}
	return out
}

func wide(in []uint32) []uint64 {
	out := make([]uint64, len(in))
	for i, v := range in {
		out[i] = uint64(v)
	}
	return out
}

// digest is that of golden.py.
func digest(numbers []uint64) string {
	var text []byte
	for i, v := range numbers {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendUint(text, v, 10)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:16]
}

// TestDraws has a few draws in plain sight, as numpy 2.4.6 and CPython 3.11 print them.
func TestDraws(t *testing.T) {
	state, random := NewRandomState(7), NewRandom(1)
	for _, c := range []struct{ call, got, want string }{
		{"default_rng(42).permutation(10)", fmt.Sprint(NewGenerator(42).Permutation(10)), "[5 6 0 7 3 2 4 9 1 8]"},
		{"RandomState(7).permutation(10)", fmt.Sprint(state.Permutation(10)), "[8 5 0 2 1 9 7 3 6 4]"},
		{"choice(20, 5, replace=False)", fmt.Sprint(state.Choice(20, 5)), "[2 17 1 9 11]"},
		{"Random(1).random()", fmt.Sprint(random.Float64()), "0.13436424411240122"},
		{"randint(0, 25)", fmt.Sprint(random.Int(0, 25)), "25"},
		{"getrandbits(40)", fmt.Sprint(random.Bits(40)), "71999863748"},
		{"sample(range(100), 5)", fmt.Sprint(random.Sample(100, 5)), "[32 15 63 97 57]"},
		{`Random("seed").random()`, fmt.Sprint(NewRandomText("seed").Float64()), "0.1382359792209653"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, expected %s", c.call, c.got, c.want)
		}
	}
}
