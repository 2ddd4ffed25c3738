//go:build unix

package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const namedRow = `{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"q"}],"ability":"math","reward_model":{"style":"rule","ground_truth":"1"},"extra_info":{"index":0}}` + "\n"

// TestPipeAsFile names a pipe without a writer wherever a file is read that only a regular file can be: the run ends, and says which.
func TestPipeAsFile(t *testing.T) {
	fill(t, map[string]string{"data.jsonl": namedRow})
	dir, err := filepath.Abs("cfg")
	must(t, err)
	must(t, os.MkdirAll(dir, 0o777))
	must(t, os.WriteFile("cfg/run.sh", []byte("python3 -m verl.trainer.main_ppo --config-path="+dir+" --config-name=fifo data.train_files=data.jsonl\n"), 0o666))
	if status, _, stderr := rlprep("preprocess", "gsm8k", "--demo", "-o", "shards", "-q"); status != ExitClean {
		t.Fatal(stderr)
	}
	must(t, os.Remove("shards/train.parquet"))
	for _, name := range []string{"fifo", "fifo.parquet", "fifo.jsonl", "shards/train.parquet", "cfg/fifo.yaml"} {
		must(t, syscall.Mkfifo(name, 0o666))
	}
	must(t, os.MkdirAll("made", 0o777))
	must(t, syscall.Mkfifo("made/manifest.json", 0o666))
	for _, args := range [][]string{
		{"inspect", "fifo"}, {"inspect", "fifo.parquet"}, {"inspect", "fifo.jsonl"}, {"lint", "fifo"}, {"lint", "fifo.parquet"}, {"lint", "fifo.jsonl"},
		{"diff", "fifo.parquet", "data.jsonl"}, {"diff", "data.jsonl", "fifo.jsonl"}, {"reshard", "fifo.parquet", "--shards", "2", "-o", "o"},
		{"add", "a=1", "fifo.parquet", "-o", "o"}, {"drop", "a", "fifo.parquet", "--in-place"}, {"preprocess", "gsm8k", "--source", "fifo.jsonl", "-o", "o"},
		{"verify", "shards"}, {"verify", "made"}, {"lint", "--fix", "fifo.parquet"},
	} {
		status, stdout, stderr := rlprep(args...)
		if status == ExitClean || !strings.Contains(stdout+stderr, "fifo") && !strings.Contains(stdout+stderr, "train.parquet") && !strings.Contains(stdout+stderr, "manifest.json") ||
			!strings.Contains(stdout+stderr, "not a regular file") {
			t.Errorf("%v: exit %d\n%s%s", args, status, stdout, stderr)
		}
	}
	if status, stdout, stderr := rlprep("launch", "cfg/run.sh"); !strings.Contains(stdout+stderr, "fifo.yaml: not read: not a regular file") {
		t.Errorf("launch: exit %d\n%s%s", status, stdout, stderr)
	}
	must(t, os.Remove("fifo"))
	must(t, syscall.Mkfifo("rlprep.yaml", 0o666))
	if status, _, stderr := rlprep("lint", "data.jsonl"); status != ExitUsage || !strings.Contains(stderr, "rlprep.yaml: not a regular file") {
		t.Errorf("rlprep.yaml: exit %d\n%s", status, stderr)
	}
}

// TestPipeRead names a pipe where one is read, such as bash makes for <(command). Its text is used; and while its writer writes nothing, an
// interrupt ends the run.
func TestPipeRead(t *testing.T) {
	const script = "def process_fn(example, idx):\n    return example\n"
	for name, c := range map[string]struct {
		text string
		args []string
	}{
		"files-from": {"data.jsonl\n", []string{"lint", "--no-project", "--files-from", "fifo"}},
		"baseline":   {"", []string{"lint", "data.jsonl", "--no-project", "--baseline", "fifo"}},
		"map":        {script, []string{"map", "fifo", "--source", "data.jsonl", "--split", "train", "-o", "o"}},
		"run":        {"", []string{"run", "fifo"}},
		"launch":     {"python3 -m verl.trainer.main_ppo data.train_batch_size=8\n", []string{"launch", "fifo"}},
		"project":    {"", []string{"lint", "data.jsonl", "--project", "fifo"}},
	} {
		t.Run(name, func(t *testing.T) {
			fill(t, map[string]string{"data.jsonl": namedRow, "id.star": script})
			must(t, syscall.Mkfifo("fifo", 0o666))
			if c.text != "" {
				go func() { _ = os.WriteFile("fifo", []byte(c.text), 0o666) }()
				if status, stdout, stderr := rlprep(c.args...); status == ExitUsage || status == ExitFile {
					t.Errorf("exit %d\n%s%s", status, stdout, stderr)
				}
				must(t, os.RemoveAll("o"))
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan int, 1)
			go func() { done <- Main(ctx, c.args, strings.NewReader(""), io.Discard, io.Discard) }()
			w, err := os.OpenFile("fifo", os.O_WRONLY, 0) // waits for the run to open it
			must(t, err)
			defer w.Close()
			cancel()
			if status := <-done; status != ExitInterrupted {
				t.Errorf("interrupted: exit %d", status)
			}
		})
	}
}

// TestSilentInput interrupts commands that wait for standard input.
func TestSilentInput(t *testing.T) {
	fill(t, map[string]string{"data.jsonl": namedRow})
	for _, args := range [][]string{{"inspect", "-"}, {"lint", "-", "--no-project"}, {"lint", "--files-from", "-", "--no-project"}, {"launch", "-"}} {
		r, w, err := os.Pipe()
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan int, 1)
		var stderr bytes.Buffer
		go func() { done <- Main(ctx, args, r, io.Discard, &stderr) }()
		_, err = w.WriteString("a")
		must(t, err)
		cancel()
		if status := <-done; status != ExitInterrupted {
			t.Errorf("%v: exit %d: %s", args, status, stderr.String())
		}
		w.Close()
		r.Close()
	}
}
