package pystar

import (
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
)

// runScript loads a script and calls its process_fn with one dict, {"a": 1}. It returns what the function returned, as repr writes it; an error
// has its place first.
func runScript(t *testing.T, script string) (string, error) {
	t.Helper()
	p, err := Load("fn.star", script)
	if err != nil {
		return "", err
	}
	example := starlark.NewDict(1)
	if err := example.SetKey(starlark.String("a"), starlark.MakeInt(1)); err != nil {
		t.Fatal(err)
	}
	w := p.Worker()
	v, err := w.Call(p.Function("process_fn"), starlark.Tuple{example})
	if err != nil {
		return "", w.StartFault(err)
	}
	w.begin(MaxSteps)
	defer w.done()
	out, err := repr(w.thread, v)
	if err != nil {
		t.Fatal(err)
	}
	return out, nil
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
		got, err := runScript(t, "def process_fn(example):\n    return "+c.Expr+"\n")
		if err != nil {
			t.Errorf("%s: %v, Python gives %s", c.Expr, err, c.Want)
			continue
		}
		if got != c.Want {
			t.Errorf("%s = %s, Python gives %s", c.Expr, got, c.Want)
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
		_, err := runScript(t, "def process_fn(example):\n    return str("+expr+")\n")
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
		"def f(x):\n    return x is None":                   "fn.star:2:14: 'is' is",
		"def f(x):\n    return x is not None":               "fn.star:2:14: 'is not'",
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
		"if __name__ == '__main__':\n    pass":              "fn.star:1:1: remove the block",
		"def f(x):\n    return 0 < x < 5":                   "write 'a < b and b < c'",
		"x = \"\\d\"":                                       `write r"…"`,
		"def f(x):\n    return random.random()":             "undefined: random: rows depend only on the input",
		"def f(x):\n    return open('a')":                   "undefined: open: a map function reads only its row",
		"def process_fn(example):\n  return {\n":            "fn.star:3:",
	} {
		if _, err := runScript(t, src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", src, err, want)
		}
	}
	// All at once, and nothing of text and comments.
	_, err := Load("fn.star", "import os\nimport sys\n# assert is fine here\nx = 'try: except'\ny = f'a'\n")
	var all Errors
	if !errors.As(err, &all) || len(all) != 3 {
		t.Errorf("got %v", err)
	}
	got, err := runScript(t, "import re\nimport math\n\nclassy = lambda **kw: kw\n\ndef process_fn(example):\n    \"\"\"is it a class? while try: import f'x'\"\"\"\n    d = {}\n    t = (\"a\"\n         'b' r\"\\c\")\n    return dict(t=t, s=\"x\" \"y\".upper(), **d)\n")
	if err != nil || got != `{'t': 'ab\\c', 's': 'XY'}` {
		t.Errorf("got %v, %v", got, err)
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
		"deep text":          head + "    x = []\n    for i in range(100000):\n        x = [x]\n    return {'x': str(x)}",
		"deep equality":      head + "    x = []\n    y = []\n    for i in range(100000):\n        x = [x]\n        y = [y]\n    return {'x': x == y}",
		"a cyclic text":      head + "    x = []\n    x.append(x)\n    return {'x': str(x)}",
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
			_, err := runScript(t, body)
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
		_, err := runScript(t, "def process_fn(example):\n"+body)
		if err == nil || !strings.HasPrefix(err.Error(), "fn.star:") || !strings.Contains(err.Error(), "takes longer than 1ms") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSpans: asking all matches of a long text for their places takes steps in proportion to the text.
func TestSpans(t *testing.T) {
	const script = "def process_fn(example):\n    return {'x': [m.span() for m in re.finditer('é', 'é' * 30000)][-1]}"
	got, err := runScript(t, script)
	if err != nil || got != `{'x': (29999, 30000)}` {
		t.Errorf("%v, %v", got, err)
	}
}

// countOnly turns the limit of time off, so that only the limits that count can end a row.
func countOnly(t *testing.T) {
	before := rowTime
	rowTime = time.Hour
	t.Cleanup(func() { rowTime = before })
}
