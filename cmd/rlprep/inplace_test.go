//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A place is a directory with a data set of rlprep: shards and manifest.
type place struct {
	bin, dir string
}

func newPlace(t *testing.T, bin string, shards int) *place {
	t.Helper()
	p := &place{bin, filepath.Join(t.TempDir(), "set")}
	p.must(t, "preprocess", "gsm8k", "--demo", "--split", "train", "--shards", fmt.Sprint(shards), "-q", "-o", p.dir)
	return p
}

// run runs the tool; point: where it is killed. Status -1: it was.
func (p *place) run(point string, args ...string) (status int, said string) {
	cmd := exec.Command(p.bin, args...)
	cmd.Env = toolEnv()
	if point != "" {
		cmd.Env = append(cmd.Env, "RLPREP_KILL="+point)
	}
	out, _ := cmd.CombinedOutput()
	return exitStatus(cmd), string(out)
}

func (p *place) must(t *testing.T, args ...string) string {
	t.Helper()
	status, said := p.run("", args...)
	if status != 0 {
		t.Fatalf("%v: exit %d: %s", args, status, said)
	}
	return said
}

func (p *place) files(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	return files
}

// edits reads what the manifest says of the files' edits, and sees that it is true.
func (p *place) edits(t *testing.T) map[string][]string {
	t.Helper()
	p.must(t, "verify", p.dir)
	var m struct {
		Shards []struct {
			Name  string   `json:"name"`
			Edits []string `json:"edits"`
		} `json:"shards"`
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(p.dir, "manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, s := range m.Shards {
		out[s.Name] = s.Edits
	}
	return out
}

// clean fails where the directory holds anything but shards and manifest.
func (p *place) clean(t *testing.T, when string) {
	t.Helper()
	for _, name := range entries(p.dir) {
		if !strings.HasSuffix(name, ".parquet") && name != "manifest.json" {
			t.Errorf("%s there is %s", when, name)
		}
	}
}

func TestInPlaceKeepsModeAndOwnerAndGivesANewTime(t *testing.T) {
	t.Parallel()
	p := newPlace(t, tool(t), 1)
	file := filepath.Join(p.dir, "train-00000-of-00001.parquet")
	for _, at := range []time.Time{time.Now().Add(-time.Hour), time.Now().Add(time.Hour).Truncate(time.Second)} {
		if err := os.Chmod(file, 0o640); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 {
			if err := os.Chown(file, 1234, 5678); err != nil {
				t.Fatal(err)
			}
		} else {
			t.Log("not root: that an owner who is another is kept was not looked at")
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		before := stat(t, file)
		p.must(t, "add", "agent_name="+at.String(), file, "--in-place", "--replace")
		after := stat(t, file)
		if after.Mode() != before.Mode() {
			t.Errorf("mode %v, was %v", after.Mode(), before.Mode())
		}
		a, b := after.Sys().(*syscall.Stat_t), before.Sys().(*syscall.Stat_t)
		if a.Uid != b.Uid || a.Gid != b.Gid {
			t.Errorf("owner %d:%d, was %d:%d", a.Uid, a.Gid, b.Uid, b.Gid)
		}
		if !after.ModTime().After(before.ModTime()) {
			t.Errorf("time %v, was %v: caches would not see that it is another file", after.ModTime(), before.ModTime())
		}
		p.clean(t, "after the edit")
	}
}

func stat(t *testing.T, name string) os.FileInfo {
	t.Helper()
	st, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestInPlaceRefusesSymlinks(t *testing.T) {
	t.Parallel()
	p := newPlace(t, tool(t), 1)
	file := p.files(t)[0]
	link := filepath.Join(t.TempDir(), "link.parquet")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	was := readFile(t, file)
	status, said := p.run("", "add", "agent_name=x", link, "--in-place")
	if status != 2 || !strings.Contains(said, link+" is a symbolic link") {
		t.Errorf("exit %d: %s", status, said)
	}
	if !slices.Equal(readFile(t, file), was) || stat(t, link).Mode()&os.ModeSymlink == 0 {
		t.Error("the link or its file is another")
	}
}

// A run over many files that was interrupted is repeated: what is done is left alone and counted.
func TestInPlaceIsRepeated(t *testing.T) {
	t.Parallel()
	const files, done = 12, 5
	bin := tool(t)
	for _, edit := range [][]string{
		{"add", "agent_name=tool_agent"},
		{"add", "extra_info.row=@row", "extra_info.id=@uuid", "q=@copy:extra_info.question", "p=@path"},
		{"add", "ability=art", "--replace"},
		{"drop", "ability,extra_info.answer"},
		{"rename", "extra_info.index=extra_info.idx"},
		{"select", "prompt,extra_info.question"},
	} {
		t.Run(strings.Join(edit, " "), func(t *testing.T) {
			p := newPlace(t, bin, files)
			args := append(append(edit, p.files(t)...), "--in-place", "-j", "1")
			if status, said := p.run(fmt.Sprintf("edit-after-rename:%d", done), args...); status != -1 {
				t.Fatalf("exit %d: %s", status, said)
			}
			said := p.must(t, args...)
			if want := fmt.Sprintf("%d files written, %d unchanged", files-done, done); !strings.Contains(said, want) {
				t.Errorf("said %q, not %q", said, want)
			}
			for name, edits := range p.edits(t) {
				if want := strings.Join(edit, " "); len(edits) != 1 || edits[0] != want {
					t.Errorf("%s: the manifest says it was edited by %q, not %q", name, edits, want)
				}
			}
			p.clean(t, "after the rerun")
		})
	}
}

// Killed at any point, a run leaves each file whole, old or new; the rerun gives what an undisturbed run gives, and a manifest that
// tells the truth.
func TestInPlaceIsKilled(t *testing.T) {
	t.Parallel()
	bin := tool(t)
	add := func(p *place) []string {
		return append(append([]string{"add", "agent_name=tool_agent"}, p.files(t)...), "--in-place", "-j", "1")
	}
	whole := newPlace(t, bin, 4)
	whole.must(t, add(whole)...)
	want, _ := contents(t, whole.dir)
	for _, point := range []string{"mid-page", "edit-before-rename", "edit-after-rename"} {
		for n := 1; n <= 4; n++ {
			p := newPlace(t, bin, 4)
			before, _ := contents(t, p.dir)
			if status, said := p.run(fmt.Sprintf("%s:%d", point, n), add(p)...); status != -1 {
				t.Fatalf("%s:%d: exit %d: %s", point, n, status, said)
			}
			got, _ := contents(t, p.dir)
			for name := range want {
				if got[name] != before[name] && got[name] != want[name] {
					t.Errorf("%s:%d: %s is neither the old nor the new one", point, n, name)
				}
			}
			p.must(t, add(p)...)
			if got, _ = contents(t, p.dir); len(got) != len(want) {
				t.Errorf("%s:%d: after the rerun there are %d files, not %d", point, n, len(got), len(want))
			}
			for name, sum := range want {
				if got[name] != sum {
					t.Errorf("%s:%d: after the rerun %s is another one", point, n, name)
				}
			}
			p.edits(t)
		}
	}
}

// A manifest of another tool, which often has the same name, is none of ours.
func TestInPlaceLeavesOthersManifestsAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t, tool(t), 1)
	manifest := filepath.Join(p.dir, "manifest.json")
	for _, text := range []string{`["a", "list"]`, `{"version": 3}`, "no JSON"} {
		if err := os.WriteFile(manifest, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		p.must(t, "add", "agent_name="+text, p.files(t)[0], "--in-place", "--replace")
		if got := string(readFile(t, manifest)); got != text {
			t.Errorf("manifest is %q, was %q", got, text)
		}
		p.clean(t, "after the edit")
	}
}
