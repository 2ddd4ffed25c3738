package jsontext

import (
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema"
)

// TestDecode: what each decoder makes of the same text; an error begins with "!".
func TestDecode(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	for _, c := range []struct{ text, loose, strict string }{
		{`{"b":1,"a":[1.5,null,{"x":true}]}`, "", ""},
		{` "é\n\ud83d\ude00" `, `"é\n😀"`, `"é\n😀"`},
		{`{"a":1,"a":2}`, `{"a":2}`, `!key "a" is repeated`},
		{`NaN`, `NaN`, `!unexpected 'N', expected a value at byte 1`},
		{`-Infinity`, `-Infinity`, `!unexpected '-', expected a value at byte 1`},
		{`9223372036854775808`, `9.223372036854776e+18`, `!9223372036854775808 is no integer of 64 bits`},
		{`1e999`, `Infinity`, `!1e999 is no double`},
		{`"\ud83d"`, "\"\uFFFD\"", `!it has one half of a surrogate pair`},
		{`[1,]`, `!unexpected ']', expected a value at byte 4`, `!unexpected ']', expected a value at byte 4`},
		{`{"a"`, `!it ends too early`, `!it ends too early`},
		{``, `!it ends too early`, `!it ends too early`},
		{`1 2`, `!something follows the value`, `!something follows the value`},
		{`{}`, ``, ``},
		{deep, `!nested more than 1000 deep at byte 1001`, `!nested more than 1000 deep at byte 1001`},
	} {
		for name, decode := range map[string]func([]byte) (schema.Value, error){"Decode": Decode, "DecodeStrict": DecodeStrict} {
			want := c.loose
			if name == "DecodeStrict" {
				want = c.strict
			}
			if want == "" {
				want = c.text
			}
			v, err := decode([]byte(c.text))
			got := string(v.AppendJSON(nil))
			if err != nil {
				got = "!" + err.Error()
			}
			if got != want {
				t.Errorf("%s of %.40s: %.80s, want %.80s", name, c.text, got, want)
			}
		}
	}
}

// TestDecodeAs: values of a declared type, and nothing else.
func TestDecodeAs(t *testing.T) {
	typ, err := schema.ParseType("struct<i: int8, f: double, l: list<element: string>, s: struct<b: bool>>")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"f":1,"i":-128,"l":["a",null],"s":{"b":false}}`: `{"i":-128,"f":1.0,"l":["a",null],"s":{"b":false}}`,
		`{}`:                        `{"i":null,"f":null,"l":null,"s":null}`,
		`null`:                      `null`,
		`{"i":128}`:                 `!128 is no int8`,
		`{"i":1.0}`:                 `!1.0 is no int8`,
		`{"f":"1"}`:                 `!1 is no double`,
		`{"l":{}}`:                  `!{ is no list<element: string>`,
		`{"s":[]}`:                  `![ is no struct<b: bool>`,
		`{"s":{"c":1}}`:             `!key "c" is not in the type`,
		`{"i":1,"i":2}`:             `!key "i" is repeated`,
		`{"f":NaN}`:                 `!unexpected 'N', expected a value at byte 6`,
		`{"f":1e999}`:               `!1e999 is no double`,
		`{"i":true}`:                `!true is no int8`,
		"{\"l\":[\"\xff\\ud800\"]}": "{\"i\":null,\"f\":null,\"l\":[\"\uFFFD\uFFFD\"],\"s\":null}",
		`{"l":["a"`:                 `!it ends too early`,
		`{} x`:                      `!something follows the value`,
	} {
		v, err := DecodeAs(text, &typ)
		got := string(v.AppendJSON(nil))
		if err != nil {
			got = "!" + err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestTypeOf: what JSON holds says its type.
func TestTypeOf(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":[],"b":[1,2.5,null],"c":[{"x":1},{"y":"z"}]}`: "struct<a: list<element: null>, b: list<element: double>, c: list<element: struct<x: int64, y: string>>>",
		`{"a":[{"k":1},{"k":"x"}]}`:                         "!a: [].k: int64 and string in one column",
	} {
		v, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		typ, err := TypeOf(v)
		got := typ.String()
		if err != nil {
			got = "!" + err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
