//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
)

// A run of lint --fix over many files that is killed leaves each of them whole; the rerun fixes the others, and only these, and the
// manifest tells the truth.
func TestFixIsKilled(t *testing.T) {
	t.Parallel()
	const files = 3
	bin := tool(t)
	broken := func() *place {
		p := newPlace(t, bin, files)
		p.must(t, append(append([]string{"drop", "extra_info.index"}, p.files(t)...), "--in-place", "-q")...)
		p.must(t, append(append([]string{"add", "trace=x"}, p.files(t)...), "--in-place", "-q")...)
		return p
	}
	fix := func(p *place) []string {
		return []string{"lint", "--fix", "--unsafe-fixes", "-j", "1", p.dir}
	}
	whole := broken()
	whole.must(t, fix(whole)...)
	want, _ := contents(t, whole.dir)
	for _, point := range []string{"mid-page:1", "edit-before-rename:2", "edit-after-rename:1", fmt.Sprint("edit-after-rename:", files)} {
		p := broken()
		before, _ := contents(t, p.dir)
		if status, said := p.run(point, fix(p)...); status != -1 {
			t.Fatalf("%s: exit %d: %s", point, status, said)
		}
		done := 0
		got, _ := contents(t, p.dir)
		for name := range want {
			switch got[name] {
			case before[name]:
			case want[name]:
				done++
			default:
				t.Errorf("%s: %s is neither the old nor the new one", point, name)
			}
		}
		said := p.must(t, fix(p)...)
		if fixed := strings.Count(said, "drops the column"); fixed != files-done {
			t.Errorf("%s: %d files had been fixed, and the rerun fixes %d: %s", point, done, fixed, said)
		}
		got, _ = contents(t, p.dir)
		for name, sum := range want {
			if got[name] != sum {
				t.Errorf("%s: after the rerun %s is another one", point, name)
			}
		}
		p.edits(t)
		p.clean(t, "after the rerun")
	}
}
