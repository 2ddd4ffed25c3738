//go:build unix

package cli

import (
	"math"
	"syscall"
	"testing"
	"time"
)

// TestSchemaOnlyCost holds lint --schema-only of 100 files to twice the cost of opening them. What counts is the CPU time of
// this process, since the machine may have other work.
func TestSchemaOnlyCost(t *testing.T) {
	files := hundred(t)
	openFooters(t, files)
	schemaOnly(t, files)
	ratio := math.Inf(1)
	for range 5 { // A busy machine can disturb one comparison, so the best of several counts.
		var open, lint time.Duration
		for range 20 {
			open += cpuTime(t, func() { openFooters(t, files) })
			lint += cpuTime(t, func() { schemaOnly(t, files) })
		}
		t.Logf("lint --schema-only of 100 files takes %v of CPU, opening them %v", lint/20, open/20)
		if ratio = min(ratio, float64(lint)/float64(open)); ratio <= 2 {
			break
		}
	}
	if ratio > 2 {
		t.Errorf("lint --schema-only of 100 files takes %.1f times the CPU of opening their footers, want 2 at most", ratio)
	}
}

// cpuTime is the time of CPU that f takes.
func cpuTime(t *testing.T, f func()) time.Duration {
	t.Helper()
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		t.Fatal(err)
	}
	f()
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		t.Fatal(err)
	}
	spent := func(r syscall.Rusage) time.Duration { return time.Duration(r.Utime.Nano() + r.Stime.Nano()) }
	return spent(after) - spent(before)
}
