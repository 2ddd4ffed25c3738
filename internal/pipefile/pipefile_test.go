package pipefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/yamlfile"
	_ "github.com/rlprep/rlprep/schema/verl" // rules that expects may name
	"github.com/rlprep/rlprep/transform"
)

func noFile(string) (string, error) { return "", fs.ErrNotExist }

func parse(text string) (*File, error) { return Parse("p.yaml", []byte(text), noFile) }

// TestErrors: every fault has its place, and the nearest name where one is misspelt.
func TestErrors(t *testing.T) {
	const steps = "steps:\n- index\n"
	for _, c := range []struct{ text, want string }{
		{"", "p.yaml:1:1: the file is empty: 'rlprep init pipeline FILE' writes one"},
		{"# only a comment\n", "p.yaml:1:1: the file is empty: 'rlprep init pipeline FILE' writes one"},
		{"- index\n", "p.yaml:1:1: the file is a list, expected a mapping with the key steps"},
		{"sources: a\n", "p.yaml:1:1: key steps is missing"},
		{"stesp:\n- index\n", "p.yaml:1:1: unknown key \"stesp\"; did you mean \"steps\"?\np.yaml:1:1: key steps is missing"},
		{"steps: []\n", "p.yaml:1:8: steps is an empty list: '- drop: [question]'"},
		{"\ufeffsteps: [indx]\n", `p.yaml:1:9: unknown step "indx"; did you mean "index"?`},
		{"sources: a\x00b\n", "p.yaml:1:11: a control character: is this YAML, in UTF-8?"},
		{"sources: a\nsteps: \xe9\n", "p.yaml:2:1: the line is not UTF-8"},
		{"steps:\n- prompt:\n  user: x\n", "p.yaml:3:3: user is an argument of prompt: indent it further"},
		{"steps:\n - index\n  - index\n", "p.yaml:2:4: the lines of \"index\" are joined"},
		{"steps:\n  - index\n - index\n", "p.yaml:3:2: "},
		{"steps:\n- promt: {user: x}\n", `p.yaml:2:3: unknown step "promt"; did you mean "prompt"?`},
		{"steps:\n  - index\n  - frobnicate: 3\n", `p.yaml:3:5: unknown step "frobnicate" (`},
		{"steps:\n- merge: {seed: 1}\n", "p.yaml:2:3: step merge needs all rows at once"},
		{"steps:\n- sort\n", "p.yaml:2:3: step sort needs all rows at once"},
		{"steps:\n- set: {path: a, valeu: 1}\n", `p.yaml:2:18: step set: no argument "valeu"`},
		{"steps:\n- set: {path: a}\n", "p.yaml:2:3: step set: argument value is missing"},
		{"steps:\n- set:\n    path: a\n    value: int:x\n", `p.yaml:4:5: step set: argument value: "x" is no integer of 64 bits`},
		{"steps:\n- set: 3\n", "p.yaml:2:8: step set: 3, expected arguments (path, value, after, if)"},
		{"steps:\n- set: {path: a, value: 1}\n  drop: b\n", "p.yaml:3:3: a step has one verb: put a dash before drop"},
		{"steps:\n- 3\n", "p.yaml:2:3: a step is 3, expected a verb with its arguments"},
		{"steps:\n- splits: [train]\n", "p.yaml:2:3: a step without a verb ("},
		{"steps:\n- drop: a\n- limit: 3\n- sample: 0.5\n- limit: 5\n", "p.yaml:5:3: step limit counts the rows that are read: put it before step sample"},
		{"steps:\n- split: {into: {a: 0.5, b: 0.5}}\n- split: {into: {a: 1}}\n", "p.yaml:3:3: a second step split"},
		{"steps:\n- sample: {fraction: 2}\n", "p.yaml:2:12: step sample: argument fraction: 2, expected more than 0"},
		{"steps:\n- drop: [a\n", "p.yaml:2:9: "},
		{"steps:\n\t- index\n", "p.yaml:2:1: a tab: YAML is indented by blanks"},
		{steps + "steps: []\n", `p.yaml:3:1: `},
		{steps + "sources: 3\n", "p.yaml:3:10: sources: 3, expected a text"},
		{steps + "sources: {}\n", "p.yaml:3:10: sources names no split"},
		{steps + "sources:\n  my split: a\n", `p.yaml:4:3: split "my split": a split is named by letters`},
		{steps + "columns:\n  a: strng\n", `p.yaml:4:6: column "a": read type "strng": unknown type "strng"; did you mean "string"?`},
		{steps + "contract: {rows: sfr}\n", `p.yaml:3:18: unknown kind of rows "sfr"; did you mean "sft"?`},
		{steps + "contract:\n  target: verl@9\n", `p.yaml:4:11: unknown target "verl@9"`},
		{steps + "contract:\n  expects: [RL999]\n", `p.yaml:4:12: expects: there is no rule "RL999"`},
		{steps + "output: {shards: many}\n", "p.yaml:3:18: shards is \"many\", expected a number of files"},
		{steps + "output: {compression: gzip}\n", "p.yaml:3:23: unknown compression \"gzip\""},
		{steps + "a: &x 1\n", "p.yaml:3:4: anchors and aliases are not supported"},
		{steps + "a: !!str 1\n", "p.yaml:3:4: tags (!!str) are not supported"},
		{steps + "---\nsteps: []\n", "p.yaml:4:1: a second document"},
		{"steps:\n- set: {path: a, value: {b: 1, b: 2}}\n", "p.yaml:2:32: "},
	} {
		_, err := parse(c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestAllFaultsAtOnce: one run tells every fault, in the order of the lines.
func TestAllFaultsAtOnce(t *testing.T) {
	_, err := parse("contract: {rows: x}\nsteps:\n- promt: 1\n- drop: {pth: a}\n")
	var all yamlfile.Errors
	if !errors.As(err, &all) || len(all) != 3 || all[0].Line != 1 || all[1].Line != 3 || all[2].Line != 4 {
		t.Errorf("got %v", err)
	}
}

// TestHostile: what would blow up a reader that trusts its input ends with an error, and with little work, counted in bytes that are allocated.
func TestHostile(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for _, c := range "bcdefghi" {
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ",") + "]\n"
	}
	indented := ""
	for i := range 1400 {
		indented += strings.Repeat(" ", i) + "a:\n"
	}
	for name, text := range map[string]string{
		"aliases":          bomb,
		"brackets":         "steps: " + strings.Repeat("[", 200000),
		"closed brackets":  "steps: " + strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
		"braces":           "steps: " + strings.Repeat("{a: ", 100000),
		"dashes":           strings.Repeat("- ", 100000) + "x",
		"question marks":   strings.Repeat("? ", 100000) + "x",
		"indent":           indented,
		"large":            "steps: [" + strings.Repeat("a,", 1<<20) + "]",
		"moderate nesting": "steps: " + strings.Repeat("[", 200) + strings.Repeat("]", 200),
		"binary":           "steps: \x00\x01\xff\xfe",
		"merge":            "a: &a {b: 1}\nsteps:\n- set: {<<: *a}\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := parse(text)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if len(err.Error()) > 4000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > 8<<20+16*uint64(len(text)) {
			t.Errorf("%s: %d bytes were allocated for a text of %d", name, made, len(text))
		}
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/pipelines/*.yaml")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("p.yaml", text, noFile)
		if (file == nil) == (err == nil) {
			t.Errorf("file %v, error %v", file, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "p.yaml:") {
			t.Errorf("error without a place: %v", err)
		}
	})
}

// TestSplits: which steps a split gets, what it becomes, and what stands for its name.
func TestSplits(t *testing.T) {
	f, err := parse(`
steps:
- limit: 10
  splits: [train]
- set: {path: a, value: "${split}"}
- set: {path: b, value: {of: "${split}/$${split}", n: 1}}
- drop: a
  splits: test
- split: {into: {train: 0.9, validation: 0.1}, key: q}
  splits: [train]
- set: {path: c, value: x}
  splits: [validation]
`)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Outputs("train"); !slices.Equal(got, []string{"train", "validation"}) {
		t.Errorf("train becomes %v", got)
	}
	if got := f.Outputs("test"); !slices.Equal(got, []string{"test"}) {
		t.Errorf("test becomes %v", got)
	}
	for _, c := range []struct{ from, split, verbs, value string }{
		{"train", "train", "limit set set split", `{"of":"train/${split}","n":1}`},
		{"train", "validation", "limit set set split set", `{"of":"validation/${split}","n":1}`},
		{"test", "test", "set set drop", `{"of":"test/${split}","n":1}`},
	} {
		steps, err := f.Transforms(c.from, c.split)
		if err != nil {
			t.Fatal(err)
		}
		var verbs []string
		for _, s := range steps {
			verbs = append(verbs, s.(transform.Located).Verb)
			if cut, ok := s.(transform.Located).RowStep.(transform.Split); ok && cut.Take != c.split {
				t.Errorf("%s takes %s", c.split, cut.Take)
			}
		}
		if got := strings.Join(verbs, " "); got != c.verbs {
			t.Errorf("%s of %s: steps %s, want %s", c.split, c.from, got, c.verbs)
		}
		v := steps[slices.IndexFunc(steps, func(s transform.RowStep) bool { return s.(transform.Located).Verb == "set" })+1].(transform.Located).RowStep.(transform.Set).Value
		if got := string(v.AppendJSON(nil)); got != c.value {
			t.Errorf("%s: value %s, want %s", c.split, got, c.value)
		}
	}
}
