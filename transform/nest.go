package transform

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "nest",
	Title: "move columns into a struct",
	Doc: `
Moves columns, in their order, into the struct 'into', which is made where it does not exist: those of 'path', or all but those of
'except'. Nothing is decoded: where the types of the two places allow it, the compressed pages are moved as they are.
`,
	Args: []Arg{
		{Name: "into", Type: "path", Doc: "the struct: extra_info", Required: true},
		{Name: "path", Type: "path or list of paths", Doc: "the columns to move; all when not given"},
		{Name: "except", Type: "path or list of paths", Doc: "columns that stay"},
	},
	New: newNest,
	Examples: []Example{
		{
			Title: "everything but the messages",
			Args:  `{"into":"extra_info","except":"messages"}`,
			In:    `{"id":7,"messages":["a"],"tags":["x"]}` + "\n" + `{"id":null,"messages":["b"],"tags":null}`,
			Out:   `{"messages":["a"],"extra_info":{"id":7,"tags":["x"]}}` + "\n" + `{"messages":["b"],"extra_info":{"id":null,"tags":null}}`,
		},
		{
			Title: "two columns",
			Args:  `{"into":"extra_info","path":["level","id"]}`,
			In:    `{"id":7,"level":"hard","extra_info":{"index":0}}`,
			Out:   `{"extra_info":{"index":0,"id":7,"level":"hard"}}`,
		},
		{
			Title: "no such column",
			Args:  `{"into":"extra_info","path":"idd"}`,
			In:    `{"id":7}`,
			Error: `no column "idd" (columns: id); did you mean "id"?`,
		},
	},
})

// Nest moves columns into a struct.
type Nest struct {
	Into   schema.Path
	Paths  []schema.Path // nil: all columns but Except
	Except []schema.Path
}

// Plan copies and drops the columns. It fails for a path that is no column.
func (n Nest) Plan(in *schema.Schema) (*Plan, error) {
	for _, p := range slices.Concat(n.Paths, n.Except) {
		if _, err := column(in, p); err != nil {
			return nil, err
		}
		if p.Parent() != "" {
			return nil, fmt.Errorf("%q is a field of %q: whole columns are moved", p, p.Parent())
		}
	}
	plan := &Plan{}
	for _, f := range in.Fields {
		p := schema.Path("").Field(f.Name)
		if f.Name == n.Into.Top() || n.Paths != nil && !slices.Contains(n.Paths, p) || slices.Contains(n.Except, p) {
			continue
		}
		plan.Puts = append(plan.Puts, Put{Path: n.Into.Field(f.Name), Type: f.Type, Copy: p})
		plan.Drops = append(plan.Drops, p)
	}
	return plan, nil
}

func newNest(args Args) (RowStep, error) {
	r := newArgs("nest", args)
	n := Nest{Into: r.path("into", "")}
	if args["path"] != nil {
		n.Paths = r.paths("path")
	}
	if args["except"] != nil {
		n.Except = r.paths("except")
	}
	if n.Paths != nil && n.Except != nil {
		r.failAt("except", "path and except exclude each other")
	}
	return r.done(n)
}
