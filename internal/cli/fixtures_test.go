package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// fixtures is the folder of rows that the frameworks' own scripts made of raw rows: a folder for each recipe, or for another input of one.
const fixtures = "../../datasets/testdata"

// otherInput is the recipe of a fixture that is not called like one.
var otherInput = map[string]string{"geo3k_3col": "geo3k", "preprocess_search_r1_dataset_golden": "preprocess_search_r1_dataset"}

// notMadeYet are fixtures without a recipe. The list may only become shorter.
var notMadeYet = []string{
	"fapo",
	"r1",
}

// fixtureArgs are the options with which the script was run, where these are not its own.
var fixtureArgs = map[string][]string{
	"spo_split":              {"--param", "num_subsets=3"},
	"char_count":             {"--param", "total_number=12"},
	"langgraph_agent":        {"--param", "train_size=12", "--param", "test_size=7"},
	"rep_exp_dapo_with_aime": {"--param", "train_size=5"},
}

// A fixture is one folder of fixtures.
type fixture struct {
	name   string
	recipe *datasets.Recipe
	raw    string // the folder of its raw rows; "": the recipe makes its rows itself
}

// allFixtures are those whose recipe is made.
func allFixtures(t *testing.T) (out []fixture) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(fixtures, "*", "schema.txt"))
	if err != nil || len(folders) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, f := range folders {
		x := fixture{name: filepath.Base(filepath.Dir(f))}
		name := x.name
		if other := otherInput[name]; other != "" {
			name = other
		}
		x.recipe = datasets.Find(name)
		if (x.recipe == nil) != slices.Contains(notMadeYet, x.name) {
			t.Errorf("fixture %s: a recipe is there, or the fixture is in notMadeYet", x.name)
		}
		if x.recipe == nil {
			continue
		}
		from := x.name
		if b, err := os.ReadFile(filepath.Join(fixtures, x.name, "RAW_IS_IN")); err == nil {
			from = strings.TrimSpace(string(b))
		}
		if raw := filepath.Join(fixtures, from, "raw"); !x.recipe.Sources[0].Generated {
			x.raw = raw
		}
		out = append(out, x)
	}
	return out
}

// sources are the arguments that name the raw rows.
func (x fixture) sources(raw string) (args []string) {
	if x.raw == "" {
		return nil
	}
	for _, s := range x.recipe.Sources {
		if len(x.recipe.Sources) == 1 {
			return []string{"--source", raw}
		}
		args = append(args, "--source", s.Key+"="+filepath.Join(raw, s.Place()))
	}
	return args
}

// want are the rows that the script writes, by split.
func (x fixture) want(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	files, err := filepath.Glob(filepath.Join(fixtures, x.name, "want.*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no rows", x.name)
	}
	for _, f := range files {
		split := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "want."), ".jsonl.gz")
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(z)
		in.Buffer(nil, 1<<24)
		out[split] = []string{}
		for in.Scan() {
			out[split] = append(out[split], in.Text())
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// wantTypes are the columns of the script's files, by split, as pyarrow prints them.
func (x fixture) wantTypes(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for part := range strings.SplitSeq(readText(t, filepath.Join(fixtures, x.name, "schema.txt")), "== ") {
		name, tree, ok := strings.Cut(part, "\n")
		if !ok {
			continue
		}
		lines := strings.Split(strings.TrimRight(tree, "\n"), "\n")
		var columns []string
		for len(lines) > 0 {
			var c string
			c, lines = typeTree(lines, 0)
			columns = append(columns, c)
		}
		out[strings.TrimSuffix(name, ".parquet")] = strings.Join(columns, "\n")
	}
	return out
}

// typeTree reads a field and the fields below it, which stand indented: "a: list<element: string>".
func typeTree(lines []string, indent int) (string, []string) {
	field := strings.TrimSpace(lines[0])
	lines = lines[1:]
	var below []string
	for len(lines) > 0 && len(lines[0])-len(strings.TrimLeft(lines[0], " ")) > indent {
		var f string
		f, lines = typeTree(lines, indent+2)
		below = append(below, f)
	}
	if below != nil {
		field += "<" + strings.Join(below, ", ") + ">"
	}
	return field, lines
}

// withoutImages leaves the images out of rows: the script encodes them again, and they pass through here.
func withoutImages(t *testing.T, rows []string) []string {
	t.Helper()
	out := make([]string, len(rows))
	for i, row := range rows {
		if !strings.HasPrefix(row, `{"images":[`) {
			out[i] = row
			continue
		}
		dec := json.NewDecoder(strings.NewReader(strings.TrimPrefix(row, `{"images":`)))
		var images json.RawMessage
		if err := dec.Decode(&images); err != nil {
			t.Fatal(err)
		}
		out[i] = row[len(`{"images":`)+len(images):]
	}
	return out
}

// TestFixtures holds what every recipe makes of the raw rows, as they lie there, to the rows of the script: values, columns, fields and types.
func TestFixtures(t *testing.T) {
	compared := 0
	all := allFixtures(t)
	for _, x := range all {
		t.Run(x.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			mustRun(t, slices.Concat([]string{"preprocess", x.recipe.Name, "-q", "-o", out}, x.sources(x.raw), fixtureArgs[x.name])...)
			types := x.wantTypes(t)
			for split, want := range x.want(t) {
				file := filepath.Join(out, split+".parquet")
				if len(want) == 0 {
					if _, err := os.Stat(file); err == nil {
						t.Errorf("%s: there is a file without rows", split)
					}
					continue
				}
				got, columns := readRows(t, file)
				if x.encodesImages() {
					x.sameImages(t, split, got)
					got, want = withoutImages(t, got), withoutImages(t, want)
				}
				compareRows(t, split, withoutUUIDs(got), withoutUUIDs(plainBytes(t, want)))
				if columns = strings.TrimSpace(columns); columns != types[split] && otherTypes[x.name] == "" {
					t.Errorf("%s: columns:\n%s\nwant:\n%s", split, columns, types[split])
				}
				logGolden(t, x.name, split, len(want))
			}
			compared++
		})
	}
	if folders, _ := filepath.Glob(filepath.Join(fixtures, "*", "schema.txt")); compared != len(all) || compared+len(notMadeYet) != len(folders) {
		t.Errorf("%d fixtures were compared, and %d are not made yet, of %d", compared, len(notMadeYet), len(folders))
	}
}

