package cli

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unzipped returns the lines of a .gz file.
func unzipped(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// TestMapRecipes holds map functions for other datasets than GSM8K to the rows of verl's own scripts.
func TestMapRecipes(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		splits    []string
		args      []string
	}{
		{"math_dataset", "raw/data", []string{"train", "test"}, nil},
		{"hellaswag", "raw/data", []string{"train", "validation"}, nil},
		{"retool_runtime_dapo", "raw/BytedTsinghua-SIA/DAPO-Math-17k/data/dapo-math-17k.parquet", []string{"train"}, nil},
		{"preprocess_search_r1_dataset", "raw", []string{"train", "test"},
			// that script makes a new table, where HF datasets' map gives a column that is set again its old type
			[]string{"--schema", "prompt: list<element: struct<role: string, content: string>>", "--expects", "RL302"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := shared(t, filepath.Join("data/recipes", c.name))
			out := filepath.Join(t.TempDir(), "out")
			args := append([]string{"map", "../../testdata/maps/" + c.name + ".star", "--source", filepath.Join(dir, c.raw), "-o", out, "-q",
				"--known-sources", "math_dapo,Rowan/hellaswag,DigitalLearningGmbH/MATH-lighteval"}, c.args...)
			mustRun(t, args...)
			for _, split := range c.splits {
				got, _ := readRows(t, filepath.Join(out, split+".parquet"))
				compareRows(t, split, got, unzipped(t, filepath.Join(dir, "want."+split+".jsonl.gz")))
			}
		})
	}
}

// pasted is a script of verl's as somebody pastes it who does what the hints say: from the block of __main__ the constants and the map
// function, at the left margin, and the functions above it, with fail in place of assert.
func pasted(text string) string {
	var out []string
	above, block, _ := strings.Cut(text, "if __name__ == \"__main__\":\n")
	for _, def := range regexp.MustCompile(`(?ms)^def .*?(?:\n\n\n|\z)`).FindAllString(above, -1) {
		out = append(out, regexp.MustCompile(`(?m)^( *)assert (\w+) is not None$`).ReplaceAllString(def, `${1}if ${2} == None: fail("no answer")`))
	}
	for _, part := range []string{`(?m)^    data_source = .*$`, `(?m)^    instruction_following = .*$`, `(?ms)^    def make_map_fn.*?^        return process_fn$`} {
		if found := regexp.MustCompile(part).FindString(block); found != "" {
			out = append(out, regexp.MustCompile(`(?m)^    `).ReplaceAllString(found, ""))
		}
	}
	return strings.Join(out, "\n")
}

// TestMapPasted holds verl's own process_fn, pasted with no more than the hinted changes, to the golden hashes.
func TestMapPasted(t *testing.T) {
	scripts, source, hashes := shared(t, "data/verl-scripts"), shared(t, "data/gsm8k"), goldenHashes(t)
	for _, recipe := range gsm8kRecipes {
		t.Run(recipe, func(t *testing.T) {
			t.Parallel()
			script := filepath.Join(t.TempDir(), "fn.star")
			if err := os.WriteFile(script, []byte(pasted(readText(t, filepath.Join(scripts, recipe+".py")))), 0o666); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out")
			mustRun(t, "map", script, "--source", source, "-o", out, "-q", "--expects", "RL302")
			for i, split := range []string{"train", "test"} {
				compareHash(t, filepath.Join(out, split+".parquet"), hashes[recipe][i])
			}
		})
	}
}

// TestMapHintsAtVerl: the whole script of verl's, unchanged, gets a hint for each thing that must go.
func TestMapHintsAtVerl(t *testing.T) {
	script := filepath.Join(t.TempDir(), "fn.star")
	if err := os.WriteFile(script, []byte(readText(t, filepath.Join(shared(t, "data/verl-scripts"), "gsm8k.py"))), 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := runMain(t, "map", script, "--source", "../../testdata/sample")
	if code != ExitUsage {
		t.Errorf("status %d", code)
	}
	for _, want := range []string{"import argparse", "import os", "import datasets", "from is not supported", "assert is not supported", "'is not' is not supported", "__main__"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no hint %q in\n%s", want, stderr)
		}
	}
	if strings.Contains(stderr, "import re:") {
		t.Errorf("import re is refused:\n%s", stderr)
	}
}
