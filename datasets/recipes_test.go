package datasets_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/datasets"
	_ "github.com/rlprep/rlprep/internal/starmap" // the steps map and filter
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// sourceOf returns the source that a split of the output is made of, and the source's own split.
func sourceOf(r *datasets.Recipe, split string) (*datasets.Source, string) {
	for i := range r.Sources {
		for _, from := range r.Sources[i].Splits {
			if r.Sources[i].SplitOf(from) == split {
				return &r.Sources[i], from
			}
		}
	}
	return &r.Sources[0], r.Sources[0].Splits[0] // it is cut into the splits
}

// steps makes the steps of a recipe for a split.
func steps(t *testing.T, r *datasets.Recipe, o datasets.Options, split string) (out []transform.RowStep) {
	t.Helper()
	source, from := sourceOf(r, split)
	at := source.SplitOf(from)
	for _, s := range r.Steps(o) {
		if s.Splits != nil && !slices.Contains(s.Splits, at) {
			continue
		}
		made, err := s.Make(split)
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := made.(transform.Divider); ok && d.Names() != nil {
			made, at = d.Part(split), split
		}
		out = append(out, made)
	}
	return out
}

// rows runs a recipe over JSON Lines.
func rows(t *testing.T, r *datasets.Recipe, o datasets.Options, split, in string) *transformtest.Table {
	t.Helper()
	source, from := sourceOf(r, split)
	table, err := transformtest.Parse(in, source.Inputs(from)[0].Fields)
	if err != nil {
		t.Fatal(err)
	}
	out, rejected, err := table.Apply(steps(t, r, o, split)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range rejected {
		t.Errorf("row %d is rejected: %v", x.Number, x.Err)
	}
	return out
}

// sameLines compares row by row and says where the first difference is.
func sameLines(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("%d rows, want %d", len(got), len(want))
		case i >= len(want):
			t.Fatalf("%d rows, want %d; the first too many: %s", len(got), len(want), got[i])
		case got[i] != want[i]:
			at := 0
			for at < len(got[i]) && at < len(want[i]) && got[i][at] == want[i][at] {
				at++
			}
			from := max(0, at-40)
			t.Fatalf("row %d differs at byte %d:\n got …%q\nwant …%q", i, at, schema.Cut(got[i][from:], 120), schema.Cut(want[i][from:], 120))
		}
	}
}

// lines returns the lines of a file.
func lines(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		out = append(out, in.Text())
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRecipes(t *testing.T) {
	for _, r := range datasets.All() {
		t.Run(r.Name, func(t *testing.T) {
			if r.Title == "" || strings.HasSuffix(r.Title, ".") || strings.TrimSpace(r.Doc) == "" || len(r.Splits) == 0 {
				t.Error("title, doc and splits must be given; the title without a full stop")
			}
			for _, s := range r.Sources {
				for _, split := range s.Splits {
					if len(s.Inputs(split)) == 0 {
						t.Errorf("source %s: split %s has no input", s.Key, split)
					}
				}
			}
			if r.Script == "" || r.Index == "" {
				t.Error("script and index must be given")
			}
			if len(r.Examples) == 0 {
				t.Error("no example")
			}
			if slices.ContainsFunc(r.Steps(datasets.Options{}), func(s datasets.Step) bool { return s.Verb == "map" }) {
				return // it finds out its columns first: internal/cli runs the example
			}
			for _, e := range r.Examples {
				sameLines(t, rows(t, r, datasets.Options{}, e.Split, e.In).Lines(), strings.Split(e.Out, "\n"))
			}
		})
	}
}

// goldens is the folder of rows that the frameworks' own scripts made of the samples; its make.py says how.
const goldens = "testdata"

// TestGoldens holds every recipe to the rows, and their types, that the original script makes of its sample.
func TestGoldens(t *testing.T) {
	for _, r := range datasets.All() {
		if _, err := os.Stat(filepath.Join(goldens, r.Name, "want.schema.txt")); err != nil {
			continue // its rows are compared as files: internal/cli/fixtures_test.go
		}
		for _, split := range r.Splits {
			t.Run(r.Name+"/"+split, func(t *testing.T) {
				if r.Sample == nil {
					t.Fatal("the recipe has no Sample: --demo and this test need one")
				}
				in, err := fs.ReadFile(r.Sample, split+".jsonl")
				if err != nil {
					t.Fatal(err)
				}
				got := rows(t, r, datasets.Options{}, split, string(in))
				sameLines(t, got.Lines(), lines(t, filepath.Join(goldens, r.Name, split+".want.jsonl")))
				var types []string
				for _, f := range got.Schema.Fields {
					types = append(types, f.String())
				}
				sameLines(t, types, lines(t, filepath.Join(goldens, r.Name, "want.schema.txt")))
			})
		}
	}
}

// shared returns the folder of data that is not ours to ship, or skips.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("RLPREP_SHARED")
	if dir == "" {
		dir = "../../shared"
	}
	name = filepath.Join(dir, name)
	if _, err := os.Stat(name); err != nil {
		t.Skipf("SKIPPED: no %s; set RLPREP_SHARED to the folder that has it", name)
	}
	return name
}

