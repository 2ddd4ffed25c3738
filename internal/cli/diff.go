package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/diff"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// A diffing is one run of the command.
type diffing struct {
	app    *app
	key    string
	opt    diff.Options
	split  []string
	limits readLimits
	asJSON bool
}

func newDiff(a *app) *cobra.Command {
	d := &diffing{app: a}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "compare two data sets: schema, metadata, rows, values",
		Long: `Compares files, or folders split by split: columns and their order, types, metadata, numbers of rows, and every value,
row by row or by a key. The number of files, their row groups and encodings do not matter. Nullability, and metadata that
only describes a writer's view of the columns (ARROW:schema, huggingface, pandas, content_defined_chunking), are notes;
with --strict they are differences. Exit status 1 means that the sides differ.`,
		Example: `  rlprep diff verl-out/ out/
  rlprep diff old.parquet new.parquet --key extra_info.index
  rlprep diff out/ hf://datasets/OWNER/NAME --json | jq '.splits[].differences'`,
		Args:        exactArgs("OLD", "NEW"),
		Annotations: exits(ExitClean, ExitFindings, ExitUsage, ExitFile, ExitInterrupted),
		RunE:        func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args[0], args[1]) },
	}
	f := cmd.Flags()
	f.StringVar(&d.key, "key", "", "pair rows by their value at PATH, which must be unique, instead of by position")
	f.StringArrayVar(&d.split, "split", nil, "compare only these splits; repeatable")
	d.limits.register(f)
	f.IntVar(&d.opt.Values, "values", 10, "how many values that differ are shown for each split")
	f.BoolVar(&d.opt.Strict, "strict", false, "treat notes as differences")
	f.BoolVar(&d.asJSON, "json", false, "print an object")
	return cmd
}

func (d *diffing) run(ctx context.Context, old, new string) error {
	if d.opt.Values < 0 {
		return misuse.Errorf("--values %d: give a number of values", d.opt.Values)
	}
	if d.key != "" {
		p, err := schema.ParsePath(d.key)
		if err != nil {
			return misuse.Errorf("--key: %v", err)
		}
		d.opt.Key = p
	}
	a, err := d.open(ctx, old)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := d.open(ctx, new)
	if err != nil {
		return err
	}
	defer b.Close()
	out, err := diff.Sets(source.Together(ctx), a, b, d.opt)
	if err != nil {
		return asUsage(err)
	}
	out.Old, out.New = old, new
	if d.asJSON {
		err = printJSON(d.app.stdout, out)
	} else {
		out.Print(d.app.stdout)
	}
	if err == nil && !out.Same {
		err = errFindings
	}
	return err
}

func (d *diffing) open(ctx context.Context, name string) (*source.Set, error) {
	in := inputFlags{splits: d.split, limits: d.limits}
	spec, err := in.spec(d.app, []string{name})
	if err != nil {
		return nil, err
	}
	spec.Hash = false
	set, err := d.app.resolve(ctx, "OLD and NEW", spec)
	return set, asInput(err)
}
