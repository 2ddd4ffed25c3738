package cli

import (
	"bytes"
	"compress/gzip"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/source"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagKinds says of every flag whose value is text whether it names what is written, what is read, or no file at all. A flag is named alone, or
// with its command where that matters.
var flagKinds = map[string]string{
	"out": "writes", "rejects": "writes", "output-format": "writes", "baseline": "writes", // baseline with --write-baseline
	"source": "reads", "files-from": "reads", "val": "reads", "config": "reads", "project": "reads", "split": "reads",
	"from": "neither: the name of a recipe", "param": "neither: an argument of a recipe's script",
	"python": "neither: a program that is asked for its version", "cwd": "neither: the folder that names in a launch are taken from", "env": "neither",
	"backup": "neither: the end of a name; a file of that name is never replaced", "after": "neither", "agent": "neither", "compression": "neither", "data-source": "neither", "expects": "neither", "fail-level": "neither",
	"hf-metadata": "neither", "ignore": "neither", "index-scope": "neither", "instruction": "neither", "key": "neither", "kind": "neither",
	"known-agents": "neither", "known-sources": "neither", "max-line-bytes": "neither", "max-rejects": "neither", "max-value-bytes": "neither", "schema": "neither", "select": "neither", "shard-size": "neither",
	"system": "neither", "target": "neither",
}

// A clobbering is a command line that works, and the files that it reads, by the names that the run knows them by.
type clobbering struct {
	args    string
	inputs  string
	outputs map[string]string // flag to the words that give it X; a flag with no value of its own (--fix) is in args
}

var dirAndRejects = map[string]string{"out": "-o X --force", "rejects": "-o o --rejects X"}

// clobberings has for every command that writes what it may read.
var clobberings = map[string][]clobbering{
	"preprocess": {
		{"preprocess gsm8k --source raw.jsonl --split train", "raw.jsonl", dirAndRejects},
		{"preprocess gsm8k --files-from list --split train", "list raw.jsonl", dirAndRejects},
		{"preprocess gsm8k --source . --split train=raw.jsonl", "raw.jsonl", dirAndRejects},
		{"preprocess gsm8k --source raw.jsonl.gz --split train", "raw.jsonl.gz", dirAndRejects},
	},
	"run": {
		{"run pipe.yaml", "pipe.yaml fn.star raw.jsonl", dirAndRejects},
		{"run pipe.yaml --source other.jsonl --split train", "pipe.yaml fn.star other.jsonl", dirAndRejects},
	},
	"map": {
		{"map fn.star --source raw.jsonl --split train", "fn.star raw.jsonl", dirAndRejects},
		{"map fn.star --files-from list --split train", "fn.star list raw.jsonl", dirAndRejects},
	},
	"add":     {{"add x=1 data.parquet --files-from plist", "data.parquet other.parquet plist", map[string]string{"out": "-o X --force"}}},
	"drop":    {{"drop y data.parquet --files-from plist", "data.parquet other.parquet plist", map[string]string{"out": "-o X --force"}}},
	"rename":  {{"rename y=z data.parquet --files-from plist", "data.parquet other.parquet plist", map[string]string{"out": "-o X --force"}}},
	"select":  {{"select prompt,y data.parquet --files-from plist", "data.parquet other.parquet plist", map[string]string{"out": "-o X --force"}}},
	"reshard": {{"reshard --shards 2 data.parquet --files-from plist", "data.parquet other.parquet plist", map[string]string{"out": "-o X"}}},
	"init": {
		{"init", "train.jsonl run.sh", map[string]string{"out": "-o X --force"}},
		{"init pipeline data.parquet", "data.parquet", map[string]string{"out": "-o X --force"}},
	},
	"lint": {
		{"lint data.parquet --val other.parquet --no-project --exit-zero", "data.parquet other.parquet", lintOutputs},
		{"lint --files-from plist --config run.sh --no-project --exit-zero", "plist other.parquet run.sh env.sh conf/c.yaml train.jsonl", lintOutputs},
		{"lint --config conf/c.yaml --no-project --exit-zero", "conf/c.yaml train.jsonl", lintOutputs},
		{"lint --project project.yaml --exit-zero", "project.yaml data.parquet run.sh train.jsonl", lintOutputs},
		{"lint --project two.yaml --fix --exit-zero", "two.yaml data.parquet other.parquet", lintOutputs},
		{"lint data.parquet --baseline base.json --no-project --exit-zero", "data.parquet base.json", map[string]string{"output-format": "--output-format sarif=X"}},
		{"lint damaged.parquet data.parquet --no-project --exit-zero", "damaged.parquet data.parquet", lintOutputs},
		{"lint data.parquet --fix --agent tool_agent --no-project --exit-zero", "data.parquet", lintOutputs},
	},
}

var lintOutputs = map[string]string{"output-format": "--output-format sarif=X", "baseline": "--baseline X --write-baseline"}

// TestEveryFlagIsClassified walks the flags of every command. A flag that is new is first entered in flagKinds; one that names what is written needs
// attempts in clobberings for each command that has it.
func TestEveryFlagIsClassified(t *testing.T) {
	used := map[string]bool{}
	for _, cmd := range allCommands(newRoot(&app{})) {
		each := func(f *pflag.Flag) {
			if slices.Contains([]string{"bool", "int", "int64", "float64", "count", "duration"}, f.Value.Type()) {
				return
			}
			kind := flagKinds[f.Name]
			used[f.Name] = true
			switch {
			case kind == "":
				t.Errorf("%s --%s: is not in flagKinds: does it name what is read, what is written, or neither?", cmd.CommandPath(), f.Name)
			case kind == "writes" && !slices.ContainsFunc(clobberings[cmd.Name()], func(c clobbering) bool { return c.outputs[f.Name] != "" }):
				t.Errorf("%s --%s: names what is written, and no attempt in clobberings points it at an input", cmd.CommandPath(), f.Name)
			}
		}
		cmd.LocalFlags().VisitAll(each)
	}
	for name := range flagKinds {
		if !used[name] {
			t.Errorf("flagKinds has --%s, which no command has", name)
		}
	}
}

func allCommands(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		out = append(out, allCommands(c)...)
	}
	return out
}

