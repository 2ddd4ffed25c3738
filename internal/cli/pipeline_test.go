package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/rlprep/rlprep/internal/pipefile"
)

// pipelineSchema compiles what 'rlprep schema pipeline' prints.
func pipelineSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(mustRun(t, "schema", "pipeline")))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(pipefile.SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(pipefile.SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is YAML as a JSON Schema is given it.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPipelineSchema: the schema takes what run takes, and refuses what it refuses.
func TestPipelineSchema(t *testing.T) {
	s := pipelineSchema(t)
	files, err := filepath.Glob("../../testdata/pipelines/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d pipelines, %v", len(files), err)
	}
	for _, f := range files {
		if err := s.Validate(asJSON(t, readText(t, f))); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, good := range []string{
		"steps: [index]",
		"steps: [{drop: a}, {select: [a, b]}, {filter: a > 1}, {limit: 5}, {sample: 0.5}, {index: }, {map: fn.star}]",
		"sources: a\nsteps:\n- split: {into: {train: 0.9, test: 0.1}, key: q}\n  splits: [train]\n- cast: {path: a, to: int64}\n- json: {from: a}",
		"sources: {train: [a, b], test: c}\nsteps: [{set: {path: a, value: {x: [1, y]}, if: fill}}]\ncontract: {rows: sft}\noutput: {shards: 2}",
	} {
		if err := s.Validate(asJSON(t, good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"{}",
		"steps: []",
		"steps: [frobnicate]",
		"steps: [{frobnicate: 1}]",
		"steps: [{set: {path: a}}]",
		"steps: [{set: {path: a, value: 1, vaule: 2}}]",
		"steps: [{set: {path: a, value: 1, if: maybe}}]",
		"steps: [{index: }, {drop: a, select: b}]",
		"steps: [index]\nsourcse: a",
		"steps: [index]\ncontract: {rows: sftt}",
		"steps: [index]\noutput: {shards: 0}",
		"steps: [{extract: {from: a, to: b, method: magic}}]",
	} {
		if err := s.Validate(asJSON(t, bad)); err == nil {
			t.Errorf("%s: the schema takes it", bad)
		}
		if _, err := pipefile.Parse("p.yaml", []byte(bad), func(string) (string, error) { return "", os.ErrNotExist }); err == nil {
			t.Errorf("%s: run takes it", bad)
		}
	}
}

// TestTwoOfTwenty: a run that touches two columns of twenty decodes two, beside those that the rules judge, and copies the chunks of the
// others.
func TestTwoOfTwenty(t *testing.T) {
	dir := t.TempDir()
	var row strings.Builder
	for i := range 20 {
		if i > 0 {
			row.WriteString(",")
		}
		row.WriteString(`"c` + string(rune('a'+i)) + `":"value"`)
	}
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const pref = `,"prompt":"p","chosen":"c","rejected":"r","zz":"x"` // what rules of preference rows read is decoded for them
	raw := write("raw.jsonl", strings.Repeat("{"+row.String()+pref+"}\n", 50))
	plain := write("plain.yaml", "sources: {train: raw.jsonl}\nsteps:\n- drop: zz\n")
	mustRun(t, "run", plain, "--source", raw, "-o", filepath.Join(dir, "in"), "-q")
	parquet := filepath.Join(dir, "in", "train.parquet")
	for name, steps := range map[string]string{
		"format": "- format: {path: ca, template: \"{{ca}} {{cb}}\", if: replace}\n- drop: cb\n",
		"script": "def process_fn(e):\n    return {\"ca\": e[\"ca\"] + e.pop(\"cb\")}\n",
		"map":    "- map: {code: \"def process_fn(e):\\n    e['ca'] = e['ca'] + e.pop('cb')\\n    return e\"}\n",
	} {
		args := []string{"run", write(name+".yaml", "sources: {train: raw.jsonl}\nsteps:\n"+steps), "--source", parquet}
		if name == "script" {
			args = []string{"map", write("fn.star", steps), "--source", parquet}
		}
		dry := mustRun(t, append(args, "--dry-run")...)
		if !strings.Contains(dry, "decoded on the way: ca, cb, prompt, chosen, rejected\n") {
			t.Errorf("%s: not just two columns are decoded:\n%s", name, dry)
		}
		var sum struct {
			Copied  int `json:"chunks_copied"`
			Encoded int `json:"chunks_encoded"`
		}
		if err := json.Unmarshal([]byte(mustRun(t, append(args, "-o", filepath.Join(dir, name), "--json")...)), &sum); err != nil {
			t.Fatal(err)
		}
		if sum.Copied != 21 || sum.Encoded != 1 {
			t.Errorf("%s: %d chunks copied and %d encoded, want 21 and 1", name, sum.Copied, sum.Encoded)
		}
	}
}

// TestInit: what init writes is a pipeline that runs.
func TestInit(t *testing.T) {
	s := pipelineSchema(t)
	for name, line := range map[string]string{
		"gsm8k":    `{"question":"1+1?","answer":"It is 2.\n#### 2"}`,
		"math":     `{"problem":"1+1?","solution":"$\\boxed{2}$","level":"1"}`,
		"number":   `{"instruction":"1+1?","output":2}`,
		"messages": `{"messages":[{"role":"user","content":"1+1?"}],"ground_truth":"2"}`,
		"prompt":   `{"prompt":"1+1?","answer":"2","data_source":"openai/gsm8k"}`,
		"odd name": `{"question":"1+1?","answer":"2","a b.c":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			raw, file := filepath.Join(dir, "raw.jsonl"), filepath.Join(dir, "pipeline.yaml")
			if err := os.WriteFile(raw, []byte(line+"\n"+line+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			mustRun(t, "init", "pipeline", raw, "-o", file)
			if err := s.Validate(asJSON(t, readText(t, file))); err != nil {
				t.Error(err)
			}
			out := mustRun(t, "run", file, "--dry-run")
			if !strings.Contains(out, "after: ") || !strings.Contains(out, `"ground_truth":"2"`) || !strings.Contains(out, `"content":"1+1?"`) {
				t.Errorf("%s\ngives\n%s", readText(t, file), out)
			}
			if code, _, stderr := runMain(t, "init", "pipeline", raw, "-o", file); code != ExitUsage || !strings.Contains(stderr, "exists: name another file") {
				t.Errorf("written over: %d %s", code, stderr)
			}
		})
	}
}
