package parquetio

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

// What pyarrow prints and schema.Type does not tell: the width of dictionary indices, the JSON extension around a string
// (Type.Name has it), the names of a map's fields.
var unsaid = strings.NewReplacer("indices=uint32", "indices=int32", "indices=int8", "indices=int32", "extension<arrow.json>", "string")
var mapNames = regexp.MustCompile(` \('[^']*'\)`)

func TestSchemaIsAsPyarrowPrintsIt(t *testing.T) {
	b, err := os.ReadFile("../../testdata/parquet/schemas.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct {
		Schema    []string
		Rows      int64
		RowGroups int `json:"row_groups"`
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	for _, name := range samples(t) {
		w, ok := want[filepath.Base(name)]
		f := openFile(t, name)
		if !ok || f.NumRows() != w.Rows || len(f.RowGroups()) != w.RowGroups || len(f.Schema().Fields) != len(w.Schema) {
			t.Errorf("%s: %d rows, %d row groups, %d columns; want %+v", name, f.NumRows(), len(f.RowGroups()), len(f.Schema().Fields), w)
			continue
		}
		for i, field := range f.Schema().Fields {
			if s := mapNames.ReplaceAllString(unsaid.Replace(w.Schema[i]), ""); field.String() != s {
				t.Errorf("%s:\n%s\n%s in pyarrow", name, field, s)
			}
		}
	}
}

// The levels of the logical schema are those of the schema elements, and those that parquet-go finds.
func TestLevels(t *testing.T) {
	for _, name := range samples(t) {
		f := openFile(t, name)
		pq, err := f.parquet()
		if err != nil {
			t.Fatal(err)
		}
		columns := pq.Schema().Columns()
		if len(f.leaves) != len(columns) {
			t.Fatalf("%s: %d leaves, parquet-go has %d", name, len(f.leaves), len(columns))
		}
		for i, l := range f.leaves {
			leaf, _ := pq.Schema().Lookup(columns[i]...)
			p := f.physical[i]
			if l.MaxDef != p.MaxDef || l.MaxRep != p.MaxRep || int(l.MaxDef) != leaf.MaxDefinitionLevel || int(l.MaxRep) != leaf.MaxRepetitionLevel {
				t.Errorf("%s: %s: levels %d/%d, elements %d/%d, parquet-go %d/%d", name, l.Path, l.MaxDef, l.MaxRep, p.MaxDef, p.MaxRep,
					leaf.MaxDefinitionLevel, leaf.MaxRepetitionLevel)
			}
			if got, want := strings.Join(p.Names, "."), strings.Join(columns[i], "."); got != want {
				t.Errorf("%s: path %s, parquet-go %s", name, got, want)
			}
		}
	}
}

// el writes one schema element as "name rep children converted", e.g. "tags optional 1 LIST".
func el(t *testing.T, text string) []byte {
	t.Helper()
	var name, rep, kind, converted string
	if n, _ := fmt.Sscan(text, &name, &rep, &kind, &converted); n < 3 {
		t.Fatalf("element %q", text)
	}
	var w thrift.StructWriter
	var b []byte
	number := map[string]int64{"required": 0, "optional": 1, "repeated": 2, "int32": 1, "int64": 2, "binary": 6}
	var children int64
	_, err := fmt.Sscan(kind, &children)
	if err != nil {
		b = w.Int(b, 1, thrift.I32, number[kind])
	}
	if rep != "-" {
		b = w.Int(b, 3, thrift.I32, number[rep])
	}
	b = thrift.AppendBytes(w.Field(b, 4, thrift.Binary), name)
	if err == nil {
		b = w.Int(b, 5, thrift.I32, children)
	}
	if c, ok := map[string]int64{"UTF8": 0, "MAP": 1, "MAP_KEY_VALUE": 2, "LIST": 3, "TIMESTAMP_MICROS": 10, "UINT_8": 11, "INT_64": 18}[converted]; ok {
		b = w.Int(b, 6, thrift.I32, c)
	}
	if converted == "VARIANT" { // field 16 of the union of logical types, an empty struct
		var union thrift.StructWriter
		b = union.Field(w.Field(b, 10, thrift.Struct), 16, thrift.Struct)
		b = union.Stop(append(b, thrift.Stop))
	}
	return w.Stop(b)
}

// treeOf parses a footer that has these elements and no rows.
func treeOf(t *testing.T, elements ...string) (*File, error) {
	t.Helper()
	var encoded [][]byte
	for _, e := range elements {
		encoded = append(encoded, el(t, e))
	}
	return fileOf(t, encoded)
}

// fileOf parses a footer that has these encoded elements and no rows.
func fileOf(t *testing.T, elements [][]byte) (*File, error) {
	t.Helper()
	list := thrift.AppendList(nil, thrift.Struct, len(elements))
	for _, e := range elements {
		list = append(list, e...)
	}
	footer := rewrite(t, []byte{thrift.Stop}, thrift.Edit{ID: 1, Type: thrift.I32, Num: 1}, thrift.Edit{ID: 2, Type: thrift.List, Raw: list},
		thrift.Edit{ID: 3, Type: thrift.I64}, thrift.Edit{ID: 4, Type: thrift.List, Raw: thrift.AppendList(nil, thrift.Struct, 0)})
	f := &File{name: "t", footer: footer, size: int64(len(footer) + 12)}
	return f, f.parse()
}

// The shapes that the format's rules for backward compatibility name (LogicalTypes.md), and others that writers made.
func TestTree(t *testing.T) {
	for _, c := range []struct {
		name     string
		elements []string
		want     string
	}{
		{"three levels", []string{"r - 1", "a optional 1 LIST", "list repeated 1", "element optional binary UTF8"}, "a: list<element: string>"},
		{"a variant is the element", []string{"r - 1", "a optional 1 LIST", "list repeated 1 VARIANT", "element optional int32"}, "a: list<list: struct<element: int32> not null>"},
		{"hive's bag", []string{"r - 1", "a optional 1 LIST", "bag repeated 1", "array_element optional int32"}, "a: list<array_element: int32>"},
		{"required element", []string{"r - 1", "a required 1 LIST", "list repeated 1", "item required int32"}, "a: list<item: int32 not null> not null"},
		{"two levels, plain", []string{"r - 1", "a optional 1 LIST", "element repeated int32"}, "a: list<element: int32 not null>"},
		{"two levels, array", []string{"r - 1", "a optional 1 LIST", "array repeated 1", "str required binary UTF8"},
			"a: list<array: struct<str: string not null> not null>"},
		{"two levels, tuple", []string{"r - 1", "a optional 1 LIST", "a_tuple repeated 1", "str optional binary UTF8"},
			"a: list<a_tuple: struct<str: string> not null>"},
		{"two levels, two fields", []string{"r - 1", "a optional 1 LIST", "element repeated 2", "s optional binary UTF8", "n required int32"},
			"a: list<element: struct<s: string, n: int32 not null> not null>"},
		{"two levels of lists", []string{"r - 1", "a optional 1 LIST", "array repeated 1 LIST", "array repeated int32"},
			"a: list<array: list<array: int32 not null> not null>"},
		{"repeated in the middle", []string{"r - 1", "a optional 1 LIST", "list repeated 1", "x repeated int32"},
			"a: list<list: struct<x: list<x: int32 not null> not null> not null>"},
		{"repeated alone", []string{"r - 1", "a repeated int32"}, "a: list<a: int32 not null> not null"},
		{"repeated group alone", []string{"r - 1", "a repeated 1", "b optional int64"}, "a: list<a: struct<b: int64> not null> not null"},
		{"map", []string{"r - 1", "m optional 1 MAP", "key_value repeated 2", "key required binary UTF8", "value optional int32"}, "m: map<string, int32>"},
		{"old map", []string{"r - 1", "m optional 1 MAP_KEY_VALUE", "map repeated 2", "key required binary UTF8", "num optional int32"}, "m: map<string, int32>"},
		{"map of keys", []string{"r - 1", "m optional 1 MAP", "key_value repeated 1", "key required binary UTF8"}, "m: list<key: string not null>"},
		{"no annotation", []string{"r - 1", "s required binary"}, "s: binary not null"},
		{"old timestamps", []string{"r - 1", "s optional int64 TIMESTAMP_MICROS"}, "s: timestamp[us, tz=UTC]"},
		{"old integers", []string{"r - 1", "s optional int32 UINT_8"}, "s: uint8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := treeOf(t, c.elements...)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Schema().Fields[0].String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for i, l := range f.leaves {
				if p := f.physical[i]; l.MaxDef != p.MaxDef || l.MaxRep != p.MaxRep {
					t.Errorf("%s: levels %d/%d, elements have %d/%d", l.Path, l.MaxDef, l.MaxRep, p.MaxDef, p.MaxRep)
				}
			}
			tree, err := physicalSchema(f.Schema(), f) // written as it was
			if err != nil {
				t.Fatal(err)
			}
			if want := rawFields(t, f.footer)[2]; string(tree.elements) != string(want) {
				t.Errorf("elements %x\nwere     %x", tree.elements, want)
			}
		})
	}
}

