package diff

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/schema"
)

// rows is a table in memory.
func rows(s *schema.Schema, metadata map[string]string, list ...[]schema.Value) *Table {
	return &Table{Schema: s, Metadata: metadata, Rows: int64(len(list)), Open: func(_ context.Context, paths []schema.Path) (Cursor, error) {
		return &memory{s: s, rows: list, paths: paths, at: -1}, nil
	}}
}

type memory struct {
	s     *schema.Schema
	rows  [][]schema.Value
	paths []schema.Path
	at    int
}

func (m *memory) Next(context.Context) (bool, error) { m.at++; return m.at < len(m.rows), nil }
func (m *memory) Close() error                       { return nil }
func (m *memory) At(i int) schema.Value {
	steps := m.paths[i].Steps()
	_, at := m.s.Column(steps[0])
	if at < 0 {
		return schema.Value{}
	}
	v := m.rows[m.at][at]
	for _, s := range steps[1:] {
		v = v.Field(s)
	}
	return v
}

func cols(f ...schema.Field) *schema.Schema { return &schema.Schema{Fields: f} }

var (
	info   = schema.StructOf(schema.NewField("index", schema.Int64Type), schema.NewField("split", schema.StringType))
	turned = schema.StructOf(schema.NewField("split", schema.StringType), schema.NewField("index", schema.Int64Type))
)

func infoValue(index int64, split string) schema.Value {
	return schema.StructValue(&info, []schema.Value{schema.IntValue(index), schema.TextValue(split)})
}

func turnedValue(index int64, split string) schema.Value {
	return schema.StructValue(&turned, []schema.Value{schema.TextValue(split), schema.IntValue(index)})
}

