//go:build unix

package cli

import (
	"context"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rlprep/rlprep/internal/check"
)

// gsm8kRaw is a row that the recipe takes and one that it rejects.
const gsm8kRaw = `{"question":"a?","answer":"x\n#### 1"}` + "\n" + `{"question":"b?","answer":"none"}` + "\n"

// TestIntoWhatIsNoFile writes rejects and reports to a device, a FIFO and a descriptor: they are written into, and stay what they are.
func TestIntoWhatIsNoFile(t *testing.T) {
	fill(t, map[string]string{"raw.jsonl": gsm8kRaw, "data.jsonl": `{"data_source":"x"}` + "\n"})
	must(t, syscall.Mkfifo("fifo", 0o666))
	must(t, os.Symlink(os.DevNull, "null"))
	nodes := []string{"fifo", "null"}
	if err := syscall.Mknod("node", syscall.S_IFCHR|0o666, 1<<8|3); err == nil {
		nodes = append(nodes, "node")
	} else {
		t.Logf("no device node could be made (%v): a link to one is tried alone", err)
	}
	for _, name := range nodes {
		before, err := os.Lstat(name)
		must(t, err)
		for _, args := range [][]string{rejecting(name), {"lint", "data.jsonl", "--no-project", "--exit-zero", "--output-format", "sarif=" + name}} {
			must(t, os.RemoveAll("o"))
			read := make(chan string, 1)
			if name == "fifo" {
				go func() {
					f, err := os.Open("fifo")
					if err != nil {
						read <- err.Error()
						return
					}
					defer f.Close()
					b, _ := io.ReadAll(f)
					read <- string(b)
				}()
			}
			if status, _, stderr := rlprep(args...); status != ExitClean {
				t.Errorf("%v: exit %d\n%s", args, status, stderr)
			}
			if name == "fifo" {
				if got := <-read; !strings.Contains(got, "no-answer-marker") && !strings.Contains(got, "sarif") {
					t.Errorf("%v: the reader of the FIFO got %q", args, got)
				}
			}
			after, err := os.Lstat(name)
			if err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() {
				t.Errorf("%v: %s is another thing now: %v", args, name, err)
			}
		}
	}
	status, _, stderr := rlprep(rejecting("conf")...)
	if status != ExitFile || !strings.Contains(stderr, "conf") {
		t.Errorf("a folder: exit %d\n%s", status, stderr)
	}
}

// TestInterruptedWaitForReader: a run that waits for the reader of a FIFO hears an interrupt.
func TestInterruptedWaitForReader(t *testing.T) {
	fill(t, map[string]string{"raw.jsonl": gsm8kRaw})
	must(t, syscall.Mkfifo("fifo", 0o666))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out strings.Builder
	if status := Main(ctx, rejecting("fifo"), strings.NewReader(""), &out, &out); status != ExitInterrupted {
		t.Errorf("exit %d\n%s", status, &out)
	}
}

// TestDescriptor: /dev/stdout that the shell lets lead to a file is no file to be renamed over.
func TestDescriptor(t *testing.T) {
	fill(t, map[string]string{"raw.jsonl": gsm8kRaw})
	f, err := os.Create("shell")
	must(t, err)
	defer f.Close()
	name := "/dev/fd/" + strconv.Itoa(int(f.Fd()))
	if _, err := os.Stat(name); err != nil {
		t.Skip(err)
	}
	for _, link := range []string{name, "link"} {
		if link == "link" {
			must(t, os.Symlink(name, link))
		}
		must(t, os.RemoveAll("o"))
		if status, _, stderr := rlprep(rejecting(link)...); status != ExitClean {
			t.Fatalf("exit %d\n%s", status, stderr)
		}
	}
	b, err := os.ReadFile("shell")
	must(t, err)
	if n := strings.Count(string(b), "no-answer-marker"); n != 2 {
		t.Errorf("%d times in what the shell opened, not one in each of two runs\n%s", n, b)
	}
	if st, err := os.Lstat("link"); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is replaced: %v", err)
	}
}

