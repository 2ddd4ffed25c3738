package transform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "drop",
	Title: "leave columns out",
	Doc: `
Drops columns, or fields of structs. Nothing is decoded. A struct that would be left with no field must be dropped as a
whole: no Parquet writer takes an empty struct.
`,
	Short: "path",
	Args: []Arg{
		{Name: "path", Type: "path or list of paths", Doc: "what to drop: question, extra_info.answer", Required: true},
	},
	New: newDrop,
	Examples: []Example{
		{
			Title: "a column and a field",
			Args:  `{"path":["question","extra_info.answer"]}`,
			In:    `{"question":"1+1?","prompt":"p","extra_info":{"index":0,"answer":"2"}}`,
			Out:   `{"prompt":"p","extra_info":{"index":0}}`,
		},
		{
			Title: "the last field of a struct",
			Args:  `{"path":"extra_info.index"}`,
			In:    `{"prompt":"p","extra_info":{"index":0}}`,
			Error: `nothing is left of "extra_info": drop it as a whole`,
		},
		{
			Title: "no such field",
			Args:  `{"path":"extra_info.indx"}`,
			In:    `{"prompt":"p","extra_info":{"index":0}}`,
			Error: `no column "extra_info.indx" (fields of extra_info: index); did you mean "extra_info.index"?`,
		},
	},
})

// Drop leaves the columns at Paths out.
type Drop struct{ Paths []schema.Path }

// Plan returns the paths as Drops. It fails for a path that does not exist and where nothing of a struct would be left.
func (d Drop) Plan(in *schema.Schema) (*Plan, error) {
	for _, p := range d.Paths {
		if _, err := column(in, p); err != nil {
			return nil, err
		}
		if p.Base() == schema.Elem {
			return nil, fmt.Errorf("path %q is the elements of a list: drop the list", p)
		}
	}
	if err := leftOver("", in.Fields, d.Paths); err != nil {
		return nil, err
	}
	return &Plan{Drops: slices.Clone(d.Paths)}, nil
}

// leftOver returns an error where dropping paths leaves nothing of parent or of a struct below it.
func leftOver(parent schema.Path, fields []schema.Field, drops []schema.Path) error {
	left := 0
	for _, f := range fields {
		p := parent.Field(f.Name)
		if slices.Contains(drops, p) {
			continue
		}
		left++
		t := f.Type
		for t.Kind == schema.List && len(t.Fields) == 1 {
			p, t = p.Elem(), t.Fields[0].Type
		}
		if t.Kind != schema.Struct {
			continue
		}
		if err := leftOver(p, t.Fields, drops); err != nil {
			return err
		}
	}
	switch {
	case left > 0 || len(fields) == 0:
		return nil
	case parent == "":
		return errors.New("no column is left")
	}
	return fmt.Errorf("nothing is left of %q: drop it as a whole", parent)
}

func newDrop(args Args) (RowStep, error) {
	r := newArgs("drop", args)
	return r.done(Drop{Paths: r.paths("path")})
}
