//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// An ended is a process that was run beside others.
type ended struct {
	status int
	said   string
}

// together runs the tool n times at once, in dir.
func together(bin, dir string, n int, args func(i int) []string) []ended {
	out := make([]ended, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			cmd := exec.Command(bin, args(i)...)
			cmd.Dir, cmd.Env = dir, toolEnv()
			b, _ := cmd.CombinedOutput()
			out[i] = ended{exitStatus(cmd), string(b)}
		})
	}
	wg.Wait()
	return out
}

// TestRejectsTogether: of runs with one --rejects FILE one is at work, the others say so at once; the file is that of one run, whole.
func TestRejectsTogether(t *testing.T) {
	t.Parallel()
	bin := tool(t)
	dir := t.TempDir()
	for i := range 8 {
		var lines strings.Builder
		for row := range 3000 {
			fmt.Fprintf(&lines, `{"question":"of run %d, row %d?","answer":"no marker"}`+"\n", i, row)
		}
		lines.WriteString(`{"question":"one?","answer":"#### 1"}` + "\n")
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("in%d.jsonl", i)), []byte(lines.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		runs := together(bin, dir, 8, func(i int) []string {
			return []string{"preprocess", "gsm8k", "--source", fmt.Sprintf("in%d.jsonl", i), "--split", "train", "--max-rejects", "100%", "--rejects", "rejects.jsonl", "-o", fmt.Sprintf("out%d", i)}
		})
		done := 0
		for i, r := range runs {
			switch {
			case r.status == 0:
				done++
			case r.status != 3 || !strings.Contains(r.said, "rejects.jsonl: another run is writing this file"):
				t.Errorf("exit %d: %s", r.status, r.said)
			case slices.Contains(entries(dir), fmt.Sprintf("out%d", i)):
				t.Errorf("run %d was refused and has made its output", i)
			}
		}
		if done == 0 {
			t.Error("none of them was at work")
		}
		got := strings.Split(strings.TrimSpace(string(readFile(t, filepath.Join(dir, "rejects.jsonl")))), "\n")
		_, first, _ := strings.Cut(got[0], "of run ")
		for _, line := range got {
			if !strings.Contains(line, "of run "+first[:1]) {
				t.Fatalf("rows of run %s and of another: %s", first[:1], line)
			}
		}
		if len(got) != 3000 {
			t.Errorf("%d rejected rows, not 3000", len(got))
		}
		for _, name := range entries(dir) {
			if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".part") {
				t.Errorf("left: %s", name)
			}
			if strings.HasPrefix(name, "out") {
				os.RemoveAll(filepath.Join(dir, name))
			}
		}
	}
}

// TestInPlaceTogether: of eight runs at once over the same files every one ends, one after the other, and no column is lost; with a manifest beside
// the files and without one.
func TestInPlaceTogether(t *testing.T) {
	t.Parallel()
	bin := tool(t)
	for _, manifest := range []bool{true, false} {
		p := newPlace(t, bin, 20)
		if !manifest {
			if err := os.Remove(filepath.Join(p.dir, "manifest.json")); err != nil {
				t.Fatal(err)
			}
		}
		files := p.files(t)
		for _, r := range together(bin, p.dir, 8, func(i int) []string {
			return append([]string{"add", fmt.Sprintf("c%d=x", i), "--in-place"}, files...)
		}) {
			if r.status != 0 {
				t.Errorf("manifest %v: exit %d: %s", manifest, r.status, r.said)
			}
		}
		for _, f := range files {
			said := p.must(t, "inspect", f, "--rows", "0")
			for i := range 8 {
				if !strings.Contains(said, fmt.Sprintf("  c%d:", i)) {
					t.Errorf("%s has no column c%d", f, i)
				}
			}
		}
		if manifest {
			for name, edits := range p.edits(t) {
				if len(edits) != 8 {
					t.Errorf("%s: the manifest has the edits %v", name, edits)
				}
			}
		}
		p.clean(t, "after eight runs")
	}
}

// TestInPlaceApart: runs over different files of one data set all end, and the manifest has every edit.
func TestInPlaceApart(t *testing.T) {
	t.Parallel()
	bin := tool(t)
	p := newPlace(t, bin, 8)
	files := p.files(t)
	for _, r := range together(bin, p.dir, 8, func(i int) []string { return []string{"add", "c=x", "--in-place", files[i]} }) {
		if r.status != 0 {
			t.Errorf("exit %d: %s", r.status, r.said)
		}
	}
	for name, edits := range p.edits(t) {
		if len(edits) != 1 {
			t.Errorf("%s: the manifest has the edits %v", name, edits)
		}
	}
	p.clean(t, "after eight runs")
}

// TestFixTogether: of eight runs that fix the same files at least one ends well, the others end well or say 3.
func TestFixTogether(t *testing.T) {
	t.Parallel()
	bin := tool(t)
	p := newPlace(t, bin, 20)
	good := 0
	for _, r := range together(bin, p.dir, 8, func(int) []string {
		return []string{"lint", p.dir, "--fix", "--agent", "tool_agent", "--no-project", "-q"}
	}) {
		if r.status == 0 {
			good++
		} else if r.status != 3 {
			t.Errorf("exit %d: %s", r.status, r.said)
		}
	}
	if good == 0 {
		t.Error("none of eight ended well")
	}
	p.edits(t)
	p.clean(t, "after eight runs")
}