// plainBytes writes {"$base64": …} in rows as readRows writes bytes.
func plainBytes(t *testing.T, rows []string) []string {
	t.Helper()
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = regexp.MustCompile(`{"\$base64":"[^"]*"}`).ReplaceAllStringFunc(row, func(object string) string {
			b, err := base64.StdEncoding.DecodeString(strings.Split(object, `"`)[3])
			if err != nil {
				t.Fatal(err)
			}
			return string(schema.BinaryValue(string(b)).AppendJSON(nil))
		})
	}
	return out
}

// withoutUUIDs leaves the last column out where it is a UUID: Python's uuid4 makes others in each run.
func withoutUUIDs(rows []string) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = regexp.MustCompile(`"index":"[0-9a-f]{8}-[0-9a-f-]{27}"}$`).ReplaceAllString(row, `"index":"a UUID"}`)
	}
	return out
}

// encodesImages reports whether the script encodes the images again.
func (x fixture) encodesImages() bool { return strings.HasPrefix(x.name, "geo3k") }

// sameImages compares the images of rows with those of the raw file, byte for byte.
func (x fixture) sameImages(t *testing.T, split string, got []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(x.raw, "data", split+"-*.parquet"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	rows, _ := readRows(t, files[0])
	for i, rest := range withoutImages(t, rows) {
		if images := strings.TrimSuffix(rows[i], rest); !strings.HasPrefix(got[i], images) {
			t.Errorf("%s: row %d: other images than %q", split, i, images)
		}
	}
}

// TestRecipeExamples runs what explain shows of every recipe.
func TestRecipeExamples(t *testing.T) {
	for _, r := range datasets.All() {
		if r.Sources[0].Generated || len(r.Sources) > 1 {
			continue
		}
		for _, e := range r.Examples {
			t.Run(r.Name, func(t *testing.T) {
				in, out := filepath.Join(t.TempDir(), e.Split+".jsonl"), filepath.Join(t.TempDir(), "out")
				if err := os.WriteFile(in, []byte(e.In), 0o666); err != nil {
					t.Fatal(err)
				}
				mustRun(t, "preprocess", r.Name, "--source", in, "-q", "-o", out)
				got, _ := readRows(t, filepath.Join(out, e.Split+".parquet"))
				compareRows(t, e.Split, got, strings.Split(e.Out, "\n"))
			})
		}
	}
}

// A badRow is a row at which the script dies, or is wrong.
type badRow struct {
	Case  string          `json:"case"`
	RC    int             `json:"rc"`
	Error *string         `json:"error"`
	Row   json.RawMessage `json:"row"`
	Got   json.RawMessage `json:"got"`
}

// otherTypes are fixtures with another type than the script's file has, with the reason.
var otherTypes = map[string]string{
	"open_math_reasoning_sft": "used_in_kaggle is null in all rows of the fixture, so the script's file has the type null; it keeps its type here",
}

// takenRows are bad rows of errors.jsonl that a recipe takes on purpose, with the reason.
var takenRows = map[string]string{}

// TestBadRows places each row at which the script dies behind good ones: it is rejected with a reason and its place, and nothing appears.
func TestBadRows(t *testing.T) {
	for _, x := range allFixtures(t) {
		f, err := os.ReadFile(filepath.Join(fixtures, x.name, "errors.jsonl"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(f)) {
			var bad badRow
			if err := json.Unmarshal([]byte(line), &bad); err != nil {
				t.Fatal(err)
			}
			if bad.Error == nil || takenRows[x.name+": "+bad.Case] != "" {
				continue
			}
			t.Run(x.name+"/"+bad.Case, func(t *testing.T) { x.rejects(t, bad) })
		}
	}
}

// rejects runs the recipe over a good row and a bad one.
func (x fixture) rejects(t *testing.T, bad badRow) {
	dir := t.TempDir()
	in, out := writeAfter(t, x.firstFile(t), bad.Row, dir), filepath.Join(dir, "out")
	args := append([]string{"preprocess", x.recipe.Name, "--source", in, "-o", out}, fixtureArgs[x.name]...)
	code, _, stderr := runMain(t, args...)
	if code != ExitFindings || !strings.Contains(stderr, "row 1") || !strings.Contains(stderr, "[") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Error("something is visible")
	}
	rejects := filepath.Join(dir, "rejects.jsonl")
	if code, _, stderr := runMain(t, append(args, "-q", "--max-rejects", "1", "--rejects", rejects)...); code != ExitClean {
		t.Errorf("--max-rejects 1: exit %d: %s", code, stderr)
	} else if text := readText(t, rejects); !strings.Contains(text, `"row":1,`) || strings.Contains(text, `"reason":""`) {
		t.Errorf("rejects: %s", text)
	}
}

// firstFile is the first raw file of the split train.
func (x fixture) firstFile(t *testing.T) string {
	t.Helper()
	found := ""
	err := filepath.WalkDir(x.raw, func(path string, _ fs.DirEntry, err error) error {
		if found == "" && strings.HasSuffix(path, ".parquet") && (strings.Contains(path, "train") || len(x.recipe.Sources[0].Splits) == 1) {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatal("no raw file", err)
	}
	return found
}

// TestEject holds every recipe, written as a pipeline file, to the files that the recipe itself makes.
func TestEject(t *testing.T) {
	for _, r := range datasets.All() {
		if r.Sources[0].Generated {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			dir := t.TempDir()
			raw := filepath.Join(dir, "raw")
			if err := os.CopyFS(raw, r.Sample); err != nil {
				t.Fatal(err)
			}
			x := fixture{name: r.Name, recipe: r, raw: raw}
			for i, options := range [][]string{nil, {"--fixed"}, {"--index-scope", "run", "--index-start", "100"}, {"--agent", "my_agent", "--system", "Say ${split}: {{'{{'}}."}} {
				if slices.ContainsFunc(options, func(o string) bool { return r.NoUse[strings.TrimPrefix(o, "--")] != "" }) {
					continue
				}
				one, two, file := filepath.Join(dir, fmt.Sprint("one", i)), filepath.Join(dir, fmt.Sprint("two", i)), filepath.Join(dir, fmt.Sprint(i, ".yaml"))
				options = slices.Concat(options, x.sources(raw), fixtureArgs[r.Name])
				mustRun(t, slices.Concat([]string{"preprocess", r.Name, "-q", "-o", one}, options)...)
				mustRun(t, slices.Concat([]string{"init", "pipeline", "--from", r.Name, "--out", file}, options)...)
				mustRun(t, "run", file, "-q", "-o", two)
				sameDataset(t, one, two)
			}
		})
	}
}

// sameDataset compares the files of two data sets, their manifests aside.
func sameDataset(t *testing.T, one, two string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(one, "*.parquet"))
	others, _ := filepath.Glob(filepath.Join(two, "*.parquet"))
	if err != nil || len(files) == 0 || len(files) != len(others) {
		t.Fatalf("%d files, and %d", len(files), len(others))
	}
	for _, f := range files {
		if readText(t, f) != readText(t, filepath.Join(two, filepath.Base(f))) {
			t.Errorf("%s differs", filepath.Base(f))
		}
	}
}

// writeAfter writes a Parquet file like raw, of its first row and the bad one, and returns its name.
func writeAfter(t *testing.T, raw string, bad json.RawMessage, dir string) string {
	t.Helper()
	rows, _ := readRows(t, raw)
	set, err := source.Resolve(t.Context(), source.Spec{Args: []string{raw}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	f := testFile{name: "train.parquet", group: 2}
	for _, text := range []string{rows[0], string(bad)} {
		var row map[string]any
		if err := json.Unmarshal([]byte(text), &row); err != nil {
			t.Fatal(err)
		}
		f.rows = append(f.rows, plainImages(row, text == rows[0]))
	}
	return f.write(t, dir, set.Files()[0].Schema.Fields)
}

// plainImages gives the images of a row bytes that JSON can hold: those of a GIF in place of a PNG's.
func plainImages(row map[string]any, good bool) map[string]any {
	images, _ := row["images"].([]any)
	for _, image := range images {
		m, ok := image.(map[string]any)
		if !ok || m["bytes"] == nil {
			continue
		}
		encoded, _ := m["bytes"].(map[string]any)
		text, _ := encoded["$base64"].(string)
		if b, err := base64.StdEncoding.DecodeString(text); err == nil && !good && !strings.HasPrefix(string(b), "\x89PNG") {
			m["bytes"] = string(b)
		} else {
			m["bytes"] = "GIF89a, as far as anybody looks"
		}
	}
	return row
}
