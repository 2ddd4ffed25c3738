package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/datasets"
	src "github.com/rlprep/rlprep/internal/source"
)

// runMain runs rlprep in process and returns its status and what it printed.
func runMain(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// mustRun runs rlprep, which must succeed.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := runMain(t, args...)
	if code != ExitClean {
		t.Fatalf("rlprep %s: exit status %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// readRows returns the rows of a file as JSON objects in schema order, and its schema as pyarrow prints it, nullability aside.
func readRows(t *testing.T, name string) (rows []string, columns string) {
	t.Helper()
	ctx := context.Background()
	set, err := src.Resolve(ctx, src.Spec{Args: []string{name}, Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for _, f := range set.Files() {
		var all []int
		for i := range f.Schema.Leaves() {
			all = append(all, i)
		}
		for _, u := range f.Units(0) {
			r, err := f.Open(ctx, u, all)
			if err != nil {
				t.Fatal(err)
			}
			for {
				b, err := r.Next(ctx, 256)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				b.Schema = f.Schema
				for i := range b.Rows {
					rows = append(rows, string(b.RowJSON(i)))
				}
			}
			r.Close()
		}
		for _, c := range f.Schema.Fields {
			columns += strings.ReplaceAll(c.String(), " not null", "") + "\n"
		}
	}
	return rows, columns
}

// logGolden notes that rows were compared with verl's own, for CI, which fails where none were.
func logGolden(t *testing.T, recipe, split string, rows int) {
	name := os.Getenv("RLPREP_GOLDEN_LOG")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s %d\n", recipe, split, rows)
}

// TestGoldenSample holds the shards that preprocess writes from the sample to the rows of verl's own scripts.
func TestGoldenSample(t *testing.T) {
	for _, r := range datasets.All() {
		t.Run(r.Name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			mustRun(t, "preprocess", r.Name, "--demo", "-o", out, "-q")
			for _, split := range r.Splits {
				want := readLines(t, filepath.Join("../../testdata/recipes", r.Name, split+".want.jsonl"))
				got, columns := readRows(t, filepath.Join(out, split+".parquet"))
				compareRows(t, split, got, want)
				if types := readText(t, filepath.Join("../../testdata/recipes", r.Name, "want.schema.txt")); strings.TrimSpace(types) != strings.TrimSpace(columns) {
					t.Errorf("%s: columns:\n%s\nwant:\n%s", split, columns, types)
				}
				logGolden(t, r.Name, split, len(want))
			}
		})
	}
}

// compareRows reports the first row that differs.
func compareRows(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: row %d:\n got %s\nwant %s", what, i, got[i], want[i])
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
	}
}

// shared is the folder of the real data; the test is skipped where there is none.
func shared(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("RLPREP_SHARED")
	if root == "" {
		root = "../../../shared"
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: no %s (set RLPREP_SHARED to the folder that holds it)", name)
	}
	return path
}

// TestGoldenGSM8K holds what preprocess writes from the real GSM8K to the hashes of the rows of verl's own scripts
// (verl@b178a3cd5, run with datasets 5.2.0 and pyarrow 26.0.1).
func TestGoldenGSM8K(t *testing.T) {
	source := shared(t, "data/gsm8k")
	facts := readText(t, shared(t, "facts/verl-contract.md"))
	hashes := regexp.MustCompile(`(?m)^\| (gsm8k\w*) \| ([0-9a-f]{64}) \| ([0-9a-f]{64}) \|`).FindAllStringSubmatch(facts, -1)
	if len(hashes) != 5 {
		t.Fatalf("found hashes of %d recipes, expected 5", len(hashes))
	}
	for _, h := range hashes {
		t.Run(h[1], func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			mustRun(t, "preprocess", h[1], "--source", source, "-o", out, "-q", "--shards", "3")
			for i, split := range []string{"train", "test"} {
				rows, _ := readRows(t, filepath.Join(out, split+"-*.parquet"))
				sum := sha256.Sum256([]byte(strings.Join(rows, "\n")))
				if got := hex.EncodeToString(sum[:]); got != h[2+i] {
					t.Errorf("%s: rows have sha256 %s, verl's %s", split, got, h[2+i])
				}
				logGolden(t, h[1], split, len(rows))
			}
		})
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func readLines(t *testing.T, name string) []string {
	t.Helper()
	var out []string
	s := bufio.NewScanner(strings.NewReader(readText(t, name)))
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		out = append(out, s.Text())
	}
	return out
}
