package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/recipe"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// A recipeRun is a recipe as the flags of preprocess, and of 'init pipeline --from', choose it.
type recipeRun struct {
	choice recipe.Choice
	seed   int64
	texts  [2]string // --system, --instruction
	flags  *pflag.FlagSet
}

// register adds the flags of a recipe.
func (r *recipeRun) register(f *pflag.FlagSet) {
	c := &r.choice
	f.StringVar(&c.Agent, "agent", "", "agent loop that runs every row: adds or sets agent_name")
	f.StringVar(&c.DataSource, "data-source", "", "data_source of every row, which selects the scorer")
	f.Int64Var(&c.IndexStart, "index-start", 0, "extra_info.index of the first row of each split")
	f.StringVar(&c.IndexScope, "index-scope", "split", "split: the index starts again in each split; run: it continues over all splits of the dataset")
	f.StringVar(&c.Target, "target", "", "write the rows of a later verl, if its script changed, and check against it: "+rule.TargetNames()+" (default: rows of January 2026, checked against "+rule.DefaultTarget().String()+")")
	f.BoolVar(&c.Fixed, "fixed", false, "fix the known faults of the recipe, and add agent_name and extra_info.index where the script leaves them out")
	f.BoolVar(&c.Faithful, "faithful", false, "write the rows of the script to the letter, its silent faults included (see 'rlprep explain RECIPE')")
	f.StringVar(&r.texts[0], "system", "", "system message of every row, instead of the recipe's ('': none); may contain {{column}}")
	f.StringVar(&r.texts[1], "instruction", "", "text after the question, instead of the recipe's instruction ('': none); may contain {{column}}")
	f.StringArrayVar(&c.Params, "param", nil, "argument of the recipe's script, NAME=VALUE; repeatable (see 'rlprep explain RECIPE')")
	f.Int64Var(&r.seed, "seed", 0, "seed of the recipe's random draws (default: the script's own)")
	r.flags = f
}

// find takes the recipe of that name, and the flags whose empty value has a meaning where they were given.
func (r *recipeRun) find(name string, in *inputFlags) (err error) {
	c := &r.choice
	c.Sources, c.Listed, c.Selects = in.sources, in.filesFrom != "", len(in.splits) > 0
	for i, to := range []**string{&c.System, &c.Instruction} {
		if r.flags.Changed([]string{"system", "instruction"}[i]) {
			*to = &r.texts[i]
		}
	}
	if r.flags.Changed("seed") {
		c.Seed = &r.seed
	}
	c.Recipe, err = recipe.Find(name)
	return err
}

// open opens the files of all sources of the recipe, and finds out where its index begins.
func (r *recipeRun) open(ctx context.Context, a *app, in *inputFlags, temp string) (*source.Set, error) {
	set, err := r.resolve(ctx, a, in, temp, func(s source.Spec) source.Spec { return s })
	if err != nil || !r.choice.Counts() {
		return set, err
	}
	all := set
	if r.choice.Selects {
		if all, err = r.resolve(ctx, a, in, temp, func(s source.Spec) source.Spec { s, _ = recipe.AllSplits(s); return s }); err != nil {
			set.Close()
			return nil, err
		}
		defer all.Close()
	}
	r.choice.Continue(all)
	return set, nil
}

// resolve opens the files of all sources. change says what is other than the flags do.
func (r *recipeRun) resolve(ctx context.Context, a *app, in *inputFlags, temp string, change func(source.Spec) source.Spec) (_ *source.Set, err error) {
	args, err := r.choice.Args()
	if err != nil {
		return nil, err
	}
	var sets []*source.Set
	defer func() {
		if err != nil {
			for _, s := range sets {
				s.Close()
			}
		}
	}()
	for i := range r.choice.Recipe.Sources {
		s := &r.choice.Recipe.Sources[i]
		spec, err := in.spec(a, args[i])
		if err == nil {
			err = r.choice.Spec(s, &spec)
		}
		if err != nil {
			return nil, err
		}
		spec.TempDir = temp
		set, err := a.resolve(ctx, "--source", change(spec))
		if err != nil {
			if err = asInput(unread(err)); slices.Equal(args[i], []string{s.Hub}) && errors.As(err, new(*hub.Error)) {
				err = fmt.Errorf("%w; or name files that you have with --source FILE|DIR|GLOB, or try --demo", err)
			}
			return nil, err
		}
		sets = append(sets, set)
		if err := input.HasColumns(set); err != nil {
			return nil, err
		}
	}
	return r.choice.Joined(sets), nil
}
