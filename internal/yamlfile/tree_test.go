package yamlfile

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
)

// show writes a tree on one line.
func show(n *Node) string {
	if n == nil {
		return "nothing"
	}
	var parts []string
	switch n.Kind {
	case Map:
		for _, e := range n.Keys {
			parts = append(parts, e.Name+":"+show(e.Value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case List:
		for _, e := range n.List {
			parts = append(parts, show(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	switch x := n.Plain.(type) {
	case string:
		return fmt.Sprintf("%q", x)
	case *big.Int:
		return "big " + x.String()
	case float64:
		return fmt.Sprintf("%gf", x)
	}
	return fmt.Sprint(n.Plain)
}

// TestScalars: what PyYAML 6.0.3 with OmegaConf's floats makes of a plain scalar (asked of it), and what a file of rlprep's own takes it for.
func TestScalars(t *testing.T) {
	for _, c := range []struct{ in, py, own string }{
		{"yes", "true", `"yes"`}, {"No", "false", `"No"`}, {"on", "true", `"on"`}, {"OFF", "false", `"OFF"`}, {"y", `"y"`, `"y"`},
		{"true", "true", "true"}, {"FALSE", "false", "false"}, {"tRUE", `"tRUE"`, `"tRUE"`},
		{"~", "<nil>", "<nil>"}, {"null", "<nil>", "<nil>"}, {"None", `"None"`, `"None"`},
		{"0", "0", "0"}, {"-1", "-1", "-1"}, {"+1", "1", "1"}, {"0x1F", "31", "31"}, {"0b11", "3", "3"}, {"1_000", "1000", "1000"},
		{"010", "8", "error"}, {"08", `"08"`, "error"}, {"0o7", `"0o7"`, "7"}, {"00", "0", "error"},
		{"123456789012345678901234567890", "big 123456789012345678901234567890", "big 123456789012345678901234567890"},
		{"1e5", "100000f", "100000f"}, {"1E-6", "1e-06f", "1e-06f"}, {"1.", "1f", "1f"}, {".5", "0.5f", "0.5f"}, {"-.5", `"-.5"`, "-0.5f"}, {"1.5e3", "1500f", "1500f"},
		{".inf", "+Inff", "error"}, {"-.INF", "-Inff", `"-.INF"`}, {".nan", "NaNf", "error"}, {"nan", `"nan"`, `"nan"`}, {"1e400", "+Inff", `"1e400"`},
		{"1:30", "90", `"1:30"`}, {"190:20:30", "685230", `"190:20:30"`}, {"1:30.5", "90.5f", `"1:30.5"`}, {"-1:30", "-90", `"-1:30"`},
		{"2020-01-01", `"2020-01-01"`, `"2020-01-01"`}, {"1.2.3", `"1.2.3"`, `"1.2.3"`}, {"'1'", `"1"`, `"1"`}, {`"yes"`, `"yes"`, `"yes"`},
		{"verl@0.9", `"verl@0.9"`, `"verl@0.9"`}, {"|\n  1", `"1"`, `"1"`},
	} {
		if got, err := ParseConfig("f", []byte("a: "+c.in)); err != nil || show(got) != "{a:"+c.py+"}" {
			t.Errorf("%s: %s, %v, PyYAML has %s", c.in, show(got), err, c.py)
		}
		r := &Reader{Name: "f", What: "a pipeline"}
		got, err := r.Parse([]byte("a: " + c.in))
		if c.own == "error" != (err != nil) || err == nil && show(got) != "{a:"+c.own+"}" {
			t.Errorf("%s: %s, %v, wanted %s in a file of rlprep's own", c.in, show(got), err, c.own)
		}
	}
}

// TestConfig: anchors, merge keys and tags as PyYAML has them.
func TestConfig(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "nothing"}, {"# c\n---\n", "nothing"}, {"\ufeffa: 1", "{a:1}"}, {"a:\nb: x", `{a:<nil> b:"x"}`},
		{"m: &a {k: 1, l: 2}\nn:\n  <<: *a\n  k: 3\no: [*a, *a]", `{m:{k:1 l:2} n:{l:2 k:3} o:[{k:1 l:2} {k:1 l:2}]}`},
		{"a: &a {k: 1, x: 1}\nb: &b {k: 2, y: 2}\nc: {<<: [*a, *b], z: 3}", `{a:{k:1 x:1} b:{k:2 y:2} c:{k:1 x:1 y:2 z:3}}`},
		{"a: !!str 1\nb: !!int '2'\nc: !!float 3\nd: !!null x\ne: ! 5", `{a:"1" b:2 c:3f d:<nil> e:5}`},
		{"yes: 1\n3: x", `{yes:1 3:"x"}`}, {"a: 'it''s'\nb: >-\n  c\n  d\n", `{a:"it's" b:"c d"}`},
	} {
		got, err := ParseConfig("f", []byte(c.in))
		if err != nil || show(got) != c.want {
			t.Errorf("%q: %s, %v, wanted %s", c.in, show(got), err, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	n, err := ParseConfig("f", []byte("a:\n  - x\n  - {b: é, c: d}\n"))
	if err != nil {
		t.Fatal(err)
	}
	item := n.Keys[0].Value.List[1]
	if n.Keys[0].Pos != (Pos{1, 1}) || item.Pos != (Pos{3, 5}) || item.Keys[1].Pos != (Pos{3, 12}) || item.Keys[1].Value.Pos != (Pos{3, 15}) {
		t.Errorf("places %v %v %v %v", n.Keys[0].Pos, item.Pos, item.Keys[1].Pos, item.Keys[1].Value.Pos)
	}
}

// TestErrors: every fault has its place.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a: [1, 2\nb: 3\n", "f:1:4: did not find expected ',' or ']' on line 2"},
		{"a: \"x\nb: 3\n", "f:1:4: "},
		{"a: b: c\n", "f:1:5: mapping values are not allowed in this context"},
		{"a:\n\t- b\n", "f:2:1: a tab: YAML is indented by blanks"},
		{"a: 1\n b: 2\n", "f:2:3: mapping values are not allowed"},
		{"a:\n  b: 1\n c: 2\n", "f:3:2: "},
		{"a: 1\nb: 2\na: 3\n", `f:3:1: duplicate key "a" (first on line 1)`},
		{"a: 1\n---\nb: 2\n", "f:3:1: a second document: a configuration has one"},
		{"a: *b\n", "f:1:4: unknown anchor 'b' referenced"},
		{"a: &a [*a]\n", "f:1:8: the alias *a refers to a value that contains it"},
		{"a: &a\n  <<: *a\n", "f:2:7: the alias *a"},
		{"a: !include x\n", "f:1:4: unknown tag !include"},
		{"a: !!python/object/apply:os.system [id]\n", ""},
		{"a: !!int x\n", `f:1:4: "x" has the tag !!int`},
		{"<<: 1\n", "f:1:5: << merges 1, expected a mapping"},
		{"? [a]\n: 1\n", "f:1:3: a key is a name"},
		{"a: \x01\n", "f:1:4: a control character"},
		{"a: \xff\n", "f:1:1: the line is not UTF-8"},
	} {
		_, err := ParseConfig("f", []byte(c.in))
		if c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%q:\n got %v\nwant %s", c.in, err, c.want)
		}
	}
}

// bomb is a list of n lists of lists, by aliases: 9 to the power of deep.
func bomb(open, end, key string, deep int) string {
	text := "a: &a " + open + key + "x" + end + "\n"
	for i := range deep {
		item := fmt.Sprintf("*%c", 'a'+i)
		var items []string
		for k := range 9 {
			if key == "" {
				items = append(items, item)
			} else {
				items = append(items, fmt.Sprintf("k%d: %s", k, item))
			}
		}
		text += fmt.Sprintf("%c: &%c %s%s%s\n", 'b'+i, 'b'+i, open, strings.Join(items, ","), end)
	}
	return text
}

// TestLimits: in both dialects, what would take time or memory without end is refused with its place and the limit.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"brackets":   {strings.Repeat("[", 10000) + strings.Repeat("]", 10000), "f:1:66: values are nested more than 64 deep"},
		"braces":     {strings.Repeat("{a: ", 10000) + "1" + strings.Repeat("}", 10000), "f:1:261: values are nested more than 64 deep"},
		"dashes":     {strings.Repeat("- ", 10000) + "x", "nested more than 64 deep"},
		"questions":  {strings.Repeat("? ", 100) + "x", "a key is a name"},
		"open":       {strings.Repeat("[", 20000), "exceeded max depth"},
		"bytes":      {"# " + strings.Repeat("x", MaxBytes), "at most 1048576"},
		"commas":     {"[" + strings.Repeat("1,", 500000) + "1]", "more than 200000 of the signs"},
		"anchors":    {strings.Repeat("&a ", 300000), "more than 200000 of the signs"},
		"tags":       {strings.Repeat("! ", 400000), "more than 200000 of the signs"},
		"values":     {strings.Repeat("- x\n", 100001), "more than 100000 values"},
		"bomb":       {bomb("[", "]", "", 9), "more than 100000 values"},
		"map bomb":   {bomb("{", "}", "k: ", 9), "more than 100000 values"},
		"merge bomb": {"a: &a {k: v}\n" + mergeBomb(), "more than 100000 values"},
	} {
		if _, err := ParseConfig("f", []byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, wanted %q", name, err, c.want)
		}
		if _, err := (&Reader{Name: "f", What: "a pipeline"}).Parse([]byte(c.in)); err == nil || len(err.Error()) > 300 {
			t.Errorf("%s: %v in a file of rlprep's own", name, err)
		}
	}
}

// mergeBomb merges mappings of many keys into many mappings.
func mergeBomb() string {
	var b strings.Builder
	b.WriteString("m: &m {")
	for i := range 1000 {
		fmt.Fprintf(&b, "k%d: 1,", i)
	}
	b.WriteString("}\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "n%d: {<<: *m}\n", i)
	}
	return b.String()
}

// check holds a tree to the limits.
func check(t *testing.T, n *Node, depth int, lines int) (values int) {
	if depth > maxDepth {
		t.Fatalf("nested %d deep", depth)
	}
	if n.Line < 1 || n.Line > lines || n.Column < 1 {
		t.Errorf("a value at %v of %d lines", n.Pos, lines)
	}
	values = 1
	for _, e := range n.List {
		values += check(t, e, depth+1, lines)
	}
	names := map[string]bool{}
	for _, e := range n.Keys {
		if names[e.Name] {
			t.Errorf("key %q twice", e.Name)
		}
		names[e.Name] = true
		values += check(t, e.Value, depth+1, lines)
	}
	return values
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1", "a: {b: [1, x]}\nc: &d\n  - e\nf: *d", "- 1\n- 'x'", "a: |\n  b", "m: &a {k: v}\nn: {<<: [*a], k: 1}", "? x\n: !!int 1",
		"a: \"\\u0041\" # c\n---\n", "[[[{a: [", "a: &a [*a]", "- - -\n  - 010\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4000 {
			return
		}
		lines := strings.Count(string(b), "\n") + strings.Count(string(b), "\r") + strings.Count(string(b), "\u0085") + strings.Count(string(b), "\u2028") + strings.Count(string(b), "\u2029") + 2
		n, err := ParseConfig("f", b)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Line > lines || e.Message == "") {
			t.Fatalf("error %v of %d lines", err, lines)
		}
		if n != nil && check(t, n, 0, lines) > maxValues {
			t.Error("more values than there may be")
		}
		own, ownErr := (&Reader{Name: "f", What: "a pipeline", Init: "x"}).Parse(b)
		if ownErr == nil && err != nil {
			t.Errorf("a file of rlprep's own may hold what a configuration may not: %v", err)
		}
		if own != nil {
			check(t, own, 0, lines)
		}
	})
}
