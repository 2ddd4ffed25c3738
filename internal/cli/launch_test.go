package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLaunchFindings holds lint to the findings in testdata/launch/expected.txt, which were checked by hand against verl's
// scripts.
func TestLaunchFindings(t *testing.T) {
	root := shared(t, "data/launch/verl")
	text, err := os.ReadFile("../../testdata/launch/expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "/home/someone")
	var name, target string
	want := map[[2]string][]string{}
	var order [][2]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  "):
			k := [2]string{name, target}
			want[k] = append(want[k], strings.TrimSpace(line))
		default:
			name, target, _ = strings.Cut(line, " ")
			order = append(order, [2]string{name, target})
		}
	}
	if len(order) < 20 {
		t.Fatalf("%d launches, want 20", len(order))
	}
	for _, k := range order {
		t.Run(k[0]+" "+k[1], func(t *testing.T) {
			got := launchFindings(t, root, k[0], k[1])
			if !slices.Equal(got, want[k]) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want[k], "\n  "))
			}
		})
	}
}

// Of large data the launch screen reads footers only, and says so.
func TestLaunchFootersOnly(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := runMain(t, "preprocess", "gsm8k", "--demo", "-q", "-o", filepath.Join(dir, "data")); code != 0 {
		t.Fatal(stderr)
	}
	defer func(was int64) { maxLaunchData = was }(maxLaunchData)
	for most, want := range map[int64]string{1: "and the footers of its data (the rows were not read)", maxLaunchData: "lint: "} {
		maxLaunchData = most
		_, stdout, stderr := runMain(t, "launch", "--cwd", dir, "data.train_files=data/train.parquet", "data.train_batch_size=8")
		if !strings.Contains(stdout, want) || strings.Contains(stdout, "footers") != (most == 1) || !strings.Contains(stdout, ": 48 rows /") {
			t.Errorf("%d bytes: %s%s", most, stdout, stderr)
		}
	}
}

// launchFindings lints one launch and returns its findings as lines of expected.txt.
func launchFindings(t *testing.T, root, name, target string) []string {
	t.Helper()
	_, stdout, stderr := runMain(t, "lint", "--config", filepath.Join(root, name), "--cwd", root, "--target", target, "--ignore", "RL727", "--output-format", "jsonl")
	if strings.Contains(stderr, "rlprep lint:") {
		t.Fatal(stderr)
	}
	var out []string
	for line := range strings.Lines(stdout) {
		var j struct {
			Rule, Level string
			Line        int
			Column      *string
		}
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			t.Fatal(err)
		}
		at, column := "-", "-"
		if j.Line > 0 {
			at = fmt.Sprint(j.Line)
		}
		if j.Column != nil {
			column = *j.Column
		}
		out = append(out, strings.Join([]string{j.Rule, j.Level, at, column}, " "))
	}
	return out
}
