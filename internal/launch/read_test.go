package launch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/verl" // the default target
)

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Read reads a script, a YAML file and arguments, and finds the data that each names.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	train := put(t, dir, "train.parquet", "")
	val := put(t, dir, "val.parquet", "")
	script := put(t, dir, "run.sh", "export TRAIN="+train+"\npython3 -m verl.trainer.main_ppo data.train_files=$TRAIN data.val_files=val.parquet\necho done\n")
	config := put(t, dir, "run.yaml", "data:\n  train_files: train.parquet\n  val_files: [val.parquet, gone.parquet]\n")
	for name, r := range map[string]launch.Request{
		"script":    {File: script},
		"stdin":     {File: "-", Stdin: strings.NewReader("python3 -m verl.trainer.main_ppo data.train_files=" + train + " data.val_files=val.parquet")},
		"yaml":      {File: config},
		"arguments": {Args: []string{"data.train_files=train.parquet", "data.val_files=val.parquet"}},
		"command":   {Args: []string{"python3", "-m", "verl.trainer.main_ppo", "data.train_files=train.parquet", "data.val_files=val.parquet"}},
	} {
		t.Run(name, func(t *testing.T) {
			var read []string
			r.Target, r.Dir, r.Env = rule.DefaultTarget(), dir, launch.Environ([]string{"A=b"})
			r.Reads = func(_, _, path string) error {
				read = append(read, filepath.Base(path))
				return nil
			}
			l, err := launch.Read(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Trainings) != 1 {
				t.Fatalf("%d trainings", len(l.Trainings))
			}
			one, two := l.Trainings[0].Data()
			if !slices.Equal(one, []string{train}) || !slices.Equal(two, []string{val}) {
				t.Errorf("data: %q, %q", one, two)
			}
			if len(l.Trainings[0].Facts(nil)) == 0 {
				t.Error("no facts")
			}
			for _, name := range []string{"train.parquet", "val.parquet"} {
				if !slices.Contains(read, name) {
					t.Errorf("Reads was not called for %s: %q", name, read)
				}
			}
		})
	}
}

// An error of Read says whether the request or the file is at fault.
func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	refused := errors.New("not this one")
	big := put(t, dir, "big.sh", "")
	if err := os.Truncate(big, 9<<20); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		r    launch.Request
		as   any
		text string
	}{
		"missing":   {launch.Request{File: filepath.Join(dir, "none.sh")}, new(*misuse.Error), "no such file"},
		"too large": {launch.Request{File: big}, new(*misuse.Error), "is no launch script: 9.4 MB"},
		"syntax":    {launch.Request{File: put(t, dir, "bad.sh", "if\n")}, new(*launch.ContentError), "bad.sh:1"},
		"yaml":      {launch.Request{File: put(t, dir, "bad.yaml", "a: [\n")}, new(*launch.ContentError), "bad.yaml"},
		"unknown":   {launch.Request{Target: rule.Target{Framework: "none", Version: "1"}}, new(*misuse.Error), "launches of none"},
	} {
		if c.r.Target == (rule.Target{}) {
			c.r.Target = rule.DefaultTarget()
		}
		c.r.Dir = dir
		_, err := launch.Read(context.Background(), c.r)
		if !errors.As(err, c.as) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %T %v, want %T with %q", name, err, err, c.as, c.text)
		}
	}
	r := launch.Request{File: put(t, dir, "run.sh", "python3 -m verl.trainer.main_ppo\n"), Target: rule.DefaultTarget(), Dir: dir, Reads: func(string, string, string) error { return refused }}
	if _, err := launch.Read(context.Background(), r); !errors.Is(err, refused) {
		t.Errorf("Reads refused, and Read returned %v", err)
	}
}