// TestFoldersThatHoldInputs: an output directory whose files would be replaced, or whose private place would be emptied, holds no input.
func TestFoldersThatHoldInputs(t *testing.T) {
	work := clobberWorkspace(t)
	set := func(t *testing.T) {
		fill(t, work)
		if status, _, stderr := rlprep("map", "fn.star", "--source", "raw.jsonl", "--split", "train", "-q", "-o", "set"); status != ExitClean {
			t.Fatal(stderr)
		}
	}
	for _, c := range []struct {
		name, args string
		prepare    func(t *testing.T)
		says       []string // empty: it is allowed
	}{
		{"a shard that --force replaces", "run again.yaml -o set --force", nil, []string{"set/train.parquet", "-o"}},
		{"a shard of another split", "run other.yaml -o set", nil, nil},
		{"the private place", "add x=1 .set2.rlprep/out/in.parquet -o set2", func(t *testing.T) {
			must(t, os.MkdirAll(".set2.rlprep/out", 0o777))
			must(t, os.WriteFile(".set2.rlprep/out/in.parquet", []byte(work["data.parquet"]), 0o666))
		}, []string{".set2.rlprep", "in.parquet"}},
		{"the private file", "add x=1 data.parquet .data.parquet.rlprep-part --in-place", func(t *testing.T) {
			must(t, os.WriteFile(".data.parquet.rlprep-part", []byte(work["data.parquet"]), 0o666))
		}, []string{".data.parquet.rlprep-part", "add"}},
		{"the cache", "lint cache/lint/old.part --no-project", func(t *testing.T) {
			must(t, os.MkdirAll("cache/lint", 0o777))
			must(t, os.WriteFile("cache/lint/old.part", []byte(work["data.parquet"]), 0o666))
			t.Setenv(check.CacheVariable, "cache")
		}, []string{check.CacheVariable, "cache/lint/old.part"}},
		{"the summary of GitHub", "lint data.parquet --config env.sh --no-project", func(t *testing.T) { t.Setenv(summaryVariable, "env.sh") }, []string{summaryVariable, "env.sh"}},
		{"rejects in the output", "map fn.star --source raw.jsonl --split train -o new --rejects new/r.jsonl", nil, []string{"new/r.jsonl", "-o new"}},
		{"rejects that are the output", "map fn.star --source raw.jsonl --split train -o new --rejects ./new", nil, []string{"./new", "-o new"}},
		{"two reports", "lint data.parquet --no-project --output-format sarif=a --output-format json=./a", nil, []string{"sarif a", "json ./a"}},
		{"report and baseline", "lint data.parquet --no-project --output-format sarif=a --baseline ./a --write-baseline", nil, []string{"sarif a", "--baseline ./a"}},
		{"an edit over another input", "add x=1 data.parquet d/data.parquet -o d --force", func(t *testing.T) {
			must(t, os.Mkdir("d", 0o777))
			must(t, os.WriteFile("d/data.parquet", []byte(work["data.parquet"]), 0o666))
		}, []string{"d/data.parquet"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set(t)
			must(t, os.WriteFile("again.yaml", []byte("sources: {train: set/train.parquet}\nsteps:\n  - set: {path: again, value: 1}\n"), 0o666))
			must(t, os.WriteFile("other.yaml", []byte("sources: {test: set/train.parquet}\nsteps:\n  - set: {path: again, value: 1}\n"), 0o666))
			if c.prepare != nil {
				c.prepare(t)
			}
			before := snapshot(t)
			status, _, stderr := rlprep(strings.Fields(c.args)...)
			if len(c.says) == 0 {
				if status != ExitClean {
					t.Errorf("exit %d\n%s", status, stderr)
				}
				return
			}
			for _, s := range c.says {
				if !strings.Contains(stderr, s) {
					t.Errorf("the message must name %s:\n%s", s, stderr)
				}
			}
			if after := snapshot(t); status != ExitUsage || !maps.Equal(before, after) {
				t.Errorf("exit %d, or files changed\n%s", status, stderr)
			}
		})
	}
}