func TestTables(t *testing.T) {
	text, ints := schema.StringType, schema.Int64Type
	large := schema.Type{Kind: schema.Text, Layout: schema.Large}
	double := schema.FloatType
	a, b := schema.TextValue("a"), schema.TextValue("b")
	long := strings.Repeat("ä", 300)
	messages := func(content ...string) schema.Value {
		var out []schema.Value
		for _, c := range content {
			out = append(out, schema.TextValue(c))
		}
		return schema.ListValue(out)
	}
	for _, c := range []struct {
		name     string
		old, new *Table
		opt      Options
		want     string // "kind path row old → new", note in brackets, one after the other with "; "
		differ   int64
	}{
		{"equal", rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}), rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}), Options{}, "", 0},
		{"a cell", rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}, []schema.Value{a}), rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}, []schema.Value{b}), Options{}, `value x 1 "a" → "b"`, 1},
		{"null", rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}), rows(cols(schema.NewField("x", text)), nil, []schema.Value{schema.NullValue}), Options{}, `value x 0 "a" → null`, 1},
		{"one row less", rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}, []schema.Value{a}), rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}), Options{}, `rows  -1 2 → 1`, 0},
		{"a type", rows(cols(schema.NewField("x", ints)), nil, []schema.Value{schema.IntValue(1)}), rows(cols(schema.NewField("x", double)), nil, []schema.Value{schema.FloatValue(1)}), Options{}, `type x -1 int64 → double`, 0},
		{"bytes", rows(cols(schema.NewField("x", schema.Type{Kind: schema.Binary})), nil, []schema.Value{schema.BinaryValue("a")}), rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}), Options{}, `type x -1 binary → string; value x 0 b"a" → "a"`, 1},
		{"a form", rows(cols(schema.NewField("x", text)), nil), rows(cols(schema.NewField("x", large)), nil), Options{}, `[type x -1 string → large_string]`, 0},
		{"a form, strict", rows(cols(schema.NewField("x", text)), nil), rows(cols(schema.NewField("x", large)), nil), Options{Strict: true}, `type x -1 string → large_string`, 0},
		{"nullable", rows(cols(schema.NewField("x", text)), nil), rows(cols(schema.Field{Name: "x", Type: text}), nil), Options{}, `[nullable x -1 nullable → not null]`, 0},
		{"order", rows(cols(schema.NewField("x", text), schema.NewField("y", text)), nil, []schema.Value{a, b}), rows(cols(schema.NewField("y", text), schema.NewField("x", text)), nil, []schema.Value{b, a}), Options{}, `order  -1 x, y → y, x`, 0},
		{"order of fields", rows(cols(schema.NewField("e", info)), nil, []schema.Value{infoValue(1, "s")}), rows(cols(schema.NewField("e", turned)), nil, []schema.Value{turnedValue(1, "s")}), Options{}, `order e -1 index, split → split, index`, 0},
		{"a field's value", rows(cols(schema.NewField("e", info)), nil, []schema.Value{infoValue(1, "s")}), rows(cols(schema.NewField("e", turned)), nil, []schema.Value{turnedValue(2, "s")}), Options{}, `order e -1 index, split → split, index; value e.index 0 1 → 2`, 1},
		{"columns", rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}), rows(cols(schema.NewField("y", ints)), nil, []schema.Value{schema.IntValue(1)}), Options{}, `column x -1 string → ; column y -1  → int64`, 0},
		{"metadata", rows(cols(), map[string]string{"k": "1", "pandas": "p"}), rows(cols(), map[string]string{"k": "2", "j": ""}), Options{}, `metadata j -1  → ""; metadata k -1 "1" → "2"; [metadata pandas -1 "p" → ]`, 0},
		{"a message", rows(cols(schema.NewField("m", schema.ListOf(text))), nil, []schema.Value{messages("x", "y")}), rows(cols(schema.NewField("m", schema.ListOf(text))), nil, []schema.Value{messages("x", "z")}), Options{}, `value m[1] 0 "y" → "z"`, 1},
		{"a message more", rows(cols(schema.NewField("m", schema.ListOf(text))), nil, []schema.Value{messages("x")}), rows(cols(schema.NewField("m", schema.ListOf(text))), nil, []schema.Value{messages("x", "z")}), Options{}, `value m 0 ["x"] → ["x","z"]`, 1},
		{"far into a text", rows(cols(schema.NewField("x", text)), nil, []schema.Value{schema.TextValue(long + "1 tail")}), rows(cols(schema.NewField("x", text)), nil, []schema.Value{schema.TextValue(long + "2 tail")}), Options{},
			`value x 0 …"` + strings.Repeat("ä", 20) + `1 tail" → …"` + strings.Repeat("ä", 20) + `2 tail"`, 1},
		{"by key", rows(cols(schema.NewField("e", info)), nil, []schema.Value{infoValue(1, "a")}, []schema.Value{infoValue(2, "b")}, []schema.Value{infoValue(3, "c")}),
			rows(cols(schema.NewField("e", info)), nil, []schema.Value{infoValue(3, "x")}, []schema.Value{infoValue(1, "a")}, []schema.Value{infoValue(4, "d")}), Options{Key: "e.index"},
			`row e.index 1 a row → nothing; row e.index 2 nothing → a row; value e.split 2 "c" → "x"`, 3},
		{"a key twice", rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}, []schema.Value{a}), rows(cols(schema.NewField("x", text)), nil, []schema.Value{a}), Options{Key: "x"},
			`rows  -1 2 → 1; row x 1 twice, first in row 0 → `, 1},
	} {
		c.opt.Values = 10
		r, err := Tables(context.Background(), c.old, c.new, c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, d := range r.Differences {
			s := fmt.Sprintf("%s %s %d %s → %s", d.Kind, d.Path, d.Row, d.Old, d.New)
			if d.Note {
				s = "[" + s + "]"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != c.want || r.RowsDiffer != c.differ {
			t.Errorf("%s: %s (%d rows differ)\nwanted %s (%d)", c.name, s, r.RowsDiffer, c.want, c.differ)
		}
		if r.Same() != !strings.Contains(strings.Join(slices.DeleteFunc(got, func(s string) bool { return s[0] == '[' }), ""), " ") {
			t.Errorf("%s: same is %v", c.name, r.Same())
		}
	}
	for _, key := range []schema.Path{"none", "m"} {
		x := rows(cols(schema.NewField("m", schema.ListOf(text))), nil)
		if _, err := Tables(context.Background(), x, x, Options{Key: key}); err == nil {
			t.Errorf("key %s was taken", key)
		}
	}
}

// TestChanges draws a table and changes some cells of it: just these are found, by place and, whatever the order of rows, by key.
func TestChanges(t *testing.T) {
	s := cols(schema.NewField("id", schema.Int64Type), schema.NewField("x", schema.StringType), schema.NewField("f", schema.FloatType), schema.NewField("e", info))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "rows")
		var old, changed [][]schema.Value
		want := map[string]bool{}
		for i := range n {
			row := []schema.Value{schema.IntValue(int64(i)), schema.TextValue(rapid.StringN(0, 5, 20).Draw(t, "x")), schema.FloatValue(rapid.Float64().Draw(t, "f")),
				infoValue(rapid.Int64().Draw(t, "index"), "s")}
			other := slices.Clone(row)
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 1:
				other[1] = schema.TextValue(row[1].Text() + "+")
				want[fmt.Sprintf("%d x", i)] = true
			case 2:
				other[2] = schema.NullValue
				want[fmt.Sprintf("%d f", i)] = true
			case 3:
				if v := row[3].Field("index").Int(); v < math.MaxInt64 {
					other[3] = infoValue(v+1, "s")
					want[fmt.Sprintf("%d e.index", i)] = true
				}
			}
			old, changed = append(old, row), append(changed, other)
		}
		check := func(what string, to [][]schema.Value, opt Options) {
			opt.Values = 1000
			r, err := Tables(context.Background(), rows(s, nil, old...), rows(s, nil, to...), opt)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, d := range r.Differences {
				got[fmt.Sprintf("%d %s", d.Row, d.Path)] = true
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || r.RowsDiffer != int64(len(want)) || r.Rows != int64(n) || r.Same() != (len(want) == 0) {
				t.Fatalf("%s: %v, %d rows differ of %d; wanted %v", what, got, r.RowsDiffer, r.Rows, want)
			}
		}
		check("by place", changed, Options{})
		check("by key", rapid.Permutation(changed).Draw(t, "order"), Options{Key: "id"})
	})
}
