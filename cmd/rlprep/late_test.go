//go:build linux

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A lateJob is a command whose system calls fail one after the other.
type lateJob struct {
	args    string
	files   func(t *testing.T, bin, dir string) // makes the files that the command finds
	written []string                            // files and folders that the command makes or replaces
	once    bool                                // it refuses an output that exists
}

// TestLateErrors has the system refuse one call after the other: an fsync, a close, a rename, a link, as file systems do that report late that they could
// not write. A run that ends with 0 has written all; one that does not says why, and leaves each file as it was or as it would be; and the same
// command, run again, completes.
func TestLateErrors(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("SKIPPED: without strace no system call can be made to fail")
	}
	if b, err := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: strace may not trace here: %v: %s", err, b)
	}
	bin := releasedTool(t)
	raw := func(t *testing.T, _, dir string) {
		lines := `{"question":"a?","answer":"x\n#### 1"}` + "\n" + `{"question":"b?","answer":"none"}` + "\n"
		write(t, filepath.Join(dir, "raw.jsonl"), []byte(lines))
	}
	set := func(t *testing.T, bin, dir string) {
		late(t, bin, dir, "preprocess gsm8k --demo -q --split train --shards 2 -o set")
	}
	for _, j := range []lateJob{
		{"preprocess gsm8k --source raw.jsonl --split train -q --max-rejects 1 --rejects rejects.jsonl -o out", raw, []string{"out", "rejects.jsonl"}, false},
		{"preprocess gsm8k --demo --split train -q --system other --force -o set", set, []string{"set"}, false},
		{"add x=1 set/train-00000-of-00002.parquet set/train-00001-of-00002.parquet -j 1 --in-place -q", set, []string{"set"}, false},
		{"reshard set --shards 1 -q -o out", set, []string{"out"}, true},
		{"lint set --no-project -q --baseline base.json --write-baseline", set, []string{"base.json"}, false},
		{"lint set --no-project -q --exit-zero --output-format sarif=report.sarif", set, []string{"report.sarif"}, false},
		{"init -q -o rlprep.yaml", set, []string{"rlprep.yaml"}, true},
	} {
		t.Run(strings.Fields(j.args)[0]+" "+strings.Join(j.written, " "), func(t *testing.T) {
			t.Parallel()
			j.try(t, bin)
		})
	}
}

// after is the number of the next call to fail: twice the last, or, with RLPREP_LONG, the next.
func after(n int) int {
	if long() {
		return n + 1
	}
	return 2 * n
}

// late runs the tool, which must do well.
func late(t *testing.T, bin, dir, args string) {
	t.Helper()
	cmd := exec.Command(bin, strings.Fields(args)...)
	cmd.Dir, cmd.Env = dir, toolEnv()
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", args, err, b)
	}
}

// state is what the job's files hold.
func (j *lateJob) state(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range j.written {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				rel, _ := filepath.Rel(dir, path)
				out[rel] = string(readFile(t, path))
			}
			if os.IsNotExist(err) {
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (j *lateJob) try(t *testing.T, bin string) {
	base := t.TempDir()
	j.files(t, bin, base)
	fresh := func() string {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dir := fresh()
	old := j.state(t, dir)
	late(t, bin, dir, j.args)
	want := j.state(t, dir)
	if len(want) == 0 || maps.Equal(old, want) {
		t.Fatal("the job changes nothing")
	}
	tried := 0
	for _, fault := range []string{"fsync:error=EIO", "close:error=EIO", "renameat:error=EIO", "renameat2:error=EIO", "linkat:error=EPERM", "copy_file_range:error=EIO", "unlinkat:error=EIO"} {
		for n := 1; n < 200; n = after(n) {
			dir := fresh()
			status, said, injected := inject(t, bin, dir, fmt.Sprintf("%s:when=%d", fault, n), j.args)
			if !injected {
				break
			}
			tried++
			got := j.state(t, dir)
			where := fmt.Sprintf("%s, number %d", fault, n)
			switch {
			case status == 0 && !maps.Equal(got, want):
				t.Errorf("%s: exit 0, and there are %v of %v", where, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			case status != 0 && status != 3:
				t.Errorf("%s: exit %d: %s", where, status, said)
			case status != 0 && strings.TrimSpace(said) == "":
				t.Errorf("%s: exit %d, and nothing is said", where, status)
			}
			for name, text := range got {
				if text != old[name] && text != want[name] && filepath.Base(name) != "manifest.json" {
					t.Errorf("%s: %s is neither what it was nor what it would be (%d bytes)", where, name, len(text))
				}
			}
			if j.once && len(got) > 0 {
				continue // it is there, whole: a second run says so
			}
			late(t, bin, dir, j.args)
			if again := j.state(t, dir); !maps.Equal(again, want) {
				t.Errorf("%s: after a second run there are %v", where, slices.Sorted(maps.Keys(again)))
			}
		}
	}
	t.Logf("%d calls failed", tried)
	if tried == 0 {
		t.Error("no call was made to fail")
	}
}

// inject runs the tool under strace with a fault; injected: a call of the kind was made so often.
func inject(t *testing.T, bin, dir, fault, args string) (status int, said string, injected bool) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	call, _, _ := strings.Cut(fault, ":")
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-o", log, "-e", "trace=" + call, "-e", "inject=" + fault, bin}, strings.Fields(args)...)...)
	cmd.Dir, cmd.Env = dir, toolEnv()
	b, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(b), strings.Contains(string(readFile(t, log)), "(INJECTED)")
}