func TestTreeRefuses(t *testing.T) {
	deep := []string{"r - 1"}
	for i := range 300 {
		deep = append(deep, fmt.Sprintf("g%d optional 1", i))
	}
	for _, c := range []struct {
		want     string
		elements []string
	}{
		{"cut off", []string{"r - 2", "a optional int32"}},
		{"part of no column", []string{"r - 1", "a optional int32", "b optional int32"}},
		{"no repetition", []string{"r - 1", "a - int32"}},
		{"neither a type nor fields", []string{"r - 1", "a optional 0"}},
		{"nested more than", append(deep, "x optional int32")},
		{"cut off", []string{"r - 1", "a optional 2147483647", "b optional int32"}},
	} {
		if _, err := treeOf(t, c.elements...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.elements[len(c.elements)-1], err, c.want)
		}
	}
}

// A struct whose children changed is written with its own element and theirs; a list whose element cannot be repeated by
// itself any more gets the three levels of today.
func TestElementsOfEditedFields(t *testing.T) {
	f, err := treeOf(t, "r - 2", "s optional 2", "a required binary UTF8", "b optional int64", "l optional 1 LIST", "element repeated int32")
	if err != nil {
		t.Fatal(err)
	}
	s := f.Schema().Clone()
	s.Fields[0].Name = "renamed"
	s.Fields[0].Nullable = false
	s.Fields[0].Type.Fields[1] = schema.NewField("n", schema.ListOf(schema.StringType))
	s.Fields[1].Type.Fields[0].Nullable = true
	p, err := physicalSchema(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"renamed.a 1/0", "renamed.n.list.element 3/1", "l.list.element 3/1"}
	want[0] = "renamed.a 0/0"
	for i, l := range p.leaves {
		if got := fmt.Sprintf("%s %d/%d", strings.Join(l.Names, "."), l.MaxDef, l.MaxRep); got != want[i] {
			t.Errorf("leaf %d: %s, want %s", i, got, want[i])
		}
	}
}

