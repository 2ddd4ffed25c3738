package transform_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/transform"
)

func TestParseValue(t *testing.T) {
	for _, c := range []struct{ in, value, typ, err string }{
		{in: "tool_agent", value: `"tool_agent"`, typ: "string"},
		{in: "", value: `""`, typ: "string"},
		{in: "3", value: `"3"`, typ: "string"},
		{in: "true", value: `"true"`, typ: "string"},
		{in: "openai/gsm8k", value: `"openai/gsm8k"`, typ: "string"},
		{in: "https://example.org/a:b", value: `"https://example.org/a:b"`, typ: "string"},
		{in: "str:int:3", value: `"int:3"`, typ: "string"},
		{in: "str:", value: `""`, typ: "string"},
		{in: "int:3", value: `3`, typ: "int64"},
		{in: "int:-9223372036854775808", value: `-9223372036854775808`, typ: "int64"},
		{in: "int:9223372036854775808", err: `"9223372036854775808" is no integer of 64 bits`},
		{in: "int:3.0", err: `"3.0" is no integer`},
		{in: "int:", err: `"" is no integer`},
		{in: "float:0.5", value: `0.5`, typ: "double"},
		{in: "float:3", value: `3.0`, typ: "double"},
		{in: "float:x", err: `"x" is no number`},
		{in: "bool:true", value: `true`, typ: "bool"},
		{in: "bool:false", value: `false`, typ: "bool"},
		{in: "bool:1", err: `"1" is no bool (true, false)`},
		{in: "null:string", value: `null`, typ: "string"},
		{in: "null:list<element: struct<role: string, content: string>>", value: `null`, typ: "list<element: struct<role: string, content: string>>"},
		{in: "null:null", value: `null`, typ: "null"},
		{in: "null:list<int32>", value: `null`, typ: "list<element: int32>"},
		{in: "null:", err: `unknown type ""`},
		{in: "null:strng", err: `unknown type "strng"; did you mean "string"?`},
		{in: "null:list<string", err: `no > at its end`},
		{in: "null:struct<string>", err: `a field of a struct is written name: type`},
		{in: "null:string>", err: `">" follows it`},
		{in: `json:{"b":1,"a":{"c":"x"}}`, value: `{"b":1,"a":{"c":"x"}}`, typ: "struct<b: int64, a: struct<c: string>>"},
		{in: `json:[1,2.5]`, value: `[1.0,2.5]`, typ: "list<element: double>"},
		{in: `json:[{"a":1},{"a":2}]`, value: `[{"a":1},{"a":2}]`, typ: "list<element: struct<a: int64>>"},
		{in: `json:"x"`, value: `"x"`, typ: "string"},
		{in: `json:1e3`, value: `1000.0`, typ: "double"},
		{in: `json:18446744073709551615`, err: `18446744073709551615 is no integer of 64 bits`},
		{in: `json:[1,"a"]`, err: `elements of a list are int64 and string`},
		{in: `json:[]`, err: `[] has no element to take a type from`},
		{in: `json:{}`, err: `no Parquet writer takes an empty struct`},
		{in: `json:{"a":null}`, err: `null has no type`},
		{in: `json:{"a":1,"a":2}`, err: `key "a" is repeated`},
		{in: `json:{"a":1`, err: `it ends too early`},
		{in: `json:1 2`, err: `something follows the value`},
		{in: `json:"\ud83c\udf82"`, value: "\"\U0001F382\"", typ: "string"},
		{in: `json:"\ud83c"`, err: `one half of a surrogate pair`},
		{in: `json:"\uFFFD"`, value: "\"\uFFFD\"", typ: "string"},
		{in: `json:`, err: `it ends too early`},
		{in: "caf\xe9", err: `is not valid UTF-8`},
		{in: "json:\"caf\xe9\"", err: `is not valid UTF-8`},
	} {
		v, typ, err := transform.ParseValue(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: error %v, want %q", c.in, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := string(v.AppendJSON(nil)); got != c.value || typ.String() != c.typ {
			t.Errorf("%q: %s of type %s, want %s of type %s", c.in, got, typ, c.value, c.typ)
		}
		if !fits(v, typ) {
			t.Errorf("%q: %s is no value of its type %s", c.in, v.AppendJSON(nil), typ)
		}
	}
}

func TestValueOf(t *testing.T) {
	for _, c := range []struct {
		in         any
		value, typ string
		err        string
	}{
		{in: "int:3", value: "3", typ: "int64"},
		{in: json.Number("3"), value: "3", typ: "int64"},
		{in: json.Number("3.5"), value: "3.5", typ: "double"},
		{in: 3, value: "3", typ: "int64"},
		{in: uint64(3), value: "3", typ: "int64"},
		{in: uint64(1 << 63), err: "expected an integer"},
		{in: 2.0, value: "2.0", typ: "double"},
		{in: true, value: "true", typ: "bool"},
		{in: []any{"a", "b"}, value: `["a","b"]`, typ: "list<element: string>"},
		{in: map[string]any{"b": json.Number("1"), "a": "x"}, value: `{"a":"x","b":1}`, typ: "struct<a: string, b: int64>"},
		{in: map[string]any{"a": nil}, err: "a: null has no type"},
		{in: nil, err: "null has no type"},
		{in: []any{}, err: "[] has no element"},
	} {
		v, typ, err := transform.ValueOf(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: error %v, want %q", c.in, err, c.err)
			}
			continue
		}
		if err != nil || string(v.AppendJSON(nil)) != c.value || typ.String() != c.typ {
			t.Errorf("%v: %s of type %s (%v), want %s of type %s", c.in, v.AppendJSON(nil), typ, err, c.value, c.typ)
		}
	}
}

// FuzzParseValue: whatever comes in, a value that is taken is one of the type it is said to be, and a type prints as what
// reads back to it.
func FuzzParseValue(f *testing.F) {
	for _, s := range []string{"x", "int:3", `json:{"a":[1,2.5],"b":{"c":true}}`, "null:struct<a: list<int32>, b: string>", "json:[[1],[2.5]]", "float:nan"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, typ, err := transform.ParseValue(s)
		if err != nil {
			return
		}
		if !fits(v, typ) {
			t.Errorf("%q: %s is no value of its type %s", s, v.AppendJSON(nil), typ)
		}
		again, err := transform.ParseType(typ.String())
		if strings.HasPrefix(s, "json:") || strings.HasPrefix(s, "null:") {
			return // names of fields may hold what a type's text needs
		}
		if err != nil || !again.Equal(typ) {
			t.Errorf("%q: type %s reads back as %s (%v)", s, typ, again, err)
		}
	})
}
