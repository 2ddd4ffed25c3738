package jsonl

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/jsonl/jsonltest"
	"github.com/rlprep/rlprep/schema"
)

func TestRows(t *testing.T) {
	deep := strings.Repeat("[", 999) + strings.Repeat("]", 999)
	tests := []struct {
		name   string
		cols   []string
		in     string
		want   []string
		faults []string
	}{
		{"plain", []string{"a string", "n int64", "x double", "b bool"},
			`{"a":"x","n":1,"x":1.5,"b":true}` + "\n" + `{"b":false,"x":-2,"n":-9223372036854775808,"a":""}`,
			[]string{`{"a":"x","n":1,"x":1.5,"b":true}`, `{"a":"","n":-9223372036854775808,"x":-2.0,"b":false}`}, nil},
		{"null and missing", []string{"a string", "n int64"}, `{"a":null}` + "\n{}\n" + `{"n":3}`,
			[]string{`{"a":null,"n":null}`, `{"a":null,"n":null}`, `{"a":null,"n":3}`}, nil},
		{"escapes", []string{"a string"}, `{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00\u0000z"}`,
			[]string{`{"a":"\"\\/\b\f\n\r\tAé€😀\u0000z"}`}, nil},
		{"escaped key", []string{"é string"}, `{"\u00e9":"1"}`, []string{`{"é":"1"}`}, nil},
		{"white space", []string{"a string"}, " \t{ \"a\" :\t\"x\" } \r\n", []string{`{"a":"x"}`}, nil},
		{"twice, the last counts", []string{"a string", "n int64"}, `{"a":"x","n":1,"a":"y"}` + "\n" + `{"n":"wrong","n":2}`,
			[]string{`{"a":"y","n":1}`, `{"a":null,"n":2}`}, nil},
		{"twice, nested", []string{"e nested"}, `{"e":{"a":1,"b":{"c":[[1],[2,3]]},"a":7}}`, []string{`{"e":{"a":7,"b":{"c":[[1],[2,3]]}}}`}, nil},
		{"unknown keys", []string{"a string"}, `{"x":[1,{"y":"}"}],"a":"1","z":` + deep + `}`, []string{`{"a":"1"}`}, nil},
		{"chat", []string{"p chat"}, `{"p":[{"role":"user","content":"hi"},{"content":null},null]}` + "\n" + `{"p":[]}` + "\n" + `{"p":null}`,
			[]string{`{"p":[{"role":"user","content":"hi"},{"role":null,"content":null},null]}`, `{"p":[]}`, `{"p":null}`}, nil},
		{"lists of lists", []string{"e nested"}, `{"e":{"b":{"c":[[],[1],null,[2,null]]}}}` + "\n" + `{"e":{"b":{"c":[]}}}` + "\n" + `{"e":{}}`,
			[]string{`{"e":{"a":null,"b":{"c":[[],[1],null,[2,null]]}}}`, `{"e":{"a":null,"b":{"c":[]}}}`, `{"e":{"a":null,"b":null}}`}, nil},
		{"Python's numbers", []string{"x double"}, `{"x":NaN}` + "\n" + `{"x":-Infinity}` + "\n" + `{"x":1e400}` + "\n" + `{"x":1.23456789012345678901234567890e29}` + "\n" + `{"x":-0}`,
			[]string{`{"x":NaN}`, `{"x":-Infinity}`, `{"x":Infinity}`, `{"x":1.2345678901234568e+29}`, `{"x":-0.0}`}, nil},
		{"wrong types", []string{"a string", "n int64", "p chat"}, `{"a":1,"n":2}` + "\n" + `{"a":"ok","n":1.0}` + "\n" + `{"p":"x","a":{"b":[]}}` + "\n" + `{"n":true,"p":[{"role":7}]}` + "\n" + `{"n":NaN,"a":false}`,
			[]string{`{"a":null,"n":2,"p":null}`, `{"a":"ok","n":null,"p":null}`, `{"a":null,"n":null,"p":null}`, `{"a":null,"n":null,"p":[{"role":null,"content":null}]}`, `{"a":null,"n":null,"p":null}`},
			[]string{
				`train.jsonl:1: wrong-type: a: expected string, got int (1)`,
				`train.jsonl:2: wrong-type: n: expected int, got float (1.0)`,
				`train.jsonl:3: wrong-type: a: expected string, got struct ({"b":[]})`,
				`train.jsonl:3: wrong-type: p: expected list, got string ("x")`,
				`train.jsonl:4: wrong-type: n: expected int, got bool (true)`,
				`train.jsonl:4: wrong-type: p[].role: expected string, got int (7)`,
				`train.jsonl:5: wrong-type: a: expected string, got bool (false)`,
				`train.jsonl:5: wrong-type: n: expected int, got float (NaN)`,
			}},
		{"out of range", []string{"n int64", "i int32", "u uint8", "l uint64"}, `{"n":9223372036854775808,"i":2147483648,"u":256,"l":-1}` + "\n" + `{"n":9223372036854775807,"i":-2147483648,"u":255,"l":5}`,
			[]string{`{"n":null,"i":null,"u":null,"l":null}`, `{"n":9223372036854775807,"i":-2147483648,"u":255,"l":5}`},
			[]string{`train.jsonl:1: out-of-range: n: 9223372036854775808 does not fit int64 (9223372036854775808)`,
				`train.jsonl:1: out-of-range: i: 2147483648 does not fit int32 (2147483648)`,
				`train.jsonl:1: out-of-range: u: 256 does not fit uint8 (256)`,
				`train.jsonl:1: out-of-range: l: -1 does not fit uint64 (-1)`}},
		{"half a pair", []string{"a string", "b string"}, `{"b":"k","a":"x\ud83dy"}` + "\n" + `{"a":"\ude00"}` + "\n" + `{"a":"\ud83d\ud83d\ude00"}`,
			[]string{`{"a":null,"b":"k"}`, `{"a":null,"b":null}`, `{"a":null,"b":null}`},
			[]string{
				`train.jsonl:1: wrong-text: a: half a surrogate pair (\ud800 to \udfff) in text, which no UTF-8 can hold ("x\ud83dy")`,
				`train.jsonl:2: wrong-text: a: half a surrogate pair (\ud800 to \udfff) in text, which no UTF-8 can hold ("\ude00")`,
				`train.jsonl:3: wrong-text: a: half a surrogate pair (\ud800 to \udfff) in text, which no UTF-8 can hold ("\ud83d\ud83d\ude00")`,
			}},
		{"required", []string{"a string!", "n int64!", "p chat!"}, `{"a":null}` + "\n" + `{"a":"x","n":1,"p":[]}`,
			[]string{`{"a":"","n":0,"p":[]}`, `{"a":"x","n":1,"p":[]}`},
			[]string{`train.jsonl:1: null: a: null, but the column takes none (null)`, `train.jsonl:1: missing: n: missing, but the column takes no null ()`, `train.jsonl:1: missing: p: missing, but the column takes no null ()`}},
		{"mixed kinds are kept as text", []string{"m mixed"}, `{"m":1}` + "\n" + `{"m":"x"}` + "\n" + `{"m":{"k":[1, 2]}}` + "\n" + `{"m":null}`,
			[]string{`{"m":"1"}`, `{"m":"\"x\""}`, `{"m":"{\"k\":[1, 2]}"}`, `{"m":null}`}, nil},
		{"null type", []string{"z null", "a string"}, `{"z":null,"a":"1"}` + "\n" + `{"z":0,"a":"2"}`,
			[]string{`{"z":null,"a":"1"}`, `{"z":null,"a":"2"}`}, []string{`train.jsonl:2: wrong-type: z: expected null, got int (0)`}},
		{"blank lines, CRLF, no last newline", []string{"n int64"}, "\r\n{\"n\":1}\r\n\r\n  \n{\"n\":2}\n{\"n\":\"x\"}",
			[]string{`{"n":1}`, `{"n":2}`, `{"n":null}`}, []string{`train.jsonl:6: wrong-type: n: expected int, got string ("x")`}},
		{"byte order mark", []string{"n int64"}, "\ufeff{\"n\":1}\n", []string{`{"n":1}`}, nil},
		{"no rows", []string{"n int64"}, "\n \n", []string{}, nil},
		{"array", []string{"n int64", "a string"}, "[ {\"n\":1,\"a\":\"}]{,\"},\n {\"n\":2,\n\"a\":\"\\\"}\"} ,{\"n\":\"x\"}\n]\n",
			[]string{`{"n":1,"a":"}]{,"}`, `{"n":2,"a":"\"}"}`, `{"n":null,"a":null}`}, []string{`train.jsonl:3: wrong-type: n: expected int, got string ("x")`}},
		{"empty array", []string{"n int64"}, "\n[ ]\n", []string{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := embedded(t, tt.in, jsonltest.Fields(t, tt.cols...))
			if err != nil {
				t.Fatal(err)
			}
			if f.layout.Rows != int64(len(tt.want)) {
				t.Errorf("%d rows counted, want %d", f.layout.Rows, len(tt.want))
			}
			got, faults, err := readRanges(f, f.layout.Ranges(1<<20), 100)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(jsonltest.Texts(got), tt.want) {
				t.Errorf("rows:\n%s\nwant:\n%s", strings.Join(jsonltest.Texts(got), "\n"), strings.Join(tt.want, "\n"))
			}
			if !slices.Equal(faults, tt.faults) {
				t.Errorf("faults:\n%s\nwant:\n%s", strings.Join(faults, "\n"), strings.Join(tt.faults, "\n"))
			}
		})
	}
}