// A field read from a file and one made by its type alone lead to the same leaf.
func TestFreshLeavesAreAsRead(t *testing.T) {
	for _, name := range []string{"pyarrow-types", "pyarrow-nested", "datasets", "duckdb", "polars"} {
		f := openFile(t, sample(name))
		s := &schema.Schema{}
		for _, field := range f.Schema().Fields {
			if !strings.HasPrefix(field.Type.Name, "duration") { // an int64 to Parquet: nothing to make it from
				s.Fields = append(s.Fields, withoutOrigin(field))
			}
		}
		tree, err := physicalSchema(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := &File{name: name, meta: metadata{}}
		g.footer = rewrite(t, []byte{thrift.Stop}, thrift.Edit{ID: 2, Type: thrift.List, Raw: tree.elements}, thrift.Edit{ID: 3, Type: thrift.I64},
			thrift.Edit{ID: 4, Type: thrift.List, Raw: thrift.AppendList(nil, thrift.Struct, 0)})
		g.size = int64(len(g.footer) + 12)
		if err := g.parse(); err != nil {
			t.Fatal(err)
		}
		for i, l := range g.leaves {
			was := f.leaves[f.leafAt(t, l.Path)]
			if p := f.physical[f.leafAt(t, l.Path)]; g.physical[i].Physical != p.Physical || g.physical[i].Length != p.Length || !sameStorage(l.Type, was.Type) {
				t.Errorf("%s: %s is written as %s, stored as %v(%d), %s has it as %v(%d)", name, was.Type, l.Type, g.physical[i].Physical,
					g.physical[i].Length, name, p.Physical, p.Length)
			}
		}
	}
}

func withoutOrigin(f schema.Field) schema.Field {
	f.SourceElement = nil
	fields := make([]schema.Field, len(f.Type.Fields))
	for i, c := range f.Type.Fields {
		fields[i] = withoutOrigin(c)
	}
	if fields = fields[:len(f.Type.Fields)]; len(fields) > 0 {
		f.Type.Fields = fields
	}
	return f
}
