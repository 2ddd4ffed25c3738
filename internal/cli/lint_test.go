package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/source"
)

// lintRules returns the rules that lint finds, each once.
func lintRules(t *testing.T, args ...string) []string {
	t.Helper()
	_, stdout, stderr := runMain(t, append([]string{"lint", "-q", "--output-format", "jsonl"}, args...)...)
	if stderr != "" {
		t.Fatal(stderr)
	}
	var out []string
	for line := range strings.Lines(stdout) {
		var j struct{ Rule string }
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			t.Fatal(err)
		}
		out = append(out, j.Rule)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestRecipesLint holds what recipes write to what they declare: Expects and nothing else, and with --fixed nothing but notFixed.
func TestRecipesLint(t *testing.T) {
	sources := map[string][]string{"sample": {"--demo"}}
	if dir := sharedPath("data/gsm8k"); dir != "" {
		sources["GSM8K"] = []string{"--source", dir}
	} else {
		t.Log("SKIPPED the real GSM8K: it is not there")
	}
	ran := 0
	for name, from := range sources {
		for _, r := range datasets.All() {
			if r.Sample == nil || name == "GSM8K" && !strings.HasPrefix(r.Name, "gsm8k") {
				continue
			}
			for _, target := range []string{"", "verl@0.7", "verl@0.8", "verl@0.9", "verl@0.9-v0"} {
				if name == "GSM8K" && target != "" && target != "verl@0.7" && !long() {
					continue
				}
				t.Run(strings.Join([]string{name, r.Name, target}, " "), func(t *testing.T) {
					t.Parallel()
					lintRecipe(t, r, target, from)
				})
				ran++
			}
		}
	}
	if ran == 0 {
		t.Fatal("no recipe was run")
	}
}

// otherInputRaises are rules of Expects that the sample does not raise, but another input of the recipe does (see fixtures_test.go).
var otherInputRaises = map[string]string{"preprocess_search_r1_dataset": "RL205"}

// onlySampleRaises are rules that a sample raises by its rows, whatever the recipe does: it repeats a prompt.
var onlySampleRaises = map[string]string{"hellaswag": "RL603", "rep_exp_dapo_with_aime": "RL602"}

// notFixed are rules of Expects that --fixed leaves, and why.
var notFixed = map[string]string{
	"RL013": "the column is the script's own, and verl's own value takes its place",
	"RL203": "no row is at fault: the launch brings the scorer",
	"RL303": "no row is at fault: the launch registers the agent loop",
	"RL404": "the files count alike; --index-scope run counts on",
}

func lintRecipe(t *testing.T, r *datasets.Recipe, target string, from []string) {
	var at []string
	if target != "" {
		at = []string{"--target", target}
	}
	for _, fixed := range []bool{false, true} {
		if fixed && r.NoUse["fixed"] != "" {
			continue
		}
		out := filepath.Join(t.TempDir(), "out")
		args := slices.Concat([]string{"preprocess", r.Name, "-q", "-o", out}, at, from)
		want := slices.DeleteFunc(slices.Clone(r.Expects), func(id string) bool { return id == otherInputRaises[r.Name] })
		if fixed {
			args = append(args, "--fixed")
			want = slices.DeleteFunc(want, func(id string) bool { return notFixed[id] == "" })
		}
		code, _, stderr := runMain(t, args...)
		if code == ExitUsage && strings.Contains(stderr, "does not exist in") {
			return
		}
		if code != ExitClean {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
		got := slices.DeleteFunc(lintRules(t, append(slices.Clone(at), "--kind", r.Rows.String(), out)...), func(id string) bool { return id == onlySampleRaises[r.Name] })
		if !slices.Equal(got, want) {
			t.Errorf("%v: found %v, want %v", args, got, want)
		}
	}
}

// hollow overwrites the pages of a Parquet file of one row group, but those of the columns that keep names.
func hollow(t *testing.T, name string, keep func(path string) bool) {
	t.Helper()
	f, err := parquetio.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	at := int64(len("PAR1"))
	for _, l := range f.LeafInfos() {
		if !keep(string(l.Path)) {
			if _, err := w.WriteAt(slices.Repeat([]byte{0xFF}, int(l.Compressed)), at); err != nil {
				t.Fatal(err)
			}
		}
		at += l.Compressed
	}
}

// TestReadsNothingElse lints files whose pages are destroyed: whoever reads one fails.
func TestReadsNothingElse(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		keep string // the one column that may be read
		exit int
	}{
		{"footers answer --schema-only", []string{"--schema-only"}, "", ExitClean},
		{"null counts and dictionaries answer", []string{"--select", "RL301,RL303,RL304"}, "agent_name", ExitClean},
		{"a rule reads its own columns", []string{"--select", "RL203"}, "data_source", ExitClean},
		{"pages are read where nothing else answers", []string{"--select", "RL210"}, "agent_name", ExitFile},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &testFile{name: "train.parquet", group: mutRows}
			for i := range mutRows {
				f.rows = append(f.rows, toolRow(i))
			}
			file := f.write(t, t.TempDir(), columnsOf(t, f.rows))
			hollow(t, file, func(path string) bool { return path == tt.keep })
			code, stdout, stderr := runMain(t, slices.Concat([]string{"lint", "-q"}, tt.args, []string{file})...)
			want := "no findings in 1 file"
			if tt.exit == ExitFile {
				want += "; 1 more could not be read"
			}
			if code != tt.exit || stdout != want+"\n" {
				t.Errorf("exit %d, %s%s", code, stdout, stderr)
			}
		})
	}
}

