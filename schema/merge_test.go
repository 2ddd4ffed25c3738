package schema

import "testing"

// TestMerge: fields of both sides, in a's order and then b's, with what the policy says.
func TestMerge(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"int64", "double", "double"},
		{"null", "list<element: string>", "list<element: string>"},
		{"list<element: null>", "list<element: struct<a: int64>>", "list<element: struct<a: int64>>"},
		{"struct<a: int64, b: string>", "struct<c: bool, a: double>", "struct<a: double, b: string, c: bool>"},
		{"struct<a: struct<b: list<element: string>>>", "struct<a: struct<b: list<element: int64>>>", "a.b[]: string and int64 in one column"},
		{"bool", "int64", "bool and int64 in one column"},
	} {
		a, err := ParseType(c.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParseType(c.b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := JSONTypes.Types("", a, b)
		text := got.String()
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%s and %s: %s, want %s", c.a, c.b, text, c.want)
		}
		if c.a != a.String() || c.b != b.String() {
			t.Errorf("%s and %s were changed: %s, %s", c.a, c.b, a, b)
		}
	}
}

// TestMergeNullable: without a policy a field is nullable where one side is, and a field of one side stays as it is.
func TestMergeNullable(t *testing.T) {
	a := []Field{{Name: "x", Type: Int64Type}, {Name: "y", Type: Int64Type}, {Name: "z", Type: Int64Type}}
	b := []Field{{Name: "x", Type: Int64Type, Nullable: true}, {Name: "y", Type: Int64Type}, {Name: "w", Type: Int64Type}}
	out, err := JSONTypes.Fields("", a, b)
	if got, want := StructOf(out...).String(), "struct<x: int64, y: int64 not null, z: int64 not null, w: int64 not null>"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
