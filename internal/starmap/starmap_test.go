package starmap

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// apply runs a step over rows, a map after it has learnt its columns from them.
func apply(t *testing.T, step transform.RowStep, in string) (rows []string, err error) {
	t.Helper()
	table, err := transformtest.Parse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := step.(*Map); ok {
		probe := m.Probe()
		if _, _, err := table.Apply(probe); err != nil {
			return nil, bare(err)
		}
		if err := m.Learn(probe); err != nil {
			return nil, err
		}
	}
	out, rejected, err := table.Apply(step)
	if err != nil {
		return nil, bare(err)
	}
	if len(rejected) > 0 {
		r := rejected[0].Err
		return out.Lines(), fmt.Errorf("%s: row %d: %s: %s", r.Where, rejected[0].Number, r.Reason, r.Message)
	}
	return out.Lines(), nil
}

// bare is a fault without the number of the step, which transformtest puts before it.
func bare(err error) error {
	var fault *transform.Fault
	if errors.As(err, &fault) {
		return fault
	}
	return err
}

// mapRows runs a script over rows.
func mapRows(t *testing.T, script, in string, declared ...schema.Field) ([]string, error) {
	t.Helper()
	p, err := pystar.Load("fn.star", script)
	if err != nil {
		return nil, err
	}
	m, err := NewMap(p, "train", declared)
	if err != nil {
		return nil, err
	}
	return apply(t, m, in)
}

// TestVerbs runs the examples of the verbs that stand here.
func TestVerbs(t *testing.T) {
	for _, name := range []string{"map", "filter"} {
		for _, e := range transform.Find(name).Examples {
			t.Run(name+"/"+e.Title, func(t *testing.T) {
				d := json.NewDecoder(strings.NewReader(e.Args))
				d.UseNumber()
				var args transform.Args
				if err := d.Decode(&args); err != nil {
					t.Fatal(err)
				}
				step, err := transform.Find(name).New(args)
				var rows []string
				if err == nil {
					rows, err = apply(t, step, e.In)
				}
				switch {
				case e.Error != "":
					if err == nil || !strings.HasSuffix(err.Error(), e.Error) {
						t.Errorf("error %v, want %q", err, e.Error)
					}
				case err != nil:
					t.Error(err)
				case strings.Join(rows, "\n") != e.Out:
					t.Errorf("got\n%s\nwant\n%s", strings.Join(rows, "\n"), e.Out)
				}
			})
		}
	}
}

// TestSemantics: columns and rows as HF datasets' map gives them.
func TestSemantics(t *testing.T) {
	for _, c := range []struct{ name, script, in, want string }{
		{"popped and set again keeps its place", "def process_fn(e):\n    q = e.pop('q')\n    return {'n': 1, 'q': q + '!'}", `{"q":"a","z":1}`, `{"q":"a!","z":1,"n":1}`},
		{"read and not changed", "def process_fn(e):\n    return {'n': len(e['q'])}", `{"q":"abc","z":1}`, `{"q":"abc","z":1,"n":3}`},
		{"set in the example", "def process_fn(e):\n    e['new'] = e['q']\n    return {'last': 1}", `{"q":"a"}`, `{"q":"a","new":"a","last":1}`},
		{"a struct is changed in place", "def process_fn(e):\n    e['x']['b'] = 2\n    return e", `{"x":{"a":1,"b":0}}`, `{"x":{"a":1,"b":2}}`},
		{"set again, in the source's order", "def process_fn(e):\n    return {'x': {'b': 2, 'a': 1}}", `{"x":{"a":7,"b":8}}`, `{"x":{"a":1,"b":2}}`},
		{"set again, with other fields", "def process_fn(e):\n    return {'x': {'b': 2, 'c': 1}}", `{"x":{"a":7,"b":8}}`, `{"x":{"b":2,"c":1}}`},
		{"an empty list leaves out", "def process_fn(e):\n    return [] if e['n'] else {'k': 1}", `{"n":1}` + "\n" + `{"n":0}`, `{"n":0,"k":1}`},
		{"the example escapes", "def f(e):\n    return len(e)\n\ndef process_fn(e):\n    return {'n': f(e)}", `{"a":1,"b":2}`, `{"a":1,"b":2,"n":2}`},
		{"fields of structs that some rows lack", "def process_fn(e):\n    return {'x': {'a': 1, 'b': 2} if e['n'] else {'a': 3}}", `{"n":0}` + "\n" + `{"n":1}`, `{"n":0,"x":{"a":3,"b":null}}` + "\n" + `{"n":1,"x":{"a":1,"b":2}}`},
		{"ints and floats", "def process_fn(e):\n    return {'x': 1 if e['n'] else 0.5}", `{"n":0}` + "\n" + `{"n":1}`, `{"n":0,"x":0.5}` + "\n" + `{"n":1,"x":1.0}`},
		{"null and a value", "def process_fn(e):\n    return {'x': None if e['n'] else 'v'}", `{"n":1}` + "\n" + `{"n":0}`, `{"n":1,"x":null}` + "\n" + `{"n":0,"x":"v"}`},
		{"tuples are lists", "def process_fn(e):\n    return {'x': (1, 2)}", `{"n":1}`, `{"n":1,"x":[1,2]}`},
		{"idx is the number of the row", "def make_map_fn(split):\n    return lambda e, i: {'i': i, 's': split}", `{"n":1}` + "\n" + `{"n":2}`, `{"n":1,"i":0,"s":"train"}` + "\n" + `{"n":2,"i":1,"s":"train"}`},
		{"the example in some rows", "def process_fn(e):\n    if e['n'] == 1:\n        return e\n    return {'n': e['n'] + 5, 's': e['s'] + '!'}", `{"n":1,"s":"a"}` + "\n" + `{"n":2,"s":"b"}`, `{"n":1,"s":"a"}` + "\n" + `{"n":7,"s":"b!"}`},
		{"the example in later rows", "def process_fn(e):\n    if e['n'] == 1:\n        return e\n    return {'s': e['s'] + '!'}", `{"n":2,"s":"b"}` + "\n" + `{"n":1,"s":"a"}`, `{"n":2,"s":"b!"}` + "\n" + `{"n":1,"s":"a"}`},
		{"get with a default", "def process_fn(e):\n    return {'x': e.get('no', 'd'), 'y': 'n' in e}", `{"n":1}`, `{"n":1,"x":"d","y":true}`},
	} {
		rows, err := mapRows(t, c.script, c.in)
		if err != nil || strings.Join(rows, "\n") != c.want {
			t.Errorf("%s: got %v, %v\nwant %s", c.name, rows, err, c.want)
		}
	}
}