// hundred makes 100 files like those of a sharded dataset.
func hundred(t testing.TB) []string {
	dir := t.TempDir()
	first := filepath.Join(dir, "train-00000.parquet")
	out := filepath.Join(dir, "out")
	if code, _, stderr := rlprep("preprocess", "gsm8k_tool_agent_loop", "--demo", "-q", "-o", out); code != ExitClean {
		t.Fatal(stderr)
	}
	b, err := os.ReadFile(filepath.Join(out, "train.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{first}
	for i := 1; i < 100; i++ {
		names = append(names, filepath.Join(dir, fmt.Sprintf("train-%05d.parquet", i)))
	}
	for _, name := range names {
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// openFooters opens the files as any command does.
func openFooters(t testing.TB, files []string) {
	set, err := source.Resolve(t.Context(), source.Spec{Args: files, Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	set.Close()
}

func schemaOnly(t testing.TB, files []string) {
	if code, _, stderr := rlprep(append([]string{"lint", "-q", "--schema-only"}, files...)...); code != ExitClean {
		t.Fatalf("exit %d: %s", code, stderr)
	}
}

func BenchmarkOpenFooters(b *testing.B) {
	files := hundred(b)
	for b.Loop() {
		openFooters(b, files)
	}
}

func BenchmarkSchemaOnly(b *testing.B) {
	files := hundred(b)
	for b.Loop() {
		schemaOnly(b, files)
	}
}

// TestLintByTheColumn finds single faults far behind each other: most rules look at a run of rows by its columns, and at rows only where
// these say so.
func TestLintByTheColumn(t *testing.T) {
	faults := map[int]string{
		3:    `{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"<image>Find x3."}],"reward_model":{"ground_truth":"72"},"extra_info":{"index":3,"answer":"#### 72"}}`,
		4095: `{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":""}],"reward_model":{"ground_truth":"72"},"extra_info":{"index":4095,"answer":"#### 72"}}`,
		4096: `{"data_source":"openai/gsm8k","prompt":[{"role":"usr","content":"Why 4096?"}],"reward_model":{"ground_truth":"72"},"extra_info":{"index":4096,"answer":"#### 72"}}`,
		8191: `{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"Why 8191?"}],"reward_model":{"ground_truth":"1,000"},"extra_info":{"index":8191,"answer":"#### 1,000"}}`,
		8192: `{"data_source":"openai/gsm8k","prompt":[],"reward_model":{"ground_truth":"72"},"extra_info":{"index":8192,"answer":"#### 72"}}`,
		8200: `{"data_source":null,"prompt":[{"role":"user","content":"Why\u0007 8200?"}],"reward_model":{"ground_truth":"72"},"extra_info":{"index":8200,"answer":"#### 72"}}`,
		8201: `{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"Why 8201?"}],"reward_model":{"ground_truth":null},"extra_info":{"index":8201,"answer":"#### 72"}}`,
		8999: `{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"Why 8999?"}],"reward_model":{"ground_truth":"72"},"extra_info":{"index":8999,"answer":"#### 7"}}`,
	}
	var b strings.Builder
	for i := range 9000 {
		row, ok := faults[i]
		if !ok {
			row = fmt.Sprintf(`{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"How much is %d?"}],"reward_model":{"ground_truth":"72"},"extra_info":{"index":%[1]d,"answer":"#### 72"}}`, i)
		}
		fmt.Fprintln(&b, row)
	}
	file := filepath.Join(t.TempDir(), "train.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	_, stdout, stderr := runMain(t, "lint", "-q", "--select", "RL022,RL103,RL104,RL107,RL202,RL207,RL209,RL210,RL502", "--output-format", "jsonl", file)
	var got []string
	for line := range strings.Lines(stdout) {
		var f struct {
			Rule string
			Rows []int64
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(f.Rule, " ", f.Rows))
	}
	want := []string{"RL022 [8200]", "RL103 [8192]", "RL104 [4096]", "RL107 [4095]", "RL202 [8200]", "RL207 [8201]", "RL209 [8191]", "RL210 [8999]", "RL502 [3]"}
	if slices.Sort(got); !slices.Equal(got, want) || stderr != "" {
		t.Errorf("got %q, want %q; said %q", got, want, stderr)
	}
}
