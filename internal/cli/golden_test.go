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
		for _, u := range f.ReadRanges(0) {
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
	t.Parallel()
	for _, name := range gsm8kRecipes { // those of other datasets: TestFixtures
		r := datasets.Find(name)
		t.Run(r.Name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			mustRun(t, "preprocess", r.Name, "--demo", "-o", out, "-q")
			for _, split := range r.Splits {
				want := readLines(t, filepath.Join("../../datasets/testdata", r.Name, split+".want.jsonl"))
				got, columns := readRows(t, filepath.Join(out, split+".parquet"))
				compareRows(t, split, got, want)
				if types := readText(t, filepath.Join("../../datasets/testdata", r.Name, "want.schema.txt")); strings.TrimSpace(types) != strings.TrimSpace(columns) {
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
	path := sharedPath(name)
	if path == "" {
		t.Skipf("SKIPPED: no %s (set RLPREP_SHARED to the folder that holds it)", name)
	}
	return path
}

// sharedPath is where that part of the real data is, "" where there is none.
func sharedPath(name string) string {
	root := os.Getenv("RLPREP_SHARED")
	if root == "" {
		root = "../../../shared"
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// goldenHashes are the sha256 of verl's rows of the real GSM8K, train and test, by recipe.
func goldenHashes(t *testing.T) map[string][2]string {
	t.Helper()
	facts := readText(t, shared(t, "facts/verl-contract.md"))
	out := map[string][2]string{}
	for _, h := range regexp.MustCompile(`(?m)^\| (gsm8k\w*) \| ([0-9a-f]{64}) \| ([0-9a-f]{64}) \|`).FindAllStringSubmatch(facts, -1) {
		out[h[1]] = [2]string{h[2], h[3]}
	}
	if len(out) != 5 {
		t.Fatalf("found hashes of %d recipes, expected 5", len(out))
	}
	return out
}

// compareHash compares the rows of the files that pattern names with one of the hashes.
func compareHash(t *testing.T, pattern, want string) int {
	t.Helper()
	rows, _ := readRows(t, pattern)
	sum := sha256.Sum256([]byte(strings.Join(rows, "\n")))
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("%s: rows have sha256 %s, verl's %s", filepath.Base(pattern), got, want)
	}
	return len(rows)
}

// TestGoldenGSM8K holds what preprocess writes from the real GSM8K to the hashes of the rows of verl's own scripts
// (verl@b178a3cd5, run with datasets 5.2.0 and pyarrow 26.0.1).
func TestGoldenGSM8K(t *testing.T) {
	t.Parallel()
	source := shared(t, "data/gsm8k")
	for recipe, want := range goldenHashes(t) {
		t.Run(recipe, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			mustRun(t, "preprocess", recipe, "--source", source, "-o", out, "-q", "--shards", "3")
			for i, split := range []string{"train", "test"} {
				logGolden(t, recipe, split, compareHash(t, filepath.Join(out, split+"-*.parquet"), want[i]))
			}
		})
	}
}

// ways are the ways beside a recipe to make verl's rows of GSM8K: a pipeline file and a map function.
func ways(recipe string) map[string][]string {
	return map[string][]string{
		"yaml": {"run", "../../testdata/pipelines/" + recipe + ".yaml"},
		"star": {"map", "../../testdata/maps/" + recipe + ".star", "--expects", "RL302"},
	}
}

var gsm8kRecipes = []string{"gsm8k", "gsm8k_multiturn_w_tool", "gsm8k_tool_agent_loop", "gsm8k_multiturn_w_interaction", "gsm8k_multiturn_sft"}

// TestGoldenWays holds the pipelines and map functions of testdata to the rows of verl's own scripts: on the sample, which their sources name, and on
// the real GSM8K.
func TestGoldenWays(t *testing.T) {
	for _, recipe := range gsm8kRecipes {
		for way, args := range ways(recipe) {
			t.Run(way+"/"+recipe, func(t *testing.T) {
				t.Parallel()
				out := filepath.Join(t.TempDir(), "out")
				mustRun(t, append(args, "--source", "../../testdata/sample", "-o", out, "-q")...)
				for _, split := range []string{"train", "test"} {
					got, _ := readRows(t, filepath.Join(out, split+".parquet"))
					compareRows(t, split, got, readLines(t, filepath.Join("../../datasets/testdata", recipe, split+".want.jsonl")))
				}
				source, want := shared(t, "data/gsm8k"), goldenHashes(t)[recipe]
				out = filepath.Join(t.TempDir(), "real")
				mustRun(t, append(args, "--source", source, "-o", out, "-q", "--shards", "2")...)
				for i, split := range []string{"train", "test"} {
					compareHash(t, filepath.Join(out, split+"-*.parquet"), want[i])
				}
			})
		}
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
