package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/source"
)

// entriesOf are the entries of a folder.
func entriesOf(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestFilesFrom: every command that offers --files-from takes it without names.
func TestFilesFrom(t *testing.T) {
	work := clobberWorkspace(t)
	for _, args := range []string{
		"inspect --files-from plist", "lint --files-from plist --no-project --exit-zero", "reshard --shards 2 -o r --files-from plist",
		"add x=1 --files-from plist -o a", "drop y --files-from plist -o d", "rename y=z --files-from plist -o n", "select y --files-from plist -o s",
		"preprocess gsm8k --split train --files-from list -o p", "map fn.star --split train --files-from list -o m", "run pipe.yaml --split train --files-from list -o u",
	} {
		fill(t, work)
		if status, _, stderr := rlprep(strings.Fields(args)...); status != ExitClean {
			t.Errorf("%s: exit %d\n%s", args, status, stderr)
		}
	}
	for _, cmd := range allCommands(newRoot(&app{})) {
		if cmd.Flags().Lookup("files-from") != nil && !slices.Contains([]string{"inspect", "lint", "reshard", "add", "drop", "rename", "select", "preprocess", "map", "run"}, cmd.Name()) {
			t.Errorf("%s offers --files-from and is not tried here", cmd.Name())
		}
	}
	if status, _, stderr := rlprep("inspect"); status != ExitUsage || !strings.Contains(stderr, "no files") {
		t.Errorf("inspect of nothing: exit %d\n%s", status, stderr)
	}
}

// TestLongNames: a name may be as long as the file system takes, whatever is written.
func TestLongNames(t *testing.T) {
	work := clobberWorkspace(t)
	for _, n := range []int{242, 243, 250, 255} {
		fill(t, work)
		long := strings.Repeat("x", n-len(".parquet")) + ".parquet"
		if err := os.WriteFile(long, []byte(work["data.parquet"]), 0o666); err != nil {
			t.Skip(err)
		}
		dir := strings.Repeat("d", n)
		for _, args := range [][]string{
			{"add", "x=1", long, "--in-place"}, {"lint", long, "--no-project", "--fix", "--agent", "tool_agent", "--exit-zero"}, {"drop", "x", long, "-o", "out"}, {"add", "z=2", long, "-o", "out", "--force"},
			{"reshard", long, "--shards", "2", "-o", dir}, {"map", "fn.star", "--source", "raw.jsonl", "--split", "train", "-o", "e" + dir[1:]},
			rejecting(strings.Repeat("r", n)),
			{"lint", "data.parquet", "--no-project", "--baseline", strings.Repeat("b", n), "--write-baseline"}, {"init", "-o", strings.Repeat("i", n)},
		} {
			if status, _, stderr := rlprep(args...); status != ExitClean {
				t.Errorf("%d bytes: %s: exit %d\n%.300s", n, args[0], status, stderr)
			}
		}
		for _, name := range append(entriesOf(t, "."), entriesOf(t, "out")...) {
			if strings.HasPrefix(name, ".") {
				t.Errorf("left: %s", name)
			}
		}
	}
}

// TestInTheWay: what the user has where ours would go is refused before the work, is left as it is, and so is the folder.
func TestInTheWay(t *testing.T) {
	work := clobberWorkspace(t)
	for _, c := range []struct {
		name, args string
		prepare    func(t *testing.T)
		status     int
		says       []string
	}{
		{"a folder of the file's name", "add x=1 data.parquet -o d --force", func(t *testing.T) { must(t, os.MkdirAll("d/data.parquet", 0o777)) }, ExitFile, []string{"d/data.parquet is no regular file", "move it away"}},
		{"a file of the private place's name", "map fn.star --source raw.jsonl --split train -o out", func(t *testing.T) { must(t, os.WriteFile(".out.rlprep", nil, 0o666)) }, ExitFile, []string{".out.rlprep is a file", "move it away"}},
		{"the same, reshard", "reshard data.parquet --shards 2 -o out", func(t *testing.T) { must(t, os.WriteFile(".out.rlprep", nil, 0o666)) }, ExitFile, []string{".out.rlprep is a file", "move it away"}},
		{"a shard that the manifest does not list", "map fn.star --source raw.jsonl --split train -o set --force --shards 1 --limit 1", func(t *testing.T) {
			must(t, os.WriteFile("set/train-00000-of-00001.parquet", []byte("mine"), 0o666))
		}, ExitUsage, []string{"train-00000-of-00001.parquet exists", "move it away"}},
		{"the folder of temporary files", "lint raw.jsonl.gz --no-project", func(t *testing.T) {
			t.Setenv("TMPDIR", filepath.Join(source.Absolute("."), "none"))
			t.Setenv("TMP", "none")
		}, ExitFile, []string{"TMP", "none"}},
		{"the same, for keys", "lint data.parquet --no-project", func(t *testing.T) {
			t.Setenv("TMPDIR", filepath.Join(source.Absolute("."), "none"))
			t.Setenv("TMP", "none")
		}, ExitFile, []string{"TMP", "none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fill(t, work)
			if strings.Contains(c.args, "-o set") {
				if status, _, stderr := rlprep("map", "fn.star", "--source", "raw.jsonl", "--split", "train", "-q", "-o", "set"); status != ExitClean {
					t.Fatal(stderr)
				}
			}
			c.prepare(t)
			before := append(entriesOf(t, "."), keysOf(snapshot(t))...)
			status, _, stderr := rlprep(strings.Fields(c.args)...)
			if status != c.status {
				t.Errorf("exit %d\n%s", status, stderr)
			}
			for _, s := range c.says {
				if !strings.Contains(stderr, s) {
					t.Errorf("not said: %s\n%s", s, stderr)
				}
			}
			if after := append(entriesOf(t, "."), keysOf(snapshot(t))...); !slices.Equal(before, after) {
				t.Errorf("left: %v, there was %v", after, before)
			}
		})
	}
}

func keysOf(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func rejecting(rejects string, more ...string) []string {
	return append([]string{"preprocess", "gsm8k", "--source", "raw.jsonl", "--split", "train", "--max-rejects", "1", "-o", "o", "--rejects", rejects}, more...)
}
