package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// lintOf returns the findings of lint at the level of errors, as "RL301 3".
func lintOf(t *testing.T, args ...string) (status int, found []string) {
	t.Helper()
	status, stdout, stderr := runMain(t, append([]string{"lint", "--no-cache", "--no-project", "-q", "--output-format", "concise"}, args...)...)
	if status == ExitFile {
		return status, []string{stderr}
	}
	for line := range strings.Lines(stdout) {
		from, to := strings.LastIndex(line, "["), strings.LastIndex(line, "]")
		row := "-"
		if _, after, ok := strings.Cut(line, ": row "); ok {
			row, _, _ = strings.Cut(after, ":")
		}
		if id := line[from+1 : to]; !strings.Contains(id, ",") { // no level is named: an error
			found = append(found, id[:5]+" "+row)
		}
	}
	return status, found
}

// Statistics that lie hide nothing: what a rule would take from them is held against the pages.
func TestLintDoesNotTrustStatistics(t *testing.T) {
	for name, want := range map[string]string{
		"agent_name":     "[RL301 3]",
		"data_source":    "[RL202 3]",
		"ground_truth":   "[RL207 3]",
		"damaged_levels": "[RL301 16]",
		"encoding_stats": "[RL303 200]",
	} {
		file := filepath.Join("..", "..", "testdata", "parquet", "hostile", "lies", name+".parquet")
		if status, found := lintOf(t, file); status != ExitFindings || fmt.Sprint(found) != want {
			t.Errorf("%s: exit %d, %v; wanted %s", name, status, found, want)
		}
		status, found := lintOf(t, "--trust-statistics", file)
		if lied := name != "encoding_stats"; lied && (status != ExitClean || len(found) > 0) {
			t.Errorf("%s, statistics trusted: exit %d, %v: the file does not lie as it should", name, status, found)
		}
	}
	file := filepath.Join("..", "..", "testdata", "parquet", "hostile", "lies", "overlapping_chunks.parquet")
	if _, stdout, _ := runMain(t, "lint", "--no-cache", "--no-project", file); !strings.Contains(stdout, "RL402") {
		t.Errorf("overlapping_chunks: no RL402: %s", stdout)
	}
}

// Columns of one struct or list that disagree about it are an error, whether they are read together or one by one.
func TestColumnsThatDisagree(t *testing.T) {
	for name, args := range map[string][]string{"siblings_disagree": {"lint", "--no-cache", "--no-project"}, "exchanged_pages": {"inspect", "--rows", "100"}} {
		file := filepath.Join("..", "..", "testdata", "parquet", "hostile", "lies", name+".parquet")
		status, _, stderr := runMain(t, append(args, file)...)
		if status != ExitFile || !strings.Contains(stderr, "disagree on where") || !strings.Contains(stderr, name+".parquet: row group 0: column") {
			t.Errorf("%s: exit %d, %s", name, status, stderr)
		}
	}
}

// An entry of a dictionary that no row has is no finding, and a null that only the rows of one part of a row group have is one.
func TestLintOfCutRowGroups(t *testing.T) {
	file := filepath.Join("..", "..", "testdata", "parquet", "hostile", "lies", "agent_name.parquet")
	for limit, want := range map[int]string{2: "[]", 4: "[RL301 3]"} {
		if _, found := lintOf(t, "--rows", fmt.Sprint(limit), file); fmt.Sprint(found) != want {
			t.Errorf("first %d rows: %v, wanted %s", limit, found, want)
		}
	}
}

// A damaged page is an error also where the statistics would have answered the rule that needs it.
func TestLintReadsWhatItJudges(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "train.parquet")
	mustRun(t, "preprocess", "gsm8k", "--demo", "--split", "train", "-q", "-o", filepath.Join(dir, "set"))
	b, err := os.ReadFile(filepath.Join(dir, "set", "train.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for _, c := range f.Metadata().RowGroups[0].Columns {
		path := strings.Join(c.MetaData.PathInSchema, ".")
		if !strings.HasPrefix(path, "data_source") && !strings.HasPrefix(path, "reward_model") && path != "ability" {
			continue
		}
		first := c.MetaData.DataPageOffset
		if c.MetaData.DictionaryPageOffset > 0 {
			first = min(first, c.MetaData.DictionaryPageOffset)
		}
		bad := bytes.Clone(b)
		bad[first+c.MetaData.TotalCompressedSize-1] ^= 1 // the last byte of the last page
		if err := os.WriteFile(file, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		status, said := lintOf(t, file)
		if status != ExitFile || !strings.Contains(said[0], "train.parquet: row group 0: column "+path) || !strings.Contains(said[0], "checksum") {
			t.Errorf("%s: exit %d, %v", path, status, said)
		}
		damaged++
	}
	if damaged < 4 {
		t.Errorf("only %d columns were damaged", damaged)
	}
}
