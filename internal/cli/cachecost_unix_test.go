//go:build unix && !race

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCacheCost lints 200 files, changes one and lints them again: that is to cost a tenth of the CPU time of the first run, and may not cost a
// fifth. What counts is the CPU time of this process, since the machine may have other work.
func TestCacheCost(t *testing.T) {
	useCache(t)
	dir := t.TempDir()
	f := &testFile{name: "all.parquet", group: 150}
	for i := range 200 * f.group {
		r := toolRow(i)
		r["prompt"].([]any)[1].(row)["content"] = fmt.Sprintf("Problem %d: %s", i, user(i))
		f.rows = append(f.rows, r)
	}
	all := f.write(t, dir, columnsOf(t, f.rows[:2]))
	set := filepath.Join(dir, "set")
	mustRun(t, "reshard", all, "--shards", "200", "-o", set, "-q")
	var want string
	lint := func() time.Duration {
		return cpuTime(t, func() {
			code, stdout, stderr := runMain(t, "lint", "-q", set)
			if want == "" {
				want = stdout
			}
			if code != ExitClean || stdout != want || stderr != "" {
				t.Fatalf("exit %d: %s%s", code, stdout, stderr)
			}
		})
	}
	first := lint()
	second := first
	for i := range 3 { // the least of three: the collector's work falls where it will
		name := filepath.Join(set, fmt.Sprintf("train-%05d-of-00200.parquet", i))
		b, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		second = min(second, lint())
	}
	t.Logf("the first run takes %v of CPU, one of 200 files changed %v: %.1f %%", first, second, 100*float64(second)/float64(first))
	if second > first/5 {
		t.Errorf("with one of 200 files changed a run takes %v, more than a fifth of %v", second, first)
	}
}
