package screen_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/launch/screen"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/verl" // the default target
)

// read reads a script of one command, with the given overrides, each on a line of its own.
func read(t *testing.T, overrides ...string) *launch.Launch {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "run.sh")
	if err := os.WriteFile(name, []byte("python3 -m verl.trainer.main_ppo \\\n "+strings.Join(overrides, " \\\n ")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := launch.Read(context.Background(), launch.Request{File: name, Target: rule.DefaultTarget(), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A fact has its value and the line that sets it, or the version whose default it is.
func TestDescribe(t *testing.T) {
	r := screen.Describe(read(t, "data.train_batch_size=96", "trainer.no_such_key=1"), screen.Judged{})
	if len(r.Commands) != 1 || r.Commands[0].Module != "verl.trainer.main_ppo" || len(r.Commands[0].Overrides) != 2 {
		t.Fatalf("commands: %+v", r.Commands)
	}
	e := r.Effective
	if v := e.Config["data.train_batch_size"]; v.Line != 2 || !strings.HasSuffix(v.File, "run.sh") {
		t.Errorf("a key that is set: %+v", v)
	}
	if v := e.Config["data.max_prompt_length"]; !strings.HasPrefix(v.From, "default of verl") || v.Line != 0 {
		t.Errorf("a default: %+v", v)
	}
	if len(e.Problems) != 1 || !strings.Contains(e.Problems[0], "run.sh:3") || !strings.Contains(e.Problems[0], "no_such_key") {
		t.Errorf("problems: %q", e.Problems)
	}
	if len(e.Facts) == 0 {
		t.Error("no facts")
	}
}

// A default that rarely matters is shown only where it is asked for; a text stands without quotes.
func TestPrint(t *testing.T) {
	r := screen.Describe(read(t, "data.train_batch_size=96", "actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B"), screen.Judged{})
	var short, all strings.Builder
	r.Print(&short, false)
	r.Print(&all, true)
	for _, want := range []string{"verl.trainer.main_ppo on " + rule.DefaultTarget().String(), "Qwen/Qwen2.5-0.5B  ", " :3\n"} {
		if !strings.Contains(short.String(), want) {
			t.Errorf("no %q in\n%s", want, short.String())
		}
	}
	lines := strings.Split(all.String(), "\n")
	if n := strings.Count(short.String(), "\n"); n >= len(lines)-1 {
		t.Errorf("%d lines, and %d with all", n, len(lines)-1)
	}
	for line := range strings.Lines(short.String()) {
		name := strings.Fields(line)
		if len(name) > 0 && !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), name[0]) }) {
			t.Errorf("%q is not among all", line)
		}
	}
}

// A fact that is not known says what is needed; with the training files it is known. The last line is what lint finds.
func TestJudged(t *testing.T) {
	l := read(t, "data.train_batch_size=4", "trainer.total_epochs=3")
	show := func(j screen.Judged) string {
		var b strings.Builder
		screen.Describe(l, j).Print(&b, false)
		return b.String()
	}
	if got := strings.Join(strings.Fields(show(screen.Judged{})), " "); !strings.Contains(got, " steps_per_epoch unknown default of verl") || strings.Contains(got, "lint:") {
		t.Error(got)
	}
	file := &rule.File{Name: "train.parquet", Schema: &schema.Schema{}, Rows: 10}
	got := show(screen.Judged{Lint: &screen.Lint{Errors: 1, Command: "rlprep lint"}, Train: map[*launch.Training][]*rule.File{l.Trainings[0]: {file}}})
	for _, want := range []string{": 10 rows / data.train_batch_size 4\n", "\nlint: 1 error: rlprep lint\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// The last line counts by level, and names a command only where it shows something.
func TestLint(t *testing.T) {
	for want, l := range map[string]screen.Lint{
		"no problems": {Command: "x"},
		"2 errors, 1 warning, 1 info, 1 unreadable file: x":                                 {Errors: 2, Warnings: 1, Infos: 1, Unread: 1, Command: "x"},
		"no problems in the launch and the footers of its data (the rows were not read): x": {FootersOnly: true, Command: "x"},
		"not checked: no such file":                                                         {Failed: "no such file", Errors: 1},
	} {
		if got := l.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What calls nothing says so.
func TestPrintNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.sh")
	if err := os.WriteFile(name, []byte("true\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := launch.Read(context.Background(), launch.Request{File: name, Target: rule.DefaultTarget(), Dir: filepath.Dir(name)})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	screen.Describe(l, screen.Judged{}).Print(&b, false)
	if !strings.Contains(b.String(), "run.sh: calls none of python, ") {
		t.Error(b.String())
	}
}

// Two launches differ in what one of them sets to another value; a key that only one has is "-" at the other.
func TestCompare(t *testing.T) {
	a := read(t, "data.train_batch_size=96", "data.seed=1").Trainings[0]
	b := read(t, "data.train_batch_size=128", "data.seed=1", "+ray_kwargs.ray_init.mine=2").Trainings[0]
	if got := screen.Compare(a, a); len(got) != 0 {
		t.Errorf("with itself: %+v", got)
	}
	list := screen.Compare(a, b)
	names := map[string]screen.Difference{}
	for _, d := range list {
		names[d.Name] = d
	}
	if d := names["ray_kwargs.ray_init.mine"]; d.A != nil || d.B == nil {
		t.Errorf("a key of one alone: %+v", d)
	}
	if _, ok := names["data.seed"]; ok || names["data.train_batch_size"].A == nil {
		t.Errorf("differences: %+v", names)
	}
	var out strings.Builder
	screen.PrintDifferences(&out, list)
	if !strings.Contains(out.String(), "ray_kwargs.ray_init.mine\n  a -\n  b 2  ") {
		t.Error(out.String())
	}
}