// TestFaultyRows: a row that does not fit is told with its number, the key and both types.
func TestFaultyRows(t *testing.T) {
	many := strings.Repeat(`{"n":0}`+"\n", 1200) + `{"n":1}`
	for _, c := range []struct{ name, script, in, want string }{
		{"another type after the sample", "def process_fn(e):\n    return {'x': {'y': 'a' if e['n'] else 1}}", many, "fn.star:1:1: row 1200: map-type: key x.y: expected int64, got text \"a\""},
		{"another type in the sample", "def process_fn(e):\n    return {'x': [{'y': 'a' if e['n'] else 1}]}", `{"n":0}` + "\n" + `{"n":1}`, "fn.star:1:1: row 1: key x[].y: text \"a\" here, int64 in row 0"},
		{"another type than the source's, in some rows", "def process_fn(e):\n    if e['n'] == 0:\n        return e\n    return {'n': str(e['n'])}", `{"n":0}` + "\n" + `{"n":1}`, "key n: string in some rows, and the source's int64 in others"},
		{"a key that is missing", "def process_fn(e):\n    return {'x': 1} if e['n'] == 0 else {}", many, "row 1200: map-type: key x is missing"},
		{"a key that is new", "def process_fn(e):\n    return {'x': 1} if e['n'] == 0 else {'x': 1, 'y': 2}", many, "row 1200: map-type: key y is new"},
		{"a key of a struct that is new", "def process_fn(e):\n    return {'x': {'a': 1} if e['n'] == 0 else {'b': 2}}", many, `row 1200: map-type: key x: expected struct<a: int64>, got a dict with the key "b"`},
		{"a column of the source that comes late", "def process_fn(e):\n    return {'x': 1} if e['n'] == 0 else {'x': 1, 'n': 2}", many, "row 1200: map-type: key n is new"},
		{"popped late", "def process_fn(e):\n    if e['n'] == 1:\n        e.pop('n')\n    return {'x': 1}", many, "row 1200: map-type: key n is missing"},
		{"null in all of the sample", "def process_fn(e):\n    return {'x': None if e['n'] == 0 else 5}", many, "row 1200: map-type: key x: expected null, as in the first 1000 rows (say its type by schema), got an int 5"},
		{"text in place of a row", "def process_fn(e):\n    return 'a'", `{"n":0}`, "row 0: map-error: the function gave text, expected a dict"},
		{"a key that is no text", "def process_fn(e):\n    return {'x': {1: 2}}", `{"n":0}`, "key x: a dict with the key 1, expected text"},
		{"an empty struct", "def process_fn(e):\n    return {'x': {}}", `{"n":0}`, "key x: a dict without keys"},
		{"an int that does not fit", "def process_fn(e):\n    return {'x': 1 << 70}", `{"n":0}`, "does not fit int64"},
		{"a function as a value", "def process_fn(e):\n    return {'x': len}", `{"n":0}`, "cannot be written"},
		{"state between rows", "seen = []\ndef process_fn(e):\n    seen.append(1)\n    return {'x': 1}", `{"n":0}`, "keeps nothing from row to row"},
		{"state in a closure", "def make_map_fn(split):\n    seen = {}\n    def f(e):\n        seen['a'] = 1\n        return {'x': 1}\n    return f", `{"n":0}`, "keeps nothing from row to row"},
		{"a misspelt column", "def process_fn(e):\n    return {'x': e['quesiton']}", `{"question":"a"}`, `fn.star:2:19: row 0: map-error: key "quesiton" not in dict; did you mean "question"?`},
	} {
		_, err := mapRows(t, c.script, c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
	rows, err := mapRows(t, "def process_fn(e):\n    return {'x': None if e['n'] == 0 else 5}", many, schema.NewField("x", schema.FloatType))
	if err != nil || rows[1200] != `{"n":1,"x":5.0}` {
		t.Errorf("declared: %v, %v", rows[len(rows)-1:], err)
	}
}

// TestUndecoded: a function is given the columns that it names, and no others.
func TestUndecoded(t *testing.T) {
	in := &schema.Schema{}
	for i := range 20 {
		in.Fields = append(in.Fields, schema.NewField(fmt.Sprint("c", i), schema.StringType))
	}
	for src, want := range map[string]string{
		"def process_fn(e):\n    return {'x': e['c1'] + e.get('c2', '')}":                        "[c1 c2]",
		"def process_fn(e):\n    if 'c3' in e:\n        e['c4'] = 'a'\n    return e":             "[c3 c4]",
		"def process_fn(e):\n    return {'x': e.pop('c5')}":                                      "[c5]",
		"def make_map_fn(split):\n    def g(e, i):\n        return {'x': e['c6']}\n    return g": "[c6]",
		"process_fn = lambda e: {'x': e['c7']}":                                                  "[c7]",
		"def process_fn(e):\n    return {'x': len([1 for k in ['c1'] if e['c8']])}":              "[c8]",
	} {
		p, err := pystar.Load("fn.star", src)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewMap(p, "train", nil)
		if err != nil {
			t.Fatal(err)
		}
		names, _, err := m.reads(in)
		if err != nil || fmt.Sprint(names) != want {
			t.Errorf("%q reads %v, %v, want %s", src, names, err, want)
		}
	}
	for _, src := range []string{
		"def process_fn(e):\n    return {'x': len(e)}",
		"def process_fn(e):\n    k = 'c1'\n    return {'x': e[k]}",
		"def process_fn(e):\n    f = e\n    return {'x': f['c1']}",
		"def process_fn(e):\n    return {k: v for k, v in e.items()}",
		"def process_fn(e):\n    e.update({'c1': 'a'})\n    return e",
		"def process_fn(e):\n    def g():\n        return e\n    return {'x': g()['c1']}",
	} {
		p, err := pystar.Load("fn.star", src)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := NewMap(p, "train", nil)
		if names, _, _ := m.reads(in); len(names) != 20 {
			t.Errorf("%q reads %v, and may touch all", src, names)
		}
	}
}

// TestFunctions: a script must define the function that takes a row.
func TestFunctions(t *testing.T) {
	for src, want := range map[string]string{
		"x = 1":                                  "no function make_map_fn(split) or process_fn(example, idx) (there are: x)",
		"def process_fn(a, b, c):\n    return a": "expected (example) or (example, idx)",
		"process_fn = 3":                         "no function make_map_fn",
		"def make_map_fn(split):\n    return 3":  "make_map_fn gave an int",
	} {
		if _, err := mapRows(t, src, `{"a":1}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", src, err, want)
		}
	}
}

// TestHostile: values too deep or too many for a row are refused, with a place. What a script may do before that is pystar's to bound.
func TestHostile(t *testing.T) {
	const head = "def process_fn(example):\n"
	for name, body := range map[string]string{
		"deep nesting":     head + "    x = []\n    for i in range(100000):\n        x = [x]\n    return {'x': x}",
		"deep dicts":       head + "    x = {}\n    for i in range(100000):\n        x = {'a': x}\n    return x",
		"a cyclic list":    head + "    x = []\n    x.append(x)\n    return {'x': x}",
		"a cyclic dict":    head + "    example['x'] = example\n    return example",
		"lists that share": head + "    x = [1]\n    for i in range(60):\n        x = [x, x]\n    return {'x': x}",
		"dicts that share": head + "    x = {'a': 1}\n    for i in range(60):\n        x = {'a': x, 'b': x}\n    return x",
	} {
		_, err := mapRows(t, body, `{"n":0}`)
		if err == nil || !strings.HasPrefix(err.Error(), "fn.star:") || len(err.Error()) > 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
