package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// judged are the columns that the rows below are judged by, and the pipeline that adds them to what unify makes.
const (
	judged      = `,"prompt":"p","chosen":"c","rejected":"r"}`
	judgedTypes = "prompt: string\nchosen: string\nrejected: string\n"
	unifying    = "steps:\n- unify\n- set: {path: prompt, value: p}\n- set: {path: chosen, value: c}\n- set: {path: rejected, value: r}\ncontract: {rows: preference}\n"
)

// TestUnify holds the step unify to the rows and types that pyarrow reads in files by pandas, Polars and pyarrow and in JSON Lines.
func TestUnify(t *testing.T) {
	for _, name := range []string{"widths", "strings", "nulls", "structs"} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.Abs("../../testdata/unify/" + name)
			if err != nil {
				t.Fatal(err)
			}
			file, out := filepath.Join(t.TempDir(), "p.yaml"), filepath.Join(t.TempDir(), "out")
			text := "sources: {train: ['" + filepath.ToSlash(dir) + "/[0-9]*']}\n" + unifying
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			mustRun(t, "run", file, "-o", out, "-q")
			rows, columns := readRows(t, filepath.Join(out, "train.parquet"))
			for i := range rows {
				rows[i] = strings.TrimSuffix(rows[i], judged) + "}"
			}
			compareRows(t, name, rows, readLines(t, filepath.Join(dir, "want.jsonl")))
			if want := readText(t, filepath.Join(dir, "want.txt")) + judgedTypes; columns != want {
				t.Errorf("columns\n%swant\n%s", columns, want)
			}
			mustRun(t, "run", file, "-o", out+"1", "-q", "-j", "1", "--shards", "2")
			again, _ := readRows(t, filepath.Join(out+"1", "train-00000-of-00002.parquet"))
			more, _ := readRows(t, filepath.Join(out+"1", "train-00001-of-00002.parquet"))
			if len(again)+len(more) != len(rows) {
				t.Errorf("%d and %d rows in two shards, want %d", len(again), len(more), len(rows))
			}
		})
	}
}

// TestUnifyCopies: what is the same everywhere is copied, and what a file lacks is decoded nowhere.
func TestUnifyCopies(t *testing.T) {
	dir := t.TempDir()
	a := &testFile{name: "a.parquet", group: 10, rows: []map[string]any{{"q": "x", "n": 1, "info": map[string]any{"id": "a", "split": "train"}}}}
	b := &testFile{name: "b.parquet", group: 10, rows: []map[string]any{{"q": "y", "n": 0.5, "info": map[string]any{"id": "b"}}}}
	for _, f := range []*testFile{a, b} {
		for range 5 {
			f.rows = append(f.rows, f.rows[0])
		}
		f.write(t, dir, columnsOf(t, f.rows))
	}
	file := filepath.Join(dir, "p.yaml")
	if err := os.WriteFile(file, []byte("sources: {train: '*.parquet'}\n"+unifying), 0o666); err != nil {
		t.Fatal(err)
	}
	var sum struct {
		Copied  int `json:"chunks_copied"`
		Encoded int `json:"chunks_encoded"`
	}
	if err := json.Unmarshal([]byte(mustRun(t, "run", file, "-o", filepath.Join(dir, "out"), "--compression", "keep", "--json")), &sum); err != nil {
		t.Fatal(err)
	}
	// of a: n is encoded as double; of b: all are copied, and split is a constant; then three constants each
	if sum.Copied != 6 || sum.Encoded != 1+1+6 {
		t.Errorf("%d chunks copied and %d encoded, want 6 and 8", sum.Copied, sum.Encoded)
	}
	dry := mustRun(t, "run", file, "--compression", "keep", "--dry-run")
	if !strings.Contains(dry, "encoded: n\n") || strings.Contains(dry, "decoded on the way: q") {
		t.Errorf("the dry run says\n%s", dry)
	}
}
