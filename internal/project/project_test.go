package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	_ "github.com/rlprep/rlprep/schema/hf" // rules that a file may name
	_ "github.com/rlprep/rlprep/schema/verl"
)

// whole has every key.
const whole = `target: verl@0.8
rows: rl
config: run.sh
select: [RL3, RL4]
ignore: index-duplicate
known_agents: [mine]
known_sources: my/data
fail_level: warning
output_formats: [full, sarif=lint.sarif]
baseline: baseline.yaml
per_file_ignores:
  - files: val/*.parquet
    rules: [RL302]
    reason: evaluated in one turn
datasets:
  one:
    train: [a/*.parquet, b]
    val: v.parquet
    test: t.parquet
    target: verl@0.9-v0
    known_agents: []
  two: {config: other.sh, ignore: RL7}
`

func schemaOf(t testing.TB) *jsonschema.Schema {
	text, err := json.Marshal(JSONSchema())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validates reports whether text keeps to the schema.
func validates(t testing.TB, s *jsonschema.Schema, text string) error {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	asJSON, err := json.Marshal(v)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

func TestWhole(t *testing.T) {
	text := strings.Replace(whole, "    known_agents: []\n", "", 1)
	f, err := Parse("rlprep.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := validates(t, schemaOf(t), text); err != nil {
		t.Error(err)
	}
	one, two := f.Datasets[0], f.Datasets[1]
	got := fmt.Sprint(f.Target, f.Rows, f.Configs, f.Select, f.Ignore, f.Agents, f.Sources, f.FailLevel, f.Formats, f.Baseline, f.PerFile,
		one.Name, one.Where, one.Splits, one.Target, two.Name, two.Configs, two.Ignore)
	const want = "verl@0.8rl[run.sh][RL3 RL4][index-duplicate][mine][my/data]warning[full sarif=lint.sarif]baseline.yaml" +
		"[{rlprep.yaml:12:5 [val/*.parquet] [RL302] evaluated in one turn}]onerlprep.yaml:16:3[{train [a/*.parquet b]} {validation [v.parquet]} {test [t.parquet]}]verl@0.9-v0two[other.sh][RL7]"
	if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestDocs: the example of docs/scripting.md is one that is taken.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "scripting.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## rlprep.yaml\n")
	_, example, _ := strings.Cut(section, "```yaml\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("there is no example")
	}
	f, err := Parse("docs", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if err := validates(t, schemaOf(t), example); err != nil {
		t.Error(err)
	}
	if len(f.Datasets) != 2 || len(f.PerFile) != 1 {
		t.Errorf("%+v", f)
	}
	for key := range JSONSchema()["properties"].(map[string]any) {
		if !strings.Contains(section, "`"+key+"`") {
			t.Errorf("docs/scripting.md says nothing of the key %s", key)
		}
	}
}

// TestErrors: every fault has its place, with the nearest name where one is misspelt, and the schema that editors use refuses what Parse does,
// beside what only the registries know.
func TestErrors(t *testing.T) {
	s := schemaOf(t)
	for _, c := range []struct {
		text, want string
		known      bool // only the registries tell
	}{
		{"", "rlprep.yaml:1:1: the file is empty: 'rlprep init' writes one", true},
		{"- a\n", "rlprep.yaml:1:1: the file is a list, expected a mapping", false},
		{"targte: verl@0.9\n", `rlprep.yaml:1:1: unknown key "targte"; did you mean "target"?`, false},
		{"target: verl@3\n", `rlprep.yaml:1:9: unknown target "verl@3"`, true},
		{"target: [verl@0.9]\n", "rlprep.yaml:1:9: target is a list, expected a text", false},
		{"rows: rll\n", `rlprep.yaml:1:7: unknown kind of rows "rll"; did you mean "rl"?`, false},
		{"select: [RL3, RL999]\n", `rlprep.yaml:1:15: unknown rule "RL999"`, true},
		{"ignore: agent-name-nul\n", `rlprep.yaml:1:9: unknown rule "agent-name-nul"; did you mean "agent-name-null"?`, true},
		{"ignore: []\n", "rlprep.yaml:1:9: ignore is an empty list", false},
		{"known_agents: [a, 3]\n", "rlprep.yaml:1:19: known_agents: 3, expected a text", false},
		{"fail_level: fatal\n", `rlprep.yaml:1:13: unknown level "fatal" (error, warning, info)`, false},
		{"output_formats: [full, srif=x]\n", `rlprep.yaml:1:24: unknown output format "srif"; did you mean "sarif"?`, false},
		{"baseline: 3\n", "rlprep.yaml:1:11: baseline is 3, expected a text", false},
		{"datasets: []\n", "rlprep.yaml:1:11: datasets is a list, expected a mapping of names", false},
		{"datasets: {}\n", "rlprep.yaml:1:11: datasets is a mapping, expected a mapping of names", false},
		{"datasets:\n  a: data/\n", `rlprep.yaml:2:6: data set a is "data/", expected a mapping`, false},
		{"datasets:\n  a: {}\n", "rlprep.yaml:2:3: data set a names neither files (train, val, test) nor a launch (config)", false},
		{"datasets:\n  a:\n    trian: x\n    val: y\n", `rlprep.yaml:3:5: unknown key "trian"; did you mean "train"?`, false},
		{"datasets:\n  a:\n    train:\n", "rlprep.yaml:3:11: train: empty, expected a text", false},
		{"per_file_ignores: {files: a}\n", "rlprep.yaml:1:19: per_file_ignores is a mapping, expected a list", false},
		{"per_file_ignores:\n- {files: a, rules: RL302}\n", "rlprep.yaml:2:3: an entry of per_file_ignores needs reason", false},
		{"per_file_ignores:\n- {files: a, rules: RL302, reason: '  '}\n", "rlprep.yaml:2:3: an entry of per_file_ignores needs reason", false},
		{"per_file_ignores:\n- {rules: RL302, reason: r}\n", "rlprep.yaml:2:3: an entry of per_file_ignores needs files", false},
		{"a: &x 1\n", "rlprep.yaml:1:4: anchors and aliases are not supported", true},
		{"target: verl@0.9\ntarget: verl@0.8\n", `rlprep.yaml:2:1: duplicate key "target" (first on line 1)`, true},
	} {
		_, err := Parse("rlprep.yaml", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
		if !c.known && validates(t, s, c.text) == nil {
			t.Errorf("%q: the schema takes it", c.text)
		}
	}
	_, err := Parse("rlprep.yaml", []byte("rows: x\nignroe: a\ntarget: 3\n"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("not all faults at once: %v", err)
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home) // Windows
	for _, dir := range []string{"home/repo/.git", "home/repo/a/b", "home/other", "home/repo2/.git", "home/bad/rlprep.yaml"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"rlprep.yaml", "home/repo/rlprep.yaml"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		"home/repo":     "rlprep.yaml",
		"home/repo/a/b": filepath.Join("..", "..", "rlprep.yaml"),
		"home/repo2":    "", // a repository's root ends the search
		"home/other":    "", // so does the home directory
		".":             "rlprep.yaml",
	} {
		if got, err := Find(filepath.Join(root, dir)); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", dir, got, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "home/repo2/rlprep.yml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(filepath.Join(root, "home/repo2")); err == nil || err.Error() != "rlprep.yml: the file is called rlprep.yaml: rename it" {
		t.Errorf("rlprep.yml: %v", err)
	}
	if _, err := Find(filepath.Join(root, "home/bad")); err == nil {
		t.Error("a folder called rlprep.yaml is no error")
	}
}

// FuzzParse: whatever a file holds, it is read or refused with a place.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("datasets: {a: {train: [x, {y: 1}]}}\n")
	f.Add("per_file_ignores: [1, {files: 2}, {reason: [a]}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Parse("p.yaml", []byte(text)); err != nil && !strings.HasPrefix(err.Error(), "p.yaml:") {
			t.Errorf("error without a place: %v", err)
		}
	})
}
