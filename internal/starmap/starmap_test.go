package starmap

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

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
	p, err := Load("fn.star", script)
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

// TestPython holds text methods, formats, numbers, re and json to what Python gave: testdata/python.jsonl is what python.py printed
// (Python 3.12 or later), an expression and its repr a line.
func TestPython(t *testing.T) {
	text, err := os.ReadFile("testdata/python.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		var c struct{ Expr, Want string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		rows, err := mapRows(t, "def process_fn(example):\n    return {'r': repr("+c.Expr+")}\n", `{"a":1}`)
		if err != nil {
			t.Errorf("%s: %v, Python gives %s", c.Expr, err, c.Want)
			continue
		}
		var row struct{ R string }
		if err := json.Unmarshal([]byte(rows[0]), &row); err != nil || row.R != c.Want {
			t.Errorf("%s = %s, Python gives %s", c.Expr, row.R, c.Want)
		}
		n++
	}
	if n < 200 {
		t.Errorf("only %d expressions", n)
	}
}

// TestRefused: what Starlark would do differently from Python, and what Python refuses, is an error.
func TestRefused(t *testing.T) {
	for expr, want := range map[string]string{
		`re.search(r"(a)++", "aa")`:        "a group in a possessive repetition",
		`re.search(r"(?a:\w)", "aé")`:      "for a part of a pattern",
		`re.search(r"\N{DASH}", "a")`:      `\N{…} is not supported`,
		`re.search(r"\z", "a")`:            `bad escape \z at position 0`,
		`re.search(r"\pL", "a")`:           `bad escape \p`,
		`re.search(r"(?U)a", "a")`:         "unknown extension ?U",
		`re.search(r"$*", "a")`:            "nothing to repeat",
		`re.search(r"\A+", "a")`:           "nothing to repeat",
		`re.search(r"[\S-0]", "a")`:        "bad character range",
		`re.search("(", "a")`:              "missing ), unterminated subpattern",
		`re.search("(" * 500, "a")`:        "nested more than 200 deep",
		`re.sub(r"a", r"\2", "a")`:         "names group 2",
		`re.sub(r"a", r"\g<x>", "b")`:      "names group x",
		`re.sub(r"a", r"\q", "b")`:         `bad escape \q`,
		`re.search("a", None)`:             "the text to look in is None",
		`re.search("a", "a", 4)`:           "unsupported flag",
		`re.search("a", "a", re.A | re.U)`: "incompatible",
		`"a".translate({})`:                "translate is not here",
		`round(1234, -2)`:                  "digits below 0",
		`type("a")`:                        "isinstance",
		`"{:d}".format("a")`:               "not understood",
		`"%d" % "a"`:                       "expected a number",
		`"%d %d" % (1,)`:                   "not enough values",
		`"a" + 1`:                          "text + an int",
		`None + "a"`:                       "None + text",
		`len(None)`:                        "null in this row",
		`"abc"[7]`:                         "out of the range",
		`example["b"]`:                     `key "b" not in dict`,
		`int("1.5")`:                       "no integer",
		`float("x")`:                       "no number",
		`json.loads("{")`:                  "loads of",
		`json.loads("[1] 2")`:              "something follows",
		`[1, 2].frobnicate()`:              "frobnicate",
		`getattr("a", "b")`:                "not here",
		`math.floor("a")`:                  "want float or int",
		`math.sqrt(-1)`:                    "math domain error",
		`math.log(0)`:                      "math range error",
		`math.exp(1000)`:                   "math range error",
		`math.mod(3, 2)`:                   "has no .mod",
		`math.factorial(5000)`:             "from 0 to 4095",
		`"{:010,}".format(7)`:              "Python groups them too",
		`"{:#g}".format(1.5)`:              "# of a float",
		`json.loads('"\\ud800"')`:          "half of a surrogate pair",
		`json.loads('"\\ude42\\ud83d"')`:   "half of a surrogate pair",
		`pow(0.0, -1)`:                     "math range error",
		`pow(-8.0, 0.5)`:                   "math domain error",
		`[c for c in None]`:                "a loop over None",
		`1 < "a"`:                          "not implemented",
		`sorted([1, "a"])`:                 "not implemented",
		`{}.popitem()`:                     "empty dict",
		`fail("no good")`:                  "no good",
	} {
		_, err := mapRows(t, "def process_fn(example):\n    return {'r': str("+expr+")}\n", `{"a":1}`, schema.NewField("r", schema.StringType))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", expr, err, want)
		} else if !strings.HasPrefix(err.Error(), "fn.star:2:") {
			t.Errorf("%s: no place: %v", expr, err)
		}
	}
}

