package datasets_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// rows runs a recipe over JSON Lines.
func rows(t *testing.T, r *datasets.Recipe, o datasets.Options, in string) *transformtest.Table {
	t.Helper()
	table, err := transformtest.Parse(in, r.Inputs(o.Split)[0].Fields)
	if err != nil {
		t.Fatal(err)
	}
	out, rejected, err := table.Apply(r.Steps(o)...)
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
	if len(datasets.All()) < 5 {
		t.Fatalf("%d recipes are registered", len(datasets.All()))
	}
	for _, r := range datasets.All() {
		t.Run(r.Name, func(t *testing.T) {
			if r.Title == "" || strings.HasSuffix(r.Title, ".") || strings.TrimSpace(r.Doc) == "" || len(r.Splits) == 0 {
				t.Error("title, doc and splits must be given; the title without a full stop")
			}
			for _, split := range r.Splits {
				if len(r.Inputs(split)) == 0 {
					t.Errorf("split %s has no input", split)
				}
			}
			if len(r.Examples) == 0 {
				t.Error("no example")
			}
			for _, e := range r.Examples {
				sameLines(t, rows(t, r, datasets.Options{Split: e.Split}, e.In).Lines(), strings.Split(e.Out, "\n"))
			}
		})
	}
}

// goldens is the folder of rows that the frameworks' own scripts made of the sample; its make.py says how.
const goldens = "../testdata/recipes"

// TestGoldens holds every recipe to the rows, and their types, that verl's own script makes of the sample.
func TestGoldens(t *testing.T) {
	for _, r := range datasets.All() {
		for _, split := range r.Splits {
			t.Run(r.Name+"/"+split, func(t *testing.T) {
				in, err := os.ReadFile("../testdata/sample/" + split + ".jsonl")
				if err != nil {
					t.Fatal(err)
				}
				got := rows(t, r, datasets.Options{Split: split}, string(in))
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

// realRows are the sha256 of all rows that verl's scripts make of the whole of GSM8K (compact JSON, one row a line, no newline
// at the end), made with pyarrow 26.0.1 and datasets 5.2.0.
var realRows = map[string]string{
	"gsm8k/train":                         "66d49df1d32f41fbcd0c9da26818a8974c6083d2633b26c849bde5ea563ef500",
	"gsm8k/test":                          "a67596fd97297be2fea4043625646997230f089590fb034927ada6560ec12052",
	"gsm8k_multiturn_w_tool/train":        "ebbb209c53cf619eb9f230b7f46e253670212983ba3b290a0567f08a20129bf0",
	"gsm8k_multiturn_w_tool/test":         "ddcc40cbcf1a75513fdf9c2881f68b4b4e053175d1831bae0004a1b9e88ee365",
	"gsm8k_tool_agent_loop/train":         "c4a92e82d349ccaa6e7b140f5c034cb2749b1c56bab506e2903142fa608ca26f",
	"gsm8k_tool_agent_loop/test":          "bac9d940bb37d49656dae0e04259fdbc72b6fbdaf1e4b938de1bd7dbf16452ae",
	"gsm8k_multiturn_w_interaction/train": "e4111c491742cb7cffe331b77f6465053f9e7acf28223ee1e87843ce28428e5b",
	"gsm8k_multiturn_w_interaction/test":  "8664e8378429e92fab0fdbec0b0f15db1f751a2bb73c9490fa441b8838d48f67",
	"gsm8k_multiturn_sft/train":           "56a684b6a466aa7dbd4eac934c5b21b746628c293af9da3930997330234a8137",
	"gsm8k_multiturn_sft/test":            "8c7ba15fdc961ee80a2c682f454a113a5316f2d5137c2ba26626dfe37180f2be",
}

// TestRealRows holds the recipes to verl's rows of the whole of GSM8K.
func TestRealRows(t *testing.T) {
	dir := shared(t, "data/gsm8k")
	for _, r := range datasets.All() {
		for _, split := range r.Splits {
			want, known := realRows[r.Name+"/"+split]
			if !known {
				t.Errorf("no hash of the rows of %s/%s", r.Name, split)
				continue
			}
			t.Run(r.Name+"/"+split, func(t *testing.T) {
				in, err := os.ReadFile(filepath.Join(dir, split+".jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				out := rows(t, r, datasets.Options{Split: split}, string(in)).Lines()
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
		options datasets.Options
		columns string
		row     string // a part of the last row
	}{
		{"gsm8k", datasets.Options{Split: "train", Agent: "tool_agent"}, "data_source agent_name prompt ability reward_model extra_info", `"data_source":"openai/gsm8k","agent_name":"tool_agent","prompt"`},
		{"gsm8k", datasets.Options{Split: "test", IndexStart: 100}, "data_source prompt ability reward_model extra_info", `"extra_info":{"split":"test","index":101,"answer"`},
		{"gsm8k", datasets.Options{Split: "train", DataSource: "mine/sums"}, "data_source prompt ability reward_model extra_info", `{"data_source":"mine/sums",`},
		{"gsm8k_tool_agent_loop", datasets.Options{Split: "train", Agent: "my_agent"}, "data_source agent_name prompt ability reward_model extra_info", `"agent_name":"my_agent"`},
		{"gsm8k_multiturn_w_tool", datasets.Options{Split: "train", Agent: "tool_agent"}, "data_source agent_name prompt ability reward_model extra_info", `"agent_name":"tool_agent"`},
		{"gsm8k_multiturn_sft", datasets.Options{Split: "train", Agent: "tool_agent"}, "messages agent_name", `"agent_name":"tool_agent"`},
	} {
		out := rows(t, datasets.Find(c.recipe), c.options, in)
		if got := strings.Join(out.Schema.Names(), " "); got != c.columns {
			t.Errorf("%s %+v: columns %s, want %s", c.recipe, c.options, got, c.columns)
		}
		if last := out.Lines()[1]; !strings.Contains(last, c.row) {
			t.Errorf("%s %+v: %s has no %s", c.recipe, c.options, last, c.row)
		}
	}
}

func TestOptionsWithoutUse(t *testing.T) {
	sft := datasets.Find("gsm8k_multiturn_sft")
	for _, o := range []datasets.Options{{Split: "train", DataSource: "x"}, {Split: "train", IndexStart: 1}} {
		table, err := transformtest.Parse(`{"question":"q","answer":"#### 1"}`, sft.Inputs("train")[0].Fields)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := table.Apply(sft.Steps(o)...); err == nil || !strings.Contains(err.Error(), "SFT rows are not") {
			t.Errorf("%+v: error %v", o, err)
		}
	}
}
