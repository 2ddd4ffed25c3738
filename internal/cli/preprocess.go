package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/recipe"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// A preprocess is one run of the command.
type preprocess struct {
	datasetRun
	choice recipe.Choice
}

func newPreprocess(a *app) *cobra.Command {
	p := &preprocess{datasetRun: datasetRun{app: a, Options: build.Options{Target: rule.DefaultTarget()}}}
	cmd := &cobra.Command{
		Use:   "preprocess RECIPE",
		Short: "convert a published dataset into checked shards for training",
		Long: `Reads a raw dataset, applies a recipe, checks the rows against the requirements of the trainer's agent loop, reward and
trace, and writes shards with a manifest. Without --source it downloads the dataset from the Hub, into the Hub's cache.
DIR appears complete or not at all, by one rename. After an interruption the same command resumes. The output bytes
depend only on the input and the options.

'rlprep list recipes' lists the recipes, 'rlprep explain RECIPE' describes the rows that one writes.`,
		Example: `  rlprep preprocess gsm8k -o data/gsm8k
  rlprep preprocess gsm8k_tool_agent_loop --source data/gsm8k/ -o out/
  rlprep preprocess gsm8k --source train.jsonl --split train --shards 4 --agent tool_agent`,
		Args:        exactArgs("RECIPE"),
		Annotations: exits(ExitClean, ExitFindings, ExitUsage, ExitFile, ExitInterrupted),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return recipe.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			p.start = time.Now()
			if p.choice.Recipe, err = recipe.Find(args[0]); err != nil {
				return err
			}
			for flag, to := range map[string]**string{"system": &p.choice.System, "instruction": &p.choice.Instruction} {
				if text, _ := cmd.Flags().GetString(flag); cmd.Flags().Changed(flag) { // an empty text has a meaning
					*to = &text
				}
			}
			return p.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&p.input.sources, "source", nil, "file, directory or glob of the raw dataset, here or at hf://datasets/OWNER/NAME[@REVISION]/PATH; repeatable (default: the recipe's own)")
	p.register(f, "./RECIPE")
	f.BoolVar(&p.choice.Demo, "demo", false, "use the small built-in dataset")
	f.StringVar(&p.choice.Agent, "agent", "", "agent loop that runs every row: adds or sets agent_name")
	f.StringVar(&p.choice.DataSource, "data-source", "", "data_source of every row, which selects the scorer")
	f.Int64Var(&p.choice.IndexStart, "index-start", 0, "extra_info.index of the first row of each split")
	f.StringVar(&p.choice.IndexScope, "index-scope", "split", "split: the index starts again in each split; run: it continues over all splits of the dataset")
	f.StringVar(&p.choice.Target, "target", "", "write the rows of a later verl, if its script changed, and check against it: "+rule.TargetNames()+" (default: rows of January 2026, checked against "+rule.DefaultTarget().String()+")")
	f.BoolVar(&p.choice.Fixed, "fixed", false, "fix the known faults of the recipe (see 'rlprep explain RECIPE')")
	f.String("system", "", "system message of every row, instead of the recipe's ('': none); may contain {{column}}")
	f.String("instruction", "", "text after the question, instead of the recipe's instruction ('': none); may contain {{column}}")
	return cmd
}

func (p *preprocess) run(ctx context.Context) error {
	p.Name = p.choice.Recipe.Name
	if p.Out == "" {
		p.Out = "./" + p.Name
	}
	p.choice.Named = len(p.input.sources) > 0 || p.input.filesFrom != ""
	if err := p.choice.Check(&p.Options); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	if err := p.resolve(ctx); err != nil {
		return err
	}
	defer p.Source.Close()
	p.choice.Fill(&p.Options)
	return p.make(ctx)
}

// resolve finds the input.
func (p *preprocess) resolve(ctx context.Context) error {
	args := p.input.sources
	if p.choice.ByDefault() {
		args = []string{p.choice.Recipe.Source}
	}
	spec, err := p.input.spec(p.app, args)
	if err != nil {
		return err
	}
	if err := p.choice.Spec(&spec); err != nil {
		return err
	}
	spec.TempDir = output.TempDir(p.Out)
	if p.Source, err = p.app.resolve(ctx, "--source", spec); err != nil {
		if err = asInput(err); p.choice.ByDefault() && errors.As(err, new(*hub.Error)) {
			err = fmt.Errorf("%w; or name files that you have with --source FILE|DIR|GLOB, or try --demo", err)
		}
		return err
	}
	if err := input.HasColumns(p.Source); err != nil {
		return err
	}
	if p.choice.Counts() {
		if err := p.countSplits(ctx, spec); err != nil {
			return err
		}
	}
	p.tellUnused()
	return nil
}

// countSplits lets the index continue over all splits, also those that --split leaves out.
func (p *preprocess) countSplits(ctx context.Context, spec source.Spec) error {
	all := p.Source
	if spec, more := recipe.AllSplits(spec); more {
		set, err := p.app.resolve(ctx, "--source", spec)
		if err != nil {
			return asInput(err)
		}
		defer set.Close()
		all = set
	}
	p.choice.Continue(all)
	return nil
}
