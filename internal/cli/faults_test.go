package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema/rule"
)

// A faultSet is a line of faults/expected.jsonl: one fault, and what verl 0.9.1 did with it.
type faultSet struct {
	Set   string   `json:"set"`
	Verl  string   `json:"verl_0_9_1"`
	Rows  []int64  `json:"rows"` // over the files in order
	Files []string `json:"files"`
	Val   []string `json:"val"`
	Note  string   `json:"note"`
}

// inLaunch are faults that lie between data and launch, with what the launch sets.
var inLaunch = map[string]string{"few_rows": "data:\n  train_batch_size: 1024\n"}

// TestFaults holds lint to what verl 0.9.1 really did with the data sets of the fact sheets.
func TestFaults(t *testing.T) {
	t.Parallel()
	judgeSets(t, shared(t, "data/faults"), 64)
}

// TestMoreFaults does so with the sets of testdata/faults: writers that differ, columns that get in verl's way, correct data
// that is unusual.
func TestMoreFaults(t *testing.T) {
	t.Parallel()
	judgeSets(t, filepath.Join("..", "..", "testdata", "faults"), 23)
}

func judgeSets(t *testing.T, root string, least int) {
	sets := readLines(t, filepath.Join(root, "expected.jsonl"))
	if len(sets) < least {
		t.Fatalf("%d sets, expected %d", len(sets), least)
	}
	for _, line := range sets {
		var s faultSet
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		t.Run(s.Set, func(t *testing.T) {
			s.judge(t, root)
		})
	}
}

// judge holds the levels to the consequence, as the README of the sets maps them, and errors to the right rows.
func (s *faultSet) judge(t *testing.T, root string) {
	worst, found := s.lint(t, root, "verl@0.9")
	least, most := rule.Off, rule.Error
	switch {
	case strings.HasPrefix(s.Set, "ok_"):
		most = rule.Off
	case strings.HasPrefix(s.Verl, "nothing"):
		most = rule.Info
		if strings.Contains(s.Note, "W") {
			most = rule.Warning
		}
	case strings.HasPrefix(s.Verl, "silent"):
		least = rule.Warning
	case strings.HasPrefix(s.Verl, "v1: nothing"):
		most = rule.Warning
		for _, target := range []string{"verl@0.9-v0", "verl@0.8"} {
			if w, _ := s.lint(t, root, target); w != rule.Error {
				t.Errorf("%s: worst level %s, verl: %s", target, w, s.Verl)
			}
		}
	default:
		least = rule.Error
	}
	if worst < least || worst > most {
		t.Errorf("worst level %s, want %s to %s; verl: %s\n%v", worst, least, most, s.Verl, found)
	}
	for _, f := range found {
		if f.level >= rule.Warning && f.row >= 0 && len(s.Rows) > 0 && !slices.Contains(s.Rows, f.row) {
			t.Errorf("%s at row %d, verl minds rows %v", f.rule, f.row, s.Rows)
		}
	}
}

// A found is a finding, its row counted over the files in order; -1 for a whole file.
type found struct {
	rule  string
	level rule.Level
	row   int64
}

func (s *faultSet) lint(t *testing.T, root, target string) (worst rule.Level, out []found) {
	t.Helper()
	args := []string{"lint", "-q", "--output-format", "jsonl", "--target", target}
	for _, f := range s.Files {
		args = append(args, filepath.Join(root, f))
	}
	for _, f := range s.Val {
		args = append(args, "--val", filepath.Join(root, f))
	}
	if text := inLaunch[s.Set]; text != "" {
		config := filepath.Join(t.TempDir(), "launch.yaml")
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", config)
	}
	_, stdout, _ := runMain(t, args...)
	for line := range strings.Lines(stdout) {
		var j struct {
			Rule, Level, File string
			Rows              []int64
		}
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		level, err := rule.ParseLevel(j.Level)
		if err != nil {
			t.Fatal(err)
		}
		worst = max(worst, level)
		first, ok := s.first(t, root, j.File)
		if len(j.Rows) == 0 || !ok {
			out = append(out, found{j.Rule, level, -1})
		}
		for _, r := range j.Rows {
			if ok {
				out = append(out, found{j.Rule, level, first + r})
			}
		}
	}
	return worst, out
}

// first returns the number, over the training files, of a file's first row.
func (s *faultSet) first(t *testing.T, root, name string) (int64, bool) {
	t.Helper()
	var n int64
	for _, f := range s.Files {
		if filepath.Join(root, f) == name {
			return n, true
		}
		rows, _ := readRows(t, filepath.Join(root, f))
		n += int64(len(rows))
	}
	if _, err := os.Stat(name); err != nil {
		t.Errorf("finding names a file that is not there: %s", name)
	}
	return 0, false
}