func TestInvalidUTF8IsKept(t *testing.T) {
	f, err := embedded(t, "{\"a\":\"x\xffy\xed\xa0\x80\"}\n", jsonltest.Fields(t, "a string"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.open(f.layout.Ranges(1 << 20)[0])
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Next(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Leaves[0].Vec.Values.(interface{ Value(int) string }).Value(0); got != "x\xffy\xed\xa0\x80" {
		t.Errorf("got %q", got)
	}
}

func TestSyntaxErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"garbage behind", "{\"n\":1}\n{\"n\":2} x\n", `train.jsonl:2:9: unexpected 'x', expected nothing more behind the object`},
		{"two on a line", `{"n":1}{"n":2}`, `train.jsonl:1:8: unexpected '{', expected nothing more behind the object`},
		{"no object", "{}\n\n3\n", `train.jsonl:3:1: unexpected '3', expected an object`},
		{"null", "null", `train.jsonl:1:1: unexpected 'n', expected an object`},
		{"cut off", `{"n":1,"a":"xy`, `train.jsonl:1:12: text without a closing quote`},
		{"cut off in an escape", `{"n":1,"a":"x\`, `train.jsonl:1:14: wrong escape in text`},
		{"over many lines", "{\n \"n\": 1\n}\n", `train.jsonl:1:2: unexpected end, expected a key in double quotes (one object a line, or one array of objects, is what can be read)`},
		{"single quotes", `{'n':1}`, `train.jsonl:1:2: unexpected '\'', expected a key in double quotes`},
		{"Python's words", `{"n":None}`, `train.jsonl:1:6: unexpected 'N', expected a value`},
		{"comma at the end", `{"n":1,}`, `train.jsonl:1:8: unexpected '}', expected a key in double quotes`},
		{"no comma", `{"n":1 "a":2}`, `train.jsonl:1:8: unexpected '"', expected ',' or '}'`},
		{"leading zero", `{"n":01}`, `train.jsonl:1:7: unexpected '1', expected ',' or '}'`},
		{"half a number", `{"n":-}`, `train.jsonl:1:7: unexpected '}', expected a value`},
		{"half a fraction", `{"n":1.}`, `train.jsonl:1:8: a number needs a digit behind its point`},
		{"half an exponent", `{"n":1e}`, `train.jsonl:1:8: a number needs a digit in its exponent`},
		{"unknown escape", `{"a":"\x41"}`, `train.jsonl:1:7: wrong escape in text`},
		{"control character", "{\"a\":\"x\ty\"}", `train.jsonl:1:8: control character '\t' in text, which JSON writes as an escape`},
		{"bad byte", "{\"n\":\xff}", `train.jsonl:1:6: unexpected byte 0xff, expected a value`},
		{"deep", `{"z":` + strings.Repeat("[", 2000), `train.jsonl:1:1005: nested more than 1000 deep`},
		{"a fault does not hide it", `{"n":"x","a":nul}`, `train.jsonl:1:14: unexpected 'n', expected a value`},
		{"array cut off", `[{"n":1},{"n":2`, `train.jsonl:1:10: the file ends within this object: it is cut off`},
		{"array not closed", `[{"n":1}`, `train.jsonl:1:9: the file ends within its array: it is cut off`},
		{"array of numbers", "[1]", `train.jsonl:1:2: unexpected '1', expected an object`},
		{"array, comma at the end", `[{"n":1},]`, `train.jsonl:1:10: unexpected ']', expected an object`},
		{"array, no comma", "[{\"n\":1}\n{\"n\":2}]", `train.jsonl:2:1: unexpected '{', expected ',' or ']' behind an element`},
		{"array, more behind", "[{\"n\":1}]\n[", `train.jsonl:2:1: unexpected '[', expected nothing more behind the array`},
		{"array, within", "[{\"n\":1},\n{\"n\":\n 1x}]", `train.jsonl:3:3: unexpected 'x', expected ',' or '}'`},
		{"UTF-16", "\xff\xfe{\x00", `train.jsonl: text in UTF-16, not UTF-8: convert it with: iconv -f UTF-16 -t UTF-8`},
	}
	for _, tt := range tests {
		for _, cols := range [][]schema.Field{jsonltest.Fields(t, "n int64", "a string"), nil} {
			name := tt.name
			if cols == nil {
				name += ", inferred"
			}
			t.Run(name, func(t *testing.T) {
				f, err := embedded(t, tt.in, cols)
				if err == nil {
					_, _, err = readRanges(f, f.layout.Ranges(1<<20), 100)
				}
				if err == nil || err.Error() != tt.want {
					t.Fatalf("error:\n%v\nwant:\n%s", err, tt.want)
				}
				if !errors.As(err, new(*Error)) {
					t.Errorf("%T is no *Error", err)
				}
			})
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	f, err := embedded(t, `{"question":"q","respond":1,"p":[{"role":"x","name":"n"}]}`+"\n\n"+`{"a.b":2}`, jsonltest.Fields(t, "question string", "answer string", "p chat"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := readRanges(f, f.layout.Ranges(1<<20), 1); err != nil {
		t.Fatal(err)
	}
	if got, want := f.unknown, map[schema.Path]Place{"respond": {0, 1}, "p[].name": {0, 1}, `"a.b"`: {1, 3}}; !maps.Equal(got, want) {
		t.Errorf("unknown keys %v, want %v", got, want)
	}
	if want := []string{"question", "respond", "p"}; !slices.Equal(f.layout.Keys, want) {
		t.Errorf("keys %q, want %q", f.layout.Keys, want)
	}
}

func TestUnreadableTypes(t *testing.T) {
	for _, typ := range []schema.Type{
		{Kind: schema.Map, Fields: []schema.Field{schema.NewField("key", schema.StringType), schema.NewField("value", schema.StringType)}},
		{Kind: schema.Time, Name: "timestamp[s]"}, {Kind: schema.Float, Bits: 16}, {Kind: schema.Binary, Layout: schema.Fixed, Size: 4},
		schema.StructOf(schema.NewField("x", schema.Type{Kind: schema.Decimal, Name: "decimal128(5, 2)"})),
	} {
		if _, err := embedded(t, "{}", []schema.Field{schema.NewField("c", typ)}); err == nil || !strings.Contains(err.Error(), "JSON cannot be read into") {
			t.Errorf("%s: error %v", typ, err)
		}
	}
}

// TestSkipBroken reads broken lines as faults of rows of nulls. Keys that only they have are not unknown keys of the text, and the rows beside
// them are whole. Without SkipBroken, and in an array, the first is an error.
func TestSkipBroken(t *testing.T) {
	const text = `{"a": "x", "more": 1}
{"a": "y", "other": [1
{"a": "z", "other": 2}
[]
{"a": "` + "\xff" + `"}
`
	cols := []schema.Field{schema.NewField("a", schema.StringType)}
	for _, asIs := range []bool{false, true} {
		f := &Text{At: strings.NewReader(text), Size: int64(len(text)), Limit: 1 << 20, SkipBroken: true}
		if err := f.Begin(); err != nil {
			t.Fatal(err)
		}
		l, err := f.Scan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(f, l, &schema.Schema{Fields: cols}, l.Ranges(1 << 20)[0], asIs)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Next(t.Context(), 100)
		if err != nil || b.Rows != 5 {
			t.Fatalf("%d rows: %v", b.Rows, err)
		}
		var faults []string
		for _, x := range b.Faults {
			faults = append(faults, fmt.Sprintf("%d %s %s %t", x.Row, x.Reason, x.Path, x.Unread))
		}
		want := []string{"1 broken-line  true", "3 broken-line  true", "4 not-utf8 a false"}
		if asIs {
			want = want[:2]
		}
		if !slices.Equal(faults, want) {
			t.Errorf("as they are %t: faults %q, want %q", asIs, faults, want)
		}
		if u := r.UnknownKeys(); len(u) != 2 || u["more"].Row != 0 || u["other"] != (Place{2, 3}) {
			t.Errorf("unknown keys: %v", u)
		}
		f.SkipBroken = false
		if r, err = NewReader(f, l, &schema.Schema{Fields: cols}, l.Ranges(1 << 20)[0], asIs); err != nil {
			t.Fatal(err)
		}
		var e *Error
		if _, err = r.Next(t.Context(), 100); !errors.As(err, &e) || e.Line != 2 || !e.OneLine {
			t.Errorf("without SkipBroken: %v", err)
		}
	}
	array := `[{"a": "x"}, {"a": y}]`
	f := &Text{At: strings.NewReader(array), Size: int64(len(array)), Limit: 1 << 20, SkipBroken: true}
	if err := f.Begin(); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, _, err := f.Infer(t.Context()); !errors.As(err, &e) || e.OneLine {
		t.Errorf("an array: %v", err)
	}
}
