//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKillRejects kills (-9) a run whose contract rejects rows with findings, after its first shard is complete: the next run takes up the
// rows and the rejects of that shard, and writes what a run that nobody disturbs writes.
func TestKillRejects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 30 {
		truth := `"7"`
		if i%10 == 3 {
			truth = "null"
		}
		fmt.Fprintf(&rows, `{"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "q%d?"}], "reward_model": {"style": "rule", "ground_truth": %s}, "extra_info": {"index": %d}}`+"\n", i, truth, i)
	}
	source, plan := filepath.Join(dir, "rows.jsonl"), filepath.Join(dir, "plan.yaml")
	for name, text := range map[string]string{source: rows.String(), plan: "steps:\n  - limit: {rows: 100}\ncontract:\n  on_finding: reject\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	bin := tool(t)
	run := func(env ...string) (int, string) {
		cmd := exec.Command(bin, "run", plan, "--source", source, "-o", filepath.Join(dir, "out"), "--rejects", filepath.Join(dir, "rejects"), "--max-rejects", "3", "--shards", "3", "-j", "1")
		cmd.Env = append(toolEnv(), env...)
		b, _ := cmd.CombinedOutput()
		return exitStatus(cmd), string(b)
	}
	written := func() map[string]string {
		sums, _ := contents(t, filepath.Join(dir, "out"))
		sums["rejects"] = string(readFile(t, filepath.Join(dir, "rejects")))
		return sums
	}
	if status, said := run(); status != 0 || !strings.Contains(said, "30 rows in, 27 out, 3 left out (RL207)") {
		t.Fatalf("exit %d: %s", status, said)
	}
	want := written()
	for _, name := range []string{"out", "rejects"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if status, said := run("RLPREP_KILL=mid-page:2"); status == 0 {
		t.Fatalf("the run was not killed: %s", said)
	}
	status, said := run()
	if status != 0 || !strings.Contains(said, "resumed from an earlier run: 1 shard") || !strings.Contains(said, "3 left out (RL207)") {
		t.Fatalf("exit %d: %s", status, said)
	}
	got := written()
	for name, sum := range want {
		if got[name] != sum {
			t.Errorf("%s differs from that of a run that nobody disturbs", name)
		}
	}
	if len(got) != len(want) || len(slices.Collect(strings.SplitSeq(got["rejects"], "\n"))) != 4 {
		t.Errorf("wrote %d files, expected %d; rejects: %s", len(got), len(want), got["rejects"])
	}
}
