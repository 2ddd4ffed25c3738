package transformtest

import (
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A step is a plan that needs no schema.
type step transform.Plan

func (s *step) Plan(*schema.Schema) (*transform.Plan, error) { return (*transform.Plan)(s), nil }

func over(path schema.Path, p transform.Put) *step {
	p.Path, p.Copy, p.OnExisting = path, path, transform.Replace
	return &step{Puts: []transform.Put{p}}
}

// TestCopies: what MapText and Retype make of a leaf that is copied over itself, as the engine makes it.
func TestCopies(t *testing.T) {
	const in = `{"p":[{"c":"x","n":1},{"c":null,"n":2},null],"b":"é","n":3}` + "\n" + `{"p":null,"b":null,"n":4}`
	upper := transform.Put{MapText: func(dst []byte, s string) []byte { return append(dst, strings.ToUpper(s)...) }}
	bytes := schema.NewField("b", schema.Type{Kind: schema.Binary})
	for _, c := range []struct {
		name  string
		step  *step
		b     *schema.Field
		want  string
		typ   string
		error string
	}{
		{name: "MapText in a list", step: over("p[].c", upper),
			want: `{"p":[{"c":"X","n":1},{"c":null,"n":2},null],"b":"é","n":3}` + "\n" + `{"p":null,"b":null,"n":4}`, typ: "string"},
		{name: "MapText at the top", step: over("b", upper),
			want: strings.Replace(in, "é", "É", 1), typ: "string"},
		{name: "Retype", step: over("b", transform.Put{Retype: schema.StringType}), b: &bytes, want: in, typ: "string"},
		{name: "a copy without a type of its own", step: over("b", transform.Put{}), b: &bytes, want: in, typ: "binary"},
		{name: "MapText of a number", step: over("n", upper), error: `step 0: plan has MapText for "n", which is no text that is copied over itself`},
		{name: "Retype of a number", step: over("n", transform.Put{Retype: schema.StringType}), error: `step 0: plan makes "n", which is int64, a string: they are not stored alike`},
		{name: "MapText without a copy", step: &step{Puts: []transform.Put{{Path: "x", Type: schema.StringType, MapText: func(dst []byte, s string) []byte { return append(dst, strings.ToUpper(s)...) }}}}, error: `step 0: plan has Retype or MapText for "x", which copies nothing`},
	} {
		table, err := Parse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.b != nil {
			table.asBytes(t, *c.b)
		}
		out, _, err := table.Apply(c.step)
		if c.error != "" {
			if err == nil || err.Error() != c.error {
				t.Errorf("%s: error %v, want %s", c.name, err, c.error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f, _ := out.Schema.Lookup("b")
		if got := strings.Join(out.Lines(), "\n"); got != c.want || f.Type.String() != c.typ {
			t.Errorf("%s: b is %s\ngot  %s\nwant %s", c.name, f.Type, got, c.want)
		}
	}
}

// asBytes makes the texts of a column bytes.
func (table *Table) asBytes(t *testing.T, f schema.Field) {
	t.Helper()
	_, at := table.Schema.Column(f.Name)
	if at < 0 {
		t.Fatalf("no column %q", f.Name)
	}
	table.Schema.Fields[at] = f
	typ := schema.StructOf(table.Schema.Fields...)
	for i, r := range table.Rows {
		values := make([]schema.Value, r.Len())
		for k := range values {
			if values[k] = r.Elem(k); k == at && !values[k].IsNull() {
				values[k] = schema.BinaryValue(values[k].Text())
			}
		}
		table.Rows[i] = schema.StructValue(&typ, values)
	}
}

// TestBulkIsHeldToFunc: a Bulk that computes something else, or takes rows that it must not take, is an error.
func TestBulkIsHeldToFunc(t *testing.T) {
	plan := func(bulk transform.Bulk) *step {
		return &step{Reads: []schema.Path{"a"}, Puts: []transform.Put{{Path: "b", Type: schema.StringType}},
			Bind: func() transform.Func {
				return func(in schema.Row, out *transform.Emitter) error {
					if v := in.At(0); v.IsNull() || v.Text() == "" {
						return transform.Rejectf("empty", "a", v, "a is empty")
					}
					out.Set(0, schema.TextValue(strings.ToUpper(in.At(0).Text())))
					out.Emit()
					return nil
				}
			},
			Bulk: func() transform.Bulk { return bulk }}
	}
	with := func(f func(string) string, empty bool) transform.Bulk {
		return func(reads []schema.Texts, rows int, out []*schema.TextColumn) bool {
			for i := range rows {
				if reads[0].At(i) == "" && !empty {
					return false
				}
				out[0].Bytes = append(out[0].Bytes, f(reads[0].At(i))...)
				out[0].End()
			}
			return true
		}
	}
	for _, c := range []struct {
		name, in string
		bulk     transform.Bulk
		error    string
	}{
		{"the same", `{"a":"x"}` + "\n" + `{"a":null}` + "\n" + `{"a":"y"}`, with(strings.ToUpper, false), ""},
		{"rows that are rejected", `{"a":"x"}` + "\n" + `{"a":""}`, with(strings.ToUpper, false), ""},
		{"another text", `{"a":"x"}` + "\n" + `{"a":"y"}`, with(strings.ToLower, false), `step 0: leaf 0: bulk gives ["x" "y"], the Func ["X" "Y"]`},
		{"takes what it must not", `{"a":"x"}` + "\n" + `{"a":""}`, with(strings.ToUpper, true), "step 0: bulk takes the rows: true; each of them gives one row: false"},
	} {
		table, err := Parse(c.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = table.Apply(plan(c.bulk))
		if (err == nil) != (c.error == "") || err != nil && err.Error() != c.error {
			t.Errorf("%s: error %v, want %q", c.name, err, c.error)
		}
	}
}
