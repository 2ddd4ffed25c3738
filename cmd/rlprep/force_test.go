//go:build unix

package main

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKillForce kills (-9) a run with --force at every step of putting its files into an OUT that is there. Where directories can be
// exchanged, what is seen then is all that was or all that is new; elsewhere every file is one or the other. The next start
// completes what was begun, and leaves nothing beside OUT.
func TestKillForce(t *testing.T) {
	t.Parallel()
	bin := tool(t)
	dir := t.TempDir()
	run := func(env, recipe, out string, more ...string) (int, string) {
		t.Helper()
		cmd := exec.Command(bin, append([]string{"preprocess", recipe, "--demo", "-o", out}, more...)...)
		cmd.Env = append(toolEnv(), strings.Fields(env)...)
		b, _ := cmd.CombinedOutput()
		return exitStatus(cmd), string(b)
	}
	must := func(env, recipe, out string, more ...string) map[string]string {
		t.Helper()
		if status, said := run(env, recipe, out, more...); status != 0 {
			t.Fatalf("%s: exit %d: %s", recipe, status, said)
		}
		sums, _ := contents(t, out)
		return sums
	}
	fresh := must("", "gsm8k_tool_agent_loop", filepath.Join(dir, "new"), "--shards", "3")
	for _, c := range []struct {
		refuse string
		points []string
		shards string // of what was
		mixed  bool   // files of both may be seen
	}{
		{"none", []string{"before-exchange", "after-exchange"}, "4", false},
		{"exchange", []string{"between-renames:1", "between-renames:2", "between-renames:5", "between-renames:6", "before-last-rename", "before-journal-goes"}, "4", true},
		{"exchange,rename-across,fsync-dir", []string{"between-renames:1", "between-renames:3", "before-last-rename", "before-journal-goes"}, "3", true},
	} {
		for i, point := range c.points {
			name := fmt.Sprintf("%s, %s", c.refuse, point)
			out := filepath.Join(t.TempDir(), "out")
			old := must("", "gsm8k", out, "--shards", c.shards)
			status, said := run("RLPREP_REFUSE="+c.refuse+" RLPREP_KILL="+point, "gsm8k_tool_agent_loop", out, "--shards", "3", "--force")
			if status != -1 {
				t.Errorf("%s: exit %d, not killed: %s", name, status, said)
			}
			seen, _ := contents(t, out)
			if !c.mixed && !maps.Equal(seen, old) && !maps.Equal(seen, fresh) {
				t.Errorf("%s: neither all that was nor all that is new: %v", name, slices.Sorted(maps.Keys(seen)))
			}
			for file, sum := range seen {
				if strings.HasPrefix(file, ".") {
					continue
				}
				if sum != old[file] && sum != fresh[file] {
					t.Errorf("%s: %s is neither the old nor the new one", name, file)
				}
			}
			again := []string{"--shards", "3", "--force"}
			if c.mixed && i%2 == 1 {
				again = again[:2] // the journal is completed whoever comes; then the plan is the same
			}
			if got := must("RLPREP_REFUSE="+c.refuse, "gsm8k_tool_agent_loop", out, again...); !maps.Equal(got, fresh) {
				t.Errorf("%s: after the next start %v", name, slices.Sorted(maps.Keys(got)))
			}
			if left := entries(filepath.Dir(out)); len(left) != 1 {
				t.Errorf("%s: beside the output: %v", name, left)
			}
		}
	}
	// A new OUT too, where renames across directories are refused.
	for _, point := range []string{"", "before-rename", "after-rename"} {
		out := filepath.Join(t.TempDir(), "out")
		env := "RLPREP_REFUSE=rename-across,fsync-dir RLPREP_KILL=" + point
		if status, said := run(env, "gsm8k_tool_agent_loop", out, "--shards", "3"); point == "" && status != 0 || point != "" && status != -1 {
			t.Errorf("new, %s: exit %d: %s", point, status, said)
		}
		if got := must("RLPREP_REFUSE=rename-across", "gsm8k_tool_agent_loop", out, "--shards", "3"); !maps.Equal(got, fresh) {
			t.Errorf("new, %s: %v", point, got)
		}
		if left := entries(filepath.Dir(out)); len(left) != 1 {
			t.Errorf("new, %s: beside the output: %v", point, left)
		}
	}
}
