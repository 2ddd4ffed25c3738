package edit

import (
	"context"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Select keeps these columns, or fields of structs, and drops all others.
type Select struct{ Paths []schema.Path }

// String implements Edit.
func (e *Select) String() string { return "select " + joinPaths(e.Paths) }

// Prepare implements Edit.
func (e *Select) Prepare([]*rule.File, bool) error { return nil }

// Steps implements Edit.
func (e *Select) Steps(_ context.Context, src *input.Set, i int, _ int64) ([]transform.RowStep, []string, error) {
	f := src.Files()[i]
	for _, p := range e.Paths {
		if _, ok := f.Schema.Lookup(p); !ok {
			return nil, nil, usagef("%s: %w", f.Name, transform.NoColumn(p, f.Schema))
		}
	}
	drops := e.others("", f.Schema.Fields)
	if len(drops) == 0 {
		return nil, []string{"has just these columns"}, nil
	}
	return []transform.RowStep{transform.Drop{Paths: drops}}, nil, nil
}

// others lists the columns below parent that hold nothing of what is kept.
func (e *Select) others(parent schema.Path, fields []schema.Field) []schema.Path {
	var out []schema.Path
	for _, f := range fields {
		out = append(out, e.othersAt(parent.Field(f.Name), f.Type)...)
	}
	return out
}

func (e *Select) othersAt(p schema.Path, t schema.Type) []schema.Path {
	below := false
	for _, want := range e.Paths {
		if p.Under(want) {
			return nil
		}
		below = below || want.Under(p)
	}
	switch {
	case !below:
		return []schema.Path{p}
	case t.Kind == schema.List:
		return e.othersAt(p.Elem(), t.Fields[0].Type)
	}
	return e.others(p, t.Fields)
}
