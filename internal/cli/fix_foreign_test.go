package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFixForeign fixes files of other writers (pyarrow, pandas, HF datasets, Polars, DuckDB, fastparquet, parquet-java, Spark; v1 and v2 pages,
// all codecs, dictionaries, legacy lists, encryption): what is not said to be fixed is as it was, in every row, or the file is refused by name
// and is byte for byte as it was. testdata/conformance/fixes.py has pyarrow read the same files.
func TestFixForeign(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "testdata", "parquet")
	var files []string
	for _, pattern := range []string{"*.parquet", "damage/*.parquet", "hostile/*.parquet"} {
		list, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	fixed, refused := 0, 0
	for _, file := range files {
		if strings.Contains(file, "-1-g") {
			continue // TestBombs
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			switch fixForeign(t, file) {
			case "fixed":
				fixed++
			case "refused":
				refused++
			}
		})
	}
	if fixed < 45 || refused < 4 {
		t.Errorf("only %d files were fixed, and %d refused", fixed, refused)
	}
}

// fixForeign fixes a copy of the file, compares it, and returns how that ended: fixed, refused or as it was.
func fixForeign(t *testing.T, file string) string {
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(name, was, 0o666); err != nil {
		t.Fatal(err)
	}
	status, _, said := runMain(t, "lint", "--fix", "--unsafe-fixes", "--agent", "tool_agent", "--no-cache", "--no-project", "--output-format", "concise", name)
	same := readText(t, name) == string(was)
	if status == ExitFile {
		if !same || !strings.Contains(said, name) {
			t.Errorf("exit %d; as it was: %v: %s", status, same, said)
		}
		return "refused"
	}
	if status > ExitFindings {
		t.Fatalf("exit %d: %s", status, said)
	}
	if same != !strings.Contains(said, "fixed: ") {
		t.Errorf("byte for byte as it was: %v, and it says: %s", same, said)
	}
	if same {
		return "same"
	}
	touched, gone := touchedPaths(t, said, name)
	before, after := withoutPaths(t, file, touched), withoutPaths(t, name, touched)
	at := 0
	for _, row := range after {
		for gone && at < len(before) && before[at] != row {
			at++ // it was left out
		}
		if at >= len(before) || before[at] != row {
			t.Fatalf("row %d of what was is another: %.300s\n%s", at, row, said)
		}
		at++
	}
	if !gone && at != len(before) {
		t.Errorf("%d rows of %d are left: %s", at, len(before), said)
	}
	return "fixed"
}

// noNumber is what JSON has no number for, as rlprep prints it.
var noNumber = regexp.MustCompile(`([:,\[])(NaN|-?Infinity)`)

// withoutPaths returns the rows of a file, without what stands at the paths.
func withoutPaths(t *testing.T, file string, paths []string) []string {
	t.Helper()
	rows, _ := readRows(t, file)
	out := slices.Clone(rows)
	for i, row := range out {
		o := object(t, noNumber.ReplaceAllString(row, `$1"$2"`))
		for _, p := range paths {
			remove(o, strings.Split(p, "\x1f"))
		}
		out[i] = plainJSON(t, o)
	}
	return out
}