// TestRealRows holds each recipe to the rows of the whole dataset, where it is on this machine: in data/NAME of the shared folder, under the name of the
// dataset that the recipe's hub repository has.
func TestRealRows(t *testing.T) {
	for _, r := range datasets.All() {
		for split, want := range r.RealRows {
			t.Run(r.Name+"/"+split, func(t *testing.T) {
				repository := strings.Split(strings.TrimPrefix(r.Sources[0].Hub, "hf://datasets/"), "/")[1]
				name, _, _ := strings.Cut(repository, "@")
				in, err := os.ReadFile(shared(t, filepath.Join("data", name, split+".jsonl")))
				if err != nil {
					t.Fatal(err)
				}
				out := rows(t, r, datasets.Options{}, split, string(in)).Lines()
				sum := sha256.Sum256([]byte(strings.Join(out, "\n")))
				if got := hex.EncodeToString(sum[:]); got != want {
					t.Errorf("%d rows have sha256 %s, want %s", len(out), got, want)
				}
			})
		}
	}
}

func TestOptions(t *testing.T) {
	const in = `{"question":"1+1?","answer":"#### 2"}` + "\n" + `{"question":"2+2?","answer":"#### 4"}`
	for _, c := range []struct {
		recipe  string
		split   string
		options datasets.Options
		columns string
		row     string // a part of the last row
	}{
		{"gsm8k", "train", datasets.Options{Agent: "tool_agent"}, "data_source agent_name prompt ability reward_model extra_info", `"data_source":"openai/gsm8k","agent_name":"tool_agent","prompt"`},
		{"gsm8k", "test", datasets.Options{IndexStart: map[string]int64{"test": 100}}, "data_source prompt ability reward_model extra_info", `"extra_info":{"split":"test","index":101,"answer"`},
		{"gsm8k", "train", datasets.Options{DataSource: "mine/sums"}, "data_source prompt ability reward_model extra_info", `{"data_source":"mine/sums",`},
		{"gsm8k_tool_agent_loop", "train", datasets.Options{Agent: "my_agent"}, "data_source agent_name prompt ability reward_model extra_info", `"agent_name":"my_agent"`},
		{"gsm8k_multiturn_w_tool", "train", datasets.Options{Agent: "tool_agent"}, "data_source agent_name prompt ability reward_model extra_info", `"agent_name":"tool_agent"`},
		{"gsm8k_multiturn_sft", "train", datasets.Options{Agent: "tool_agent"}, "messages agent_name", `"agent_name":"tool_agent"`},
	} {
		out := rows(t, datasets.Find(c.recipe), c.options, c.split, in)
		if got := strings.Join(out.Schema.Names(), " "); got != c.columns {
			t.Errorf("%s %+v: columns %s, want %s", c.recipe, c.options, got, c.columns)
		}
		if last := out.Lines()[1]; !strings.Contains(last, c.row) {
			t.Errorf("%s %+v: %s has no %s", c.recipe, c.options, last, c.row)
		}
	}
}