// routes are how an output may lead to a file: they make what is needed and return the name to give.
var routes = map[string]func(t *testing.T, file string) string{
	"itself": func(_ *testing.T, file string) string { return file },
	"a longer way": func(t *testing.T, file string) string {
		must(t, os.MkdirAll("way/in", 0o777))
		return "./way/in/../../" + file
	},
	"absolute": func(_ *testing.T, file string) string { return source.Absolute(file) },
	"symbolic link": func(t *testing.T, file string) string {
		must(t, os.Symlink(source.Absolute(file), "link"))
		return "link"
	},
	"link to a link": func(t *testing.T, file string) string {
		must(t, os.Symlink(source.Absolute(file), "one"))
		must(t, os.Symlink("one", "two"))
		return "two"
	},
	"linked folder": func(t *testing.T, file string) string {
		must(t, os.Symlink(".", "here"))
		return "here/" + file
	},
	"hard link": func(t *testing.T, file string) string {
		must(t, os.Link(file, "hard"))
		return "hard"
	},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoOutputIsAnInput points every output of every command at every file that it reads, in every way: exit status 2, both names in the message, and
// every file as it was.
func TestNoOutputIsAnInput(t *testing.T) {
	if !canLink(t) {
		t.Skip("this machine has no links")
	}
	work := clobberWorkspace(t)
	for _, command := range slices.Sorted(maps.Keys(clobberings)) {
		for i, c := range clobberings[command] {
			for _, flag := range slices.Sorted(maps.Keys(c.outputs)) {
				t.Run(c.args+" "+c.outputs[flag], func(t *testing.T) {
					c.works(t, work, flag)
					for _, input := range strings.Fields(c.inputs) {
						for _, way := range slices.Sorted(maps.Keys(routes)) {
							if i > 0 && !slices.Contains([]string{"itself", "symbolic link", "hard link"}, way) {
								continue // every way once for each command
							}
							c.attempt(t, work, flag, input, way)
						}
					}
				})
			}
		}
	}
}

func canLink(t *testing.T) bool {
	dir := t.TempDir()
	return os.Symlink("a", filepath.Join(dir, "b")) == nil
}

// works sees that the command works where its output is a file of its own, so that what refuses the others is the guard.
func (c *clobbering) works(t *testing.T, work map[string]string, flag string) {
	t.Helper()
	fill(t, work)
	status, stdout, stderr := rlprep(append(strings.Fields(c.args), strings.Fields(strings.ReplaceAll(c.outputs[flag], "X", "elsewhere"))...)...)
	if status != ExitClean && !strings.Contains(c.args, "damaged") {
		t.Fatalf("exit %d with an output of its own\n%s%s", status, stdout, stderr)
	}
	if _, err := os.Lstat("elsewhere"); err != nil && !strings.Contains(c.args, "damaged") {
		t.Errorf("nothing written: %v", err)
	}
}

func (c *clobbering) attempt(t *testing.T, work map[string]string, flag, input, way string) {
	t.Helper()
	fill(t, work)
	name := routes[way](t, input)
	before := snapshot(t)
	args := append(strings.Fields(c.args), strings.Fields(strings.ReplaceAll(c.outputs[flag], "X", name))...)
	status, _, stderr := rlprep(args...)
	if status != ExitUsage {
		t.Errorf("%v: exit %d, not 2\n%s", args, status, stderr)
	}
	if !strings.Contains(stderr, name) || !strings.Contains(stderr, input) {
		t.Errorf("%v: the message must name %s and %s:\n%s", args, name, input, stderr)
	}
	if after := snapshot(t); !maps.Equal(before, after) {
		t.Errorf("%v: files changed: %v, were %v", args, slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
}

// fill makes a fresh working directory with the files of work.
func fill(t *testing.T, work map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("conf", 0o777))
	for name, text := range work {
		must(t, os.WriteFile(name, []byte(text), 0o666))
	}
}

// snapshot is every file below the working directory, with what it holds.
func snapshot(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(".", func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out[name] = e.Type().String()
			if b, err := os.ReadFile(name); err == nil {
				out[name] += string(b)
			}
		}
		return err
	}))
	return out
}