// TestHints: what Python has and Starlark has not is told with its place and what to write.
func TestHints(t *testing.T) {
	for src, want := range map[string]string{
		"x = f\"{a}\"":                  "fn.star:1:5: f-strings",
		"x = rf'{a}'":                   "fn.star:1:5: f-strings",
		"x = u'a'":                      "fn.star:1:5: the prefix u",
		"def f(x):\n    assert x, 'no'": "fn.star:2:5: assert",
		"def f(x):\n    try:\n        pass\n    except ValueError:\n        pass": "fn.star:2:5: try",
		"class A:\n    pass":                      "fn.star:1:1: class",
		"def f(x):\n    while x:\n        x -= 1": "fn.star:2:5: while",
		"import os":          "fn.star:1:1: import os",
		"import numpy as np": "fn.star:1:1: import numpy",
		"import datasets":    "fn.star:1:1: import datasets",
		"import re as r":     "fn.star:1:1: import re",
		"from x import y":    "fn.star:1:1: from",
		"def f(x):\n    if (n := len(x)) > 1:\n        pass": "fn.star:2:11: the walrus",
		"x = {1, 2}":                                        "fn.star:1:5: sets",
		"x = {y for y in [1]}":                              "fn.star:1:5: sets",
		"x = set([1])":                                      "fn.star:1:5: sets",
		"def f(x):\n    return x is None":                   "fn.star:2:14: is is",
		"def f(x):\n    return x is not None":               "fn.star:2:14: is not",
		"def f(x: str):\n    return x":                      "fn.star:1:1: annotations",
		"def f(x) -> str:\n    return x":                    "fn.star:1:10: annotations",
		"def f(x):\n    y: int = 1":                         "fn.star:2:5: annotations",
		"x = 2 ** 3":                                        "fn.star:1:7: **",
		"x = {**a, 'b': 1}":                                 "fn.star:1:6: a dict in a dict",
		"x = {'b': 1, **a}":                                 "fn.star:1:14: a dict in a dict",
		"x = 1_000":                                         "fn.star:1:5: _ within a number",
		"x = [1, *a]":                                       "fn.star:1:9: a list in a list",
		"def f(x):\n    del x['a']":                         "fn.star:2:5: del",
		"def f(x):\n    global y":                           "fn.star:2:5: global",
		"def f(x):\n    raise ValueError('a')":              "fn.star:2:5: raise",
		"def f(x):\n    with open('a') as f:\n        pass": "fn.star:2:5: with",
		"@cache\ndef f(x):\n    pass":                       "fn.star:1:1: decorators",
		"def f(x):\n    yield x":                            "fn.star:2:5: yield",
		"if __name__ == '__main__':\n    pass":              "fn.star:1:1: leave out the block",
		"def f(x):\n    return 0 < x < 5":                   "write 'a < b and b < c'",
		"x = \"\\d\"":                                       `write r"…"`,
		"def f(x):\n    return random.random()":             "undefined: random: rows depend on nothing but the input",
		"def f(x):\n    return open('a')":                   "undefined: open: a map function reads nothing but its row",
		"x = 1":                                             "no function make_map_fn(split) or process_fn(example, idx) (there are: x)",
		"def process_fn(a, b, c):\n    return a":            "expected (example) or (example, idx)",
		"process_fn = 3":                                    "no function make_map_fn",
		"def make_map_fn(split):\n    return 3":             "make_map_fn gave an int",
		"def process_fn(example):\n  return {\n":            "fn.star:3:",
	} {
		if _, err := mapRows(t, src, `{"a":1}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", src, err, want)
		}
	}
	// All at once, and nothing of text and comments.
	_, err := Load("fn.star", "import os\nimport sys\n# assert is fine here\nx = 'try: except'\ny = f'a'\n")
	var all Errors
	if !errors.As(err, &all) || len(all) != 3 {
		t.Errorf("got %v", err)
	}
	rows, err := mapRows(t, "import re\nimport math\n\nclassy = lambda **kw: kw\n\ndef process_fn(example):\n    \"\"\"is it a class? while try: import f'x'\"\"\"\n    d = {}\n    t = (\"a\"\n         'b' r\"\\c\")\n    return dict(t=t, s=\"x\" \"y\".upper(), **d)\n", `{"a":1}`)
	if err != nil || rows[0] != `{"a":1,"t":"ab\\c","s":"XY"}` {
		t.Errorf("got %v, %v", rows, err)
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

// TestHostile: whatever a script does, it ends, with the line and the row, and without much memory. What ends it are steps that are
// counted, not the clock: the limit of time is off.
func TestHostile(t *testing.T) {
	countOnly(t)
	const head = "def process_fn(example):\n"
	for name, body := range map[string]string{
		"recursion":          "def f(x):\n    return f(x)\n\n" + head + "    return f(1)",
		"mutual recursion":   "def f(x):\n    return g(x)\n\ndef g(x):\n    return f(x)\n\n" + head + "    return f(1)",
		"a loop of 10^9":     head + "    for i in range(1000000000):\n        pass",
		"nested loops":       head + "    for i in range(1000000):\n        for j in range(1000000):\n            pass",
		"2 GB of text":       head + "    return {'x': 'a' * 2000000000}",
		"more text than int": head + "    return {'x': 'a' * (1 << 80)}",
		"2 GB in a list":     head + "    return {'x': [0] * 2000000000}",
		"text doubled":       head + "    s = 'a'\n    for i in range(100):\n        s += s\n    return {'x': s}",
		"text doubled by +":  head + "    s = 'a'\n    for i in range(100):\n        s = s + s\n    return {'x': s}",
		"text in a dict":     head + "    d = {'s': 'a'}\n    for i in range(100):\n        d['s'] += d['s']\n    return d",
		"list doubled":       head + "    l = [1]\n    for i in range(100):\n        l += l\n    return {'x': l}",
		"list extended":      head + "    l = [1]\n    for i in range(100):\n        l.extend(l)\n    return {'x': l}",
		"replace":            head + "    s = 'a' * 100000\n    return {'x': s.replace('a', s)}",
		"replace unbound":    head + "    f = ('a' * 100000).replace\n    return {'x': f('a', 'a' * 100000)}",
		"join":               head + "    s = 'a' * 100000\n    return {'x': s.join(['b'] * 100000)}",
		"format":             head + "    s = '{0}' * 10000\n    return {'x': s.format('a' * 100000)}",
		"percent":            head + "    s = '%s' * 10000\n    return {'x': s % tuple(['a' * 100000] * 10000)}",
		"a width":            head + "    return {'x': '{:999999999}'.format(1)}",
		"a width of percent": head + "    return {'x': '%999999999d' % 1}",
		"zfill":              head + "    return {'x': '1'.zfill(2000000000)}",
		"ljust":              head + "    return {'x': '1'.ljust(2000000000)}",
		"sub":                head + "    s = 'a' * 100000\n    return {'x': re.sub('a', s, s)}",
		"dumps":              head + "    l = [1]\n    for i in range(60):\n        l = [l, l]\n    return {'x': json.dumps(l)}",
		"indent":             head + "    l = [1] * 100000\n    return {'x': json.dumps([l] * 100, indent='a' * 1000000)}",
		"big ints":           head + "    n = 10\n    for i in range(100):\n        n = n * n\n    return {'x': str(n)}",
		"pow":                head + "    return {'x': pow(10, 1000000000)}",
		"list of a range":    head + "    return {'x': list(range(1000000000))}",
		"lists of a range":   head + "    return {'x': [list(range(1000000)) for i in range(1000000)]}",
		"max of a range":     head + "    return {'x': max(range(1000000000))}",
		"dicts":              head + "    return {'x': [{} for i in range(1900000)]}",
		"dict entries":       head + "    d = {}\n    for i in range(10000000):\n        d[i] = i\n    return {'x': d}",
		"updates":            head + "    d = {i: i for i in range(100000)}\n    for i in range(100000):\n        d.update(d)\n    return d",
		"deep nesting":       head + "    x = []\n    for i in range(100000):\n        x = [x]\n    return {'x': x}",
		"deep text":          head + "    x = []\n    for i in range(100000):\n        x = [x]\n    return {'x': str(x)}",
		"deep dicts":         head + "    x = {}\n    for i in range(100000):\n        x = {'a': x}\n    return x",
		"deep equality":      head + "    x = []\n    y = []\n    for i in range(100000):\n        x = [x]\n        y = [y]\n    return {'x': x == y}",
		"a cyclic list":      head + "    x = []\n    x.append(x)\n    return {'x': x}",
		"a cyclic text":      head + "    x = []\n    x.append(x)\n    return {'x': str(x)}",
		"a cyclic dict":      head + "    example['x'] = example\n    return example",
		"at the start":       "x = ['a' * 1000 for i in range(100000000)]\n" + head + "    return {}",
		"deep brackets":      head + "    return " + strings.Repeat("[", 100000) + strings.Repeat("]", 100000),
		"deep operators":     head + "    return " + strings.Repeat("not ", 100000) + "1",
		"deep minus":         head + "    return " + strings.Repeat("-", 100000) + "1",
		"deep lambda":        head + "    return " + strings.Repeat("lambda: ", 100000) + "1",
		"deep conditions":    head + "    return " + strings.Repeat("1 if 1 else ", 100000) + "1",
		"deep dots":          head + "    return example" + strings.Repeat(".a", 100000),
		"deep plus":          head + "    return {'x': 1" + strings.Repeat(" + 1", 100000) + "}",
		"a large script":     strings.Repeat("x = 1\n", 1<<18) + head + "    return {}",
		"a pattern":          head + "    return {'x': re.search('(' * 30000, 'a')}",
		"many patterns":      head + "    for i in range(1000000):\n        re.search('a' * (i % 20000) + str(i), 'a' * 10000)",
		"lists that share":   head + "    x = [1]\n    for i in range(60):\n        x = [x, x]\n    return {'x': x}",
		"dicts that share":   head + "    x = {'a': 1}\n    for i in range(60):\n        x = {'a': x, 'b': x}\n    return x",
		"dumps in a circle":  head + "    d = {}\n    d['a'] = d\n    return {'x': json.dumps(d, indent=2)}",
		"a shift":            head + "    return {'x': 1 << 1000000000}",
		"an int of text":     head + "    return {'x': int('9' * 4000000)}",
		"an int of JSON":     head + "    return {'x': json.loads('9' * 1000000)}",
		"split":              head + "    return {'x': ('a ' * 30000000).split()}",
		"characters":         head + "    for c in 'a' * 60000000:\n        pass\n    return {'x': 1}",
		"many prints":        head + "    for i in range(3000000):\n        print('x' * 100)\n    return {'x': 1}",
		"sorted":             head + "    return {'x': sorted(range(1000000000))}",
		"factorials":         head + "    for i in range(1000000):\n        math.factorial(4000)\n    return {'x': 1}",
		"a slow pattern":     head + "    return {'x': re.findall('(a*)*[bc]', 'a' * 1000000)}",
		"nested repeats":     head + "    return {'x': re.match('(a+)+$', 'a' * 100000 + 'b').span()}",
		"alternatives alike": head + "    return {'x': re.search('(a|a)*[bc]', 'a' * 100000).span()}",
		"a quadratic search": head + "    return {'x': re.findall('a.*b|a', 'a' * 200000)}",
		"a quadratic sub":    head + "    return {'x': re.sub('a.*b|a', 'x', 'a' * 200000)}",
		"a quadratic split":  head + "    return {'x': re.split('a.*[bc]', 'a' * 200000)}",
		"a quadratic look":   head + "    return {'x': [m.span() for m in re.finditer('a(?=.*[bc])|(?<=a)x', 'a' * 200000)]}",
		"many groups of .*":  head + "    return {'x': re.search('(.*)(.*)(.*)(.*)(.*)[xy]', 'a' * 20000).span()}",
		"references":         head + "    return {'x': re.search(r'(a*)\\1*\\1*[xy]', 'a' * 20000).span()}",
		"an empty loop":      head + "    return {'x': re.search('(?:){4000000000}', '').span()}",
		"deep loops":         head + "    return {'x': re.search('(?:' * 150 + 'a' + '*)' * 150 + '[bc]', 'a' * 20000).span()}",
		"much to go back to": head + "    return {'x': re.search('(?:a|b|cd)*x', 'ab' * 10000000 + 'x').span()}",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := mapRows(t, body, `{"n":0}`)
			runtime.ReadMemStats(&after)
			if err == nil && name != "deep conditions" {
				t.Fatal("no error")
			}
			if err != nil && !strings.HasPrefix(err.Error(), "fn.star:") {
				t.Errorf("no place: %v", err)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			made := int64(after.Sys) - int64(before.Sys)
			if made > 900<<20 {
				t.Errorf("memory grew by %d MB", made>>20)
			}
			t.Logf("%d MB: %v", made>>20, err)
		})
	}
}

// TestOverdue: a row whose steps are few and slow is ended by the clock, and so is one regular expression.
func TestOverdue(t *testing.T) {
	before := rowTime
	rowTime = time.Millisecond
	t.Cleanup(func() { rowTime = before })
	for name, body := range map[string]string{
		"in a list": "    l = list(range(100000))\n    for i in range(90000):\n        if -1 in l:\n            pass",
		"a pattern": "    return {'x': re.findall('a.*b|a', 'a' * 200000)}",
	} {
		_, err := mapRows(t, "def process_fn(example):\n"+body, `{"n":0}`)
		if err == nil || !strings.HasPrefix(err.Error(), "fn.star:") || !strings.Contains(err.Error(), "takes longer than 1ms") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSpans: asking all matches of a long text for their places takes steps in proportion to the text.
func TestSpans(t *testing.T) {
	const script = "def process_fn(example):\n    return {'x': [m.span() for m in re.finditer('é', 'é' * 30000)][-1]}"
	rows, err := mapRows(t, script, `{"n":0}`)
	if err != nil || rows[0] != `{"n":0,"x":[29999,30000]}` {
		t.Errorf("%v, %v", rows, err)
	}
}

// countOnly turns the limit of time off, so that only the limits that count can end a row.
func countOnly(t *testing.T) {
	before := rowTime
	rowTime = time.Hour
	t.Cleanup(func() { rowTime = before })
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
		p, err := Load("fn.star", src)
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
		p, err := Load("fn.star", src)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := NewMap(p, "train", nil)
		if names, _, _ := m.reads(in); len(names) != 20 {
			t.Errorf("%q reads %v, and may touch all", src, names)
		}
	}
}
