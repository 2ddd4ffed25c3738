package yamlfile

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// threadTime is the processor time that this thread has used: other programs and the garbage collector do not count.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestWide: the time for wide mappings grows with their size, not with its square. A square would make 8 times the keys take 64 times the time of
// this thread, whatever else the machine does. A busy machine can disturb one comparison, so the best of several counts.
func TestWide(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for name, write := range map[string]func(*strings.Builder, int){
		"block": func(b *strings.Builder, n int) {
			for i := range n {
				fmt.Fprintf(b, "k%d: 1\n", i)
			}
		},
		"flow": func(b *strings.Builder, n int) {
			b.WriteByte('{')
			for i := range n {
				fmt.Fprintf(b, "k%d: 1, ", i)
			}
			b.WriteByte('}')
		},
	} {
		cost := func(keys int) time.Duration {
			var b strings.Builder
			write(&b, keys)
			best := time.Duration(math.MaxInt64)
			for range 2 {
				start := threadTime(t)
				n, err := ParseConfig("f", []byte(b.String()))
				if err != nil || len(n.Keys) != keys {
					t.Fatal(err)
				}
				best = min(best, threadTime(t)-start)
			}
			return best
		}
		ratio := math.Inf(1)
		for range 8 {
			small, large := cost(4_000), cost(32_000)
			t.Logf("%s: 4,000 keys take %v, 32,000 %v", name, small, large)
			if ratio = min(ratio, float64(large)/float64(small)); ratio <= 24 {
				break
			}
		}
		if ratio > 24 {
			t.Errorf("%s: 8 times the keys take %.0f times the time", name, ratio)
		}
	}
}
