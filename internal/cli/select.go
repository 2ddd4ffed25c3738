package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A selection is the edit of one run of select.
type selection struct{ paths []schema.Path }

func newSelect(a *app) *cobra.Command {
	e := &selection{}
	c := &columns{app: a, name: "select", edit: e}
	cmd := &cobra.Command{
		Use:   "select PATH[,PATH] FILES…",
		Short: "keep only these columns of Parquet files, undecoded",
		Long: `Keeps the columns that are named, or fields of structs at any depth, and leaves all others out. They keep their order.
Nothing is decoded: every column chunk that stays is copied byte for byte.`,
		Example: `  rlprep select prompt,data_source,reward_model train.parquet -o out/
  rlprep select prompt,extra_info.index 'data/*.parquet' --in-place
  rlprep select 'prompt[].content' train.parquet -o out/`,
	}
	c.register(cmd)
	return cmd
}

func (e *selection) String() string { return "select " + joinPaths(e.paths) }

func (e *selection) parse(args []string) (files []string, err error) {
	e.paths, files, err = leadingPaths(args, "such as: rlprep select prompt,data_source train.parquet -o out/")
	return files, err
}

func (e *selection) prepare([]*rule.File, bool) error { return nil }

func (e *selection) steps(_ context.Context, src *fileSource, i int, _ int64) ([]transform.Transform, []string, error) {
	f := src.files[i]
	for _, p := range e.paths {
		if _, ok := f.Schema.Lookup(p); !ok {
			return nil, nil, &usageError{fmt.Errorf("%s: %w", f.Name, transform.NoColumn(p, f.Schema))}
		}
	}
	drops := e.others("", f.Schema.Fields)
	if len(drops) == 0 {
		return nil, []string{"has just these columns"}, nil
	}
	return []transform.Transform{transform.Drop{Paths: drops}}, nil, nil
}

// others lists the columns below parent that hold nothing of what is kept.
func (e *selection) others(parent schema.Path, fields []schema.Field) []schema.Path {
	var out []schema.Path
	for _, f := range fields {
		out = append(out, e.othersAt(parent.Field(f.Name), f.Type)...)
	}
	return out
}

func (e *selection) othersAt(p schema.Path, t schema.Type) []schema.Path {
	below := false
	for _, want := range e.paths {
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
