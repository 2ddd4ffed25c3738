package schema

import "testing"

// TestParseType: a type reads back from what it prints.
func TestParseType(t *testing.T) {
	for text, want := range map[string]string{
		"list<string>":  "list<element: string>",
		" int ":         "int64",
		"struct<a:str>": "struct<a: string>",
		"large_list<element: struct<role: large_string, n: uint16>>": "",
		"map<string, list<element: double>>":                         "",
		"struct<at: timestamp[us, tz=UTC], d: decimal128(5, 2)>":     "",
		"dictionary<values=string, indices=int32, ordered=0>":        "",
		"list<element: extension<arrow.uuid>>":                       "",
		"struct<b: binary, v: string_view, h: halffloat, n: null>":   "",
		"map<struct<a: int8>, map<string, large_binary>>":            "",
	} {
		typ, err := ParseType(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if want == "" {
			want = text
		}
		if typ.String() != want {
			t.Errorf("%q reads as %s, want %s", text, typ, want)
		}
		if again, err := ParseType(typ.String()); err != nil || !again.Equal(typ) {
			t.Errorf("%s reads back as %s, %v", typ, again, err)
		}
	}
	for text, want := range map[string]string{
		"strng":              `read type "strng": unknown type "strng"; did you mean "string"?`,
		"map<string>":        `read type "map<string>": a map has two types, of its keys and of its values`,
		"list<a, b>":         `read type "list<a, b>": unknown type "a" (string, large_string, binary, bool, int32, int64, float, double, list, struct)`,
		"list<int64, int64>": `read type "list<int64, int64>": a list has one element type`,
		"dictionary<string>": `read type "dictionary<string>": a dictionary is written dictionary<values=string, indices=int32, ordered=0>`,
		"struct<a: int64":    `read type "struct<a: int64": no > at its end`,
		"int64 int64":        `read type "int64 int64": "int64" follows it`,
	} {
		if typ, err := ParseType(text); err == nil || err.Error() != want {
			t.Errorf("%q: %s, error %v, want %s", text, typ, err, want)
		}
	}
}

// TestHoldsInt: the limits of integers.
func TestHoldsInt(t *testing.T) {
	for name, want := range map[string]string{"int8": "-128 127", "uint8": "0 255", "int32": "-2147483648 2147483647", "uint32": "0 4294967295",
		"int64": "-9223372036854775808 9223372036854775807", "uint64": "0 9223372036854775807"} {
		typ, err := ParseType(name)
		if err != nil {
			t.Fatal(err)
		}
		low, high := int64(-1)<<63, int64(1)<<62-1+1<<62
		for low < 0 && !typ.HoldsInt(low) { // the limits are powers of two
			low /= 2
		}
		for !typ.HoldsInt(high) {
			high /= 2
		}
		if got := IntValue(low).Excerpt(40) + " " + IntValue(high).Excerpt(40); got != want {
			t.Errorf("%s holds %s, want %s", name, got, want)
		}
	}
}
