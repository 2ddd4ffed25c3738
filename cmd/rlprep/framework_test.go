package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// toyOverlay writes what 'go build -overlay' takes to see one more line in the list of frameworks, the import of schema/testdata/toy. No
// other file of the tool differs.
func toyOverlay(t *testing.T) string {
	t.Helper()
	list, err := filepath.Abs(filepath.Join("..", "..", "internal", "cli", "registry.go"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	const before = "\t_ \"github.com/rlprep/rlprep/schema/verl\"\n"
	with := strings.Replace(string(text), before, "\t_ \"github.com/rlprep/rlprep/schema/testdata/toy\"\n"+before, 1)
	if with == string(text) {
		t.Fatalf("%s imports no schema/verl", list)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "registry.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {list: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{changed: []byte(with), overlay: replace} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

// A toyTool is the tool with one framework more: the binary of the tests of internal/cli, which is the tool where RLPREP_TEST_AS_TOOL is set.
type toyTool struct {
	*testing.T
	bin, dir string
}

// run runs the tool and holds its exit status and its output, both streams, to what is wanted; what begins with "!" must not occur.
func (x *toyTool) run(status int, wants []string, args ...string) {
	x.Helper()
	cmd := exec.Command(x.bin, args...)
	cmd.Dir, cmd.Env = x.dir, toolEnv("RLPREP_CACHE=off", "RLPREP_TEST_AS_TOOL=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		x.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != status {
		x.Errorf("rlprep %s: exit %d, want %d\n%s", strings.Join(args, " "), got, status, out)
	}
	for _, w := range wants {
		text, not := strings.CutPrefix(w, "!")
		if strings.Contains(string(out), text) == not {
			x.Errorf("rlprep %s: output and %q\n%s", strings.Join(args, " "), w, out)
		}
	}
}

// TestFramework adds a framework to the tool by one import: lint, list, explain, launch, schema and the pages of docs/ know it, and no rule
// of one framework looks at the data of another.
func TestFramework(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the tool")
	}
	overlay := toyOverlay(t)
	x := &toyTool{t, filepath.Join(t.TempDir(), "toy.exe"), t.TempDir()}
	if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-vet=off", "-o", x.bin, "../../internal/cli").CombinedOutput(); err != nil {
		t.Fatalf("build with the framework: %v\n%s", err, out)
	}
	for name, text := range map[string]string{
		"q.jsonl":   `{"question":"What is 6 times 12?"}` + "\n",
		"both.json": `[{"question":"What is 6 times 12?","answer":"72"}]`,
		"run.sh":    "python3 -m toy.train data=q.jsonl rounds=5\n",
	} {
		if err := os.WriteFile(filepath.Join(x.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const id = "TOY001"
	x.run(1, []string{id, "KeyError 'answer'", "!RL101", "!RL201"}, "lint", "q.jsonl", "--target", "toy@2")
	x.run(0, []string{id, "warning", "!RL101"}, "lint", "q.jsonl", "--target", "toy@1")
	x.run(0, []string{"no findings"}, "lint", "both.json", "--target", "toy")
	x.run(1, []string{"!" + id, "RL101"}, "lint", "q.jsonl")
	x.run(1, []string{"!" + id, "RL101"}, "lint", "q.jsonl", "--target", "verl@0.6")
	x.run(2, []string{"toy@2 takes no rl rows (pairs)"}, "lint", "q.jsonl", "--target", "toy@2", "--kind", "rl")
	x.run(2, []string{"expected rl, sft, preference or pairs"}, "lint", "q.jsonl", "--kind", "dpo")
	x.run(2, []string{"verl@0.5 to verl@0.9, verl@0.9-v0, toy@1 to toy@2, toy@2-slow"}, "lint", "q.jsonl", "--target", "trl@1")
	x.run(1, []string{id}, "lint", "--config", "run.sh", "--target", "toy@2")
	x.run(0, []string{"toy.train on toy@2", "train_files", "q.jsonl", "run.sh:1"}, "launch", "run.sh", "--target", "toy@2")
	x.run(0, []string{`"value": 3`, "default of toy 2"}, "launch", "data=q.jsonl", "--target", "toy", "--json")
	x.run(0, []string{id, "answer-missing", "error"}, "list", "rules")
	x.run(0, []string{id, "toy >=2: error", "answers are not in the data"}, "explain", "answer-missing")
	x.run(0, []string{`"pairs"`}, "schema", "config")
	t.Run("docs", func(t *testing.T) { toyPages(t, x.bin) })
}

// toyPages makes the pages of docs/ with the framework.
func toyPages(t *testing.T, bin string) {
	docs := t.TempDir()
	cmd := exec.Command(bin, "-test.run", "^TestDocs$", "-update", "-docs", docs)
	cmd.Dir = filepath.Join("..", "..", "internal", "cli")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make the pages: %v\n%s", err, out)
	}
	for name, want := range map[string]string{
		"TOY001.md": "| toy >=2 | error | toy fails with KeyError 'answer' |",
		"README.md": "| verl@0.9-v0 | toy@1 | toy@2 | toy@2-slow |",
	} {
		page, err := os.ReadFile(filepath.Join(docs, "rules", name))
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%s: %v; want %q in\n%s", name, err, want, page)
		}
	}
}
