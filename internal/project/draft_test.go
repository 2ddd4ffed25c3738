package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/misuse"
)

// TestDraft: what init finds in a folder, and that it can be read back.
func TestDraft(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{"train.parquet test.parquet", `data: train="train.parquet" test="test.parquet"`},
		{"d/train-00000-of-00002.parquet d/train-00001-of-00002.parquet d/test-00000-of-00001.parquet", `"d": train="d/train-*.parquet" test="d/test-00000-of-00001.parquet"`},
		{"d/train/0.jsonl d/train/1.jsonl d/val/0.jsonl", `"d": train="d/train/*.jsonl" val="d/val/0.jsonl"`},
		{"d/train.jsonl d/train.parquet", `"d": train="d/train.parquet"`},
		{"d/train_a.parquet d/my_train.parquet d/x.parquet", `"d": train="d/my_train.parquet","d/train_a.parquet"`},
		{"a/train.jsonl.gz b/dev.jsonl", `"a": train="a/train.jsonl.gz" "b": val="b/dev.jsonl"`},
		{"x.parquet .hidden/train.parquet node_modules/train.parquet 1/2/3/4/5/train.parquet train.csv", ""},
	} {
		dir := t.TempDir()
		for _, name := range strings.Fields(c.files) {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text, err := Draft(t.Context(), dir, nil)
		if c.want == "" {
			if err == nil || !errors.As(err, new(*misuse.Error)) {
				t.Errorf("%s: %v\n%s", c.files, err, text)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.files, err)
		}
		if got := shortProject(text); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.files, got, c.want)
		}
		if _, err := Parse(FileName, []byte(text)); err != nil {
			t.Errorf("%s: %v", c.files, err)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"train.jsonl": "", "build.sh": "make", "run.sh": "python -m verl.trainer.main_ppo"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := Draft(t.Context(), dir, nil); err != nil || !strings.Contains(text, `# config: "run.sh"`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// shortProject is what stands below datasets, on one line.
func shortProject(text string) string {
	_, sets, _ := strings.Cut(text, "datasets:\n")
	var out []string
	for line := range strings.Lines(sets) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case strings.HasPrefix(key, "#"):
		case strings.HasPrefix(key, "- "):
			last := &out[len(out)-1]
			*last = strings.TrimSuffix(*last, ":=") + map[bool]string{true: "=", false: ","}[strings.HasSuffix(*last, ":=")] + strings.TrimPrefix(key, "- ")
		case value != "":
			out = append(out, key+"="+value)
		case strings.HasPrefix(line, "    "):
			out = append(out, key+"=")
		default:
			out = append(out, key)
		}
	}
	return strings.Join(out, " ")
}
