package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/recipe"
	"github.com/rlprep/rlprep/schema/rule"
)

// A preprocess is one run of the command.
type preprocess struct {
	datasetRun
	recipe recipeRun
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
		RunE: func(cmd *cobra.Command, args []string) error {
			p.start = time.Now()
			if err := p.recipe.find(args[0], &p.input); err != nil {
				return err
			}
			return p.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&p.input.sources, "source", nil, "file, directory or glob of the raw dataset, here or at hf://datasets/OWNER/NAME[@REVISION]/PATH; repeatable; of a recipe of several datasets KEY=PATH (default: the recipe's own)")
	p.register(f, "./RECIPE")
	f.BoolVar(&p.recipe.choice.Demo, "demo", false, "use the small built-in dataset")
	p.recipe.register(f)
	return cmd
}

func (p *preprocess) run(ctx context.Context) (err error) {
	p.Name = p.recipe.choice.Recipe.Name
	if p.Out == "" {
		p.Out = "./" + p.Name
	}
	if err := p.recipe.choice.Check(&p.Options); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	if p.Source, err = p.recipe.open(ctx, p.app, &p.input, output.TempDir(p.Out)); err != nil {
		return err
	}
	defer p.Source.Close()
	p.tellUnused()
	if err := p.recipe.choice.Fill(&p.Options); err != nil {
		return err
	}
	return p.make(ctx)
}