// clobberWorkspace makes the files that clobberings read.
func clobberWorkspace(t *testing.T) map[string]string {
	t.Helper()
	t.Chdir(t.TempDir())
	if status, _, stderr := rlprep("preprocess", "gsm8k", "--demo", "-q", "-o", "demo"); status != ExitClean {
		t.Fatal(stderr)
	}
	if status, _, stderr := rlprep("add", "y=1", "demo/train.parquet", "-q", "-o", "two"); status != ExitClean {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile("two/train.parquet")
	must(t, err)
	raw := `{"question":"What is one and one?","answer":"It is two.\n#### 2"}` + "\n"
	return map[string]string{
		"data.parquet": string(data), "other.parquet": string(data), "damaged.parquet": "PAR1" + strings.Repeat("x", 100) + "PAR1",
		"raw.jsonl": raw, "other.jsonl": raw, "raw.jsonl.gz": zipped(t, raw), "train.jsonl": raw,
		"list": "raw.jsonl\n", "plist": "other.parquet\n",
		"fn.star":      clobberScript,
		"pipe.yaml":    "sources:\n  train: raw.jsonl\nsteps:\n  - map: {file: fn.star}\ncontract: {rows: rl}\n",
		"run.sh":       "source ./env.sh\npython3 -m verl.trainer.main_ppo --config-path=$PWD/conf --config-name=c data.train_batch_size=$SIZE\n",
		"env.sh":       "SIZE=2\n",
		"conf/c.yaml":  "data:\n  train_files: train.jsonl\n  prompt_key: prompt\n",
		"project.yaml": "datasets:\n  one:\n    train: data.parquet\n  two:\n    config: run.sh\n",
		"two.yaml":     "datasets:\n  one:\n    train: data.parquet\n  two:\n    train: other.parquet\n",
		"base.json":    "{\"version\": 1, \"findings\": []}\n",
	}
}

const clobberScript = `def process_fn(example, idx):
    return {
        "data_source": "openai/gsm8k",
        "prompt": [{"role": "user", "content": example["question"]}],
        "reward_model": {"style": "rule", "ground_truth": "2"},
        "extra_info": {"index": idx, "split": "train"},
    }
`

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	must(t, err)
	must(t, w.Close())
	return b.String()
}
