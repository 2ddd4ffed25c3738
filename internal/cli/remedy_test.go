package cli

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"

	"github.com/rlprep/rlprep/schema/rule"
)

// A remedyFinding is what the test reads of a finding.
type remedyFinding struct {
	Rule, File string
	Column     *string
	Count      int64
	Remedy     *string
}

// place names the findings that are counted together.
func (f remedyFinding) place() string {
	if f.Column == nil {
		return f.Rule + " " + f.File
	}
	return f.Rule + " " + f.File + " " + *f.Column
}

// lintRemedies runs lint and returns its findings and their counts by place.
func lintRemedies(t *testing.T, args []string) (found []remedyFinding, counts map[string]int64) {
	t.Helper()
	status, out, said := runMain(t, append(slices.Clone(args), "--output-format", "jsonl", "-q", "--no-cache", "--no-project")...)
	if status > 1 {
		t.Fatalf("%q: exit %d: %s", args, status, said)
	}
	counts = map[string]int64{}
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); {
		var f remedyFinding
		if err := dec.Decode(&f); err != nil {
			t.Fatal(err)
		}
		found = append(found, f)
		counts[f.place()] += f.Count
	}
	return found, counts
}

// Every remedy that lint prints for an example of a rule, bad or good, is run as a shell would: there are fewer findings where it was printed, and nowhere
// more. Without RLPREP_LONG every third of them is run.
func TestRemedies(t *testing.T) {
	t.Parallel()
	commands := 0
	for _, r := range rule.All() {
		for _, e := range r.Examples {
			if e.Launch != "" || e.Edit != nil && len(r.Fixes) == 0 { // what Edit changes may be no Parquet file that is written here
				continue
			}
			c, skip := newFixCase(t, r, e)
			if skip != "" {
				continue
			}
			args := append([]string{"lint"}, c.args[2:]...) // all rules
			found, before := lintRemedies(t, args)
			whole := readAll(t, c.files)
			for _, f := range found {
				if f.Remedy == nil {
					continue
				}
				if commands++; commands%3 != 1 && !long() {
					continue
				}
				runRemedy(t, f, args, before)
				for name, b := range whole {
					if err := os.WriteFile(name, b, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	t.Logf("%d remedies", commands)
	if commands < 90 {
		t.Errorf("only %d remedies", commands)
	}
}

// runRemedy runs the remedy of f. Its own findings count, and where it has changed files those of the command that printed it.
func runRemedy(t *testing.T, f remedyFinding, args []string, before map[string]int64) {
	t.Helper()
	words, err := shell.Fields(*f.Remedy, func(string) string { return "" })
	if err != nil {
		t.Fatalf("%s: %v", *f.Remedy, err)
	}
	_, after := lintRemedies(t, words[1:])
	if slices.Contains(words, "--fix") {
		_, after = lintRemedies(t, args)
	}
	if after[f.place()] >= before[f.place()] {
		t.Errorf("%s: %s has %d findings, before it %d", *f.Remedy, f.place(), after[f.place()], before[f.place()])
	}
	for _, place := range slices.Sorted(maps.Keys(after)) {
		if after[place] > before[place] {
			t.Errorf("%s: %s has %d findings, before it %d", *f.Remedy, place, after[place], before[place])
		}
	}
}

func readAll(t *testing.T, files []string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = b
	}
	return all
}

// What a remedy names is one word of a shell, whatever its name.
func TestRemedyIsQuoted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "it's $HOME; a 'b' \"c\"")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := rule.Find("RL203")
	c, skip := newFixCase(t, r, r.Examples[0])
	if skip != "" {
		t.Fatal(skip)
	}
	b, err := os.ReadFile(c.files[0])
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "train.parquet")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	found, _ := lintRemedies(t, []string{"lint", name, "--select", "RL203"})
	if len(found) != 1 || found[0].Remedy == nil {
		t.Fatalf("found %v", found)
	}
	words, err := shell.Fields(*found[0].Remedy, func(string) string { return "unset" })
	want := []string{"rlprep", "lint", name, "--no-project", "--select", "RL203", "--known-sources", "gsm8k"}
	if err != nil || !slices.Equal(words, want) {
		t.Errorf("%s is %q (%v), want %q", *found[0].Remedy, words, err, want)
	}
	if left, _ := lintRemedies(t, words[1:]); len(left) > 0 {
		t.Errorf("%s: found %v", *found[0].Remedy, left)
	}
}
