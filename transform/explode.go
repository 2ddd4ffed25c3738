package transform

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "explode",
	Title: "make a row of each element of a list",
	Doc: `
Writes a row for each element of a list, with the element in the list's place; the other columns are repeated. A row whose list is empty
or null is left out and counted (no-elements), or with 'empty: keep' goes on with a null. 'position' is where the number of the element in
its list is written, from 0.

The rows of one source row share its number, so an index of the step before or after it is the same in all of them; 'position' tells
them apart.
`,
	Short: "path",
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "the list: solutions", Required: true},
		{Name: "position", Type: "path", Doc: "where the number of the element goes: extra_info.solution"},
		{Name: "empty", Type: "string", Values: []string{"drop", "keep"}, Doc: "what becomes of a row without elements; drop when not given"},
	},
	New: newExplode,
	Examples: []Example{
		{
			Title: "a row for each answer",
			Args:  `{"path":"answers"}`,
			In:    `{"q":"a","answers":["1","2"],"n":1}` + "\n" + `{"q":"b","answers":[],"n":2}` + "\n" + `{"q":"c","answers":["3"],"n":3}`,
			Out:   `{"q":"a","answers":"1","n":1}` + "\n" + `{"q":"a","answers":"2","n":1}` + "\n" + `{"q":"c","answers":"3","n":3}`,
		},
		{
			Title: "numbered, and rows without elements kept",
			Args:  `{"path":"a","position":"at","empty":"keep"}`,
			In:    `{"a":[{"x":1},{"x":2}]}` + "\n" + `{"a":null}`,
			Out:   `{"a":{"x":1},"at":0}` + "\n" + `{"a":{"x":2},"at":1}` + "\n" + `{"a":null,"at":null}`,
		},
		{
			Title: "no list",
			Args:  `{"path":"a"}`,
			In:    `{"a":"b"}`,
			Error: `column "a" is string, expected a list`,
		},
	},
})

// Explode writes a row for each element of the list at Path.
type Explode struct {
	Path     schema.Path
	Position schema.Path // where the number of the element goes; "": nowhere
	Keep     bool        // a row without elements goes on with a null
}

// Plan returns a computed Put in the list's place, and one of the position. It fails where Path is no list.
func (e Explode) Plan(in *schema.Schema) (*Plan, error) {
	f, err := column(in, e.Path)
	if err != nil {
		return nil, err
	}
	if f.Type.Kind != schema.List || inList(e.Path) {
		return nil, fmt.Errorf("column %q is %s, expected a list", e.Path, f.Type)
	}
	plan := &Plan{Reads: []schema.Path{e.Path}, Puts: []Put{{Path: e.Path, Type: f.Type.Fields[0].Type, OnExisting: Replace}}, Bind: func() Func { return e.row }}
	if e.Position != "" {
		if err := checkPut(in, e.Position); err != nil {
			return nil, err
		}
		plan.Puts = append(plan.Puts, Put{Path: e.Position, Type: schema.Int64Type})
	}
	return plan, nil
}

func (e Explode) row(in schema.Row, out *Emitter) error {
	list := in.At(0)
	n := 0
	if list.Kind() == schema.List {
		n = list.Len()
	}
	for i := range n {
		out.Set(0, list.Elem(i))
		if e.Position != "" {
			out.Set(1, schema.IntValue(int64(i)))
		}
		out.Emit()
	}
	switch {
	case n == 0 && e.Keep:
		out.Emit()
	case n == 0:
		out.Drop("no-elements")
	}
	return nil
}

func newExplode(args Args) (RowStep, error) {
	r := newArgs("explode", args)
	e := Explode{Path: r.path("path", ""), Position: r.path("position", "")}
	e.Keep = r.word("empty", "drop") == "keep"
	return r.done(e)
}
