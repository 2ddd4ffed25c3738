package transform

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "select",
	Title: "keep these columns, in this order, and no others",
	Doc: `
Keeps the columns that are named, in the order in which they are named, and drops all others. A field of a struct,
'extra_info.index', keeps that struct with the fields that are named and no others. Nothing is decoded.
`,
	Short: "path",
	Args: []Arg{
		{Name: "path", Type: "path or list of paths", Doc: "what to keep: prompt, extra_info.index", Required: true},
	},
	New: newSelect,
	Examples: []Example{
		{
			Title: "three columns of four, in another order",
			Args:  `{"path":["data_source","prompt","extra_info"]}`,
			In:    `{"id":7,"prompt":"p","extra_info":{"index":0},"data_source":"d"}`,
			Out:   `{"data_source":"d","prompt":"p","extra_info":{"index":0}}`,
		},
		{
			Title: "a field of a struct",
			Args:  `{"path":["prompt","extra_info.index"]}`,
			In:    `{"prompt":"p","extra_info":{"index":0,"answer":"long","split":"train"}}`,
			Out:   `{"prompt":"p","extra_info":{"index":0}}`,
		},
		{
			Title: "no such column",
			Args:  `{"path":["promt"]}`,
			In:    `{"prompt":"p"}`,
			Error: `no column "promt" (columns: prompt); did you mean "prompt"?`,
		},
	},
})

// Select keeps the columns at Paths, in that order.
type Select struct{ Paths []schema.Path }

// Plan returns the others as Drops and the order. It fails for a path that does not exist, or is named twice.
func (s Select) Plan(in *schema.Schema) (*Plan, error) {
	plan := &Plan{}
	for i, p := range s.Paths {
		if _, err := column(in, p); err != nil {
			return nil, err
		}
		if inList(p) {
			return nil, fmt.Errorf("path %q lies inside a list: a step selects whole columns and fields of structs", p)
		}
		for _, q := range s.Paths[:i] {
			if p.Under(q) || q.Under(p) {
				return nil, fmt.Errorf("column %q is named twice (%q)", p, q)
			}
		}
		if top := p.Top(); !slices.Contains(plan.Order, top) {
			plan.Order = append(plan.Order, top)
		}
	}
	plan.Drops = s.rest("", in.Fields)
	return plan, nil
}

// rest lists what is to be dropped of the fields of parent.
func (s Select) rest(parent schema.Path, fields []schema.Field) (drops []schema.Path) {
	for _, f := range fields {
		p := parent.Field(f.Name)
		switch {
		case slices.Contains(s.Paths, p):
		case slices.ContainsFunc(s.Paths, func(q schema.Path) bool { return q.Under(p) }):
			drops = append(drops, s.rest(p, f.Type.Fields)...)
		default:
			drops = append(drops, p)
		}
	}
	return drops
}

func newSelect(args Args) (RowStep, error) {
	r := newArgs("select", args)
	return r.done(Select{Paths: r.paths("path")})
}
