package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A preprocess is one run of the command.
type preprocess struct {
	datasetRun
	recipe *datasets.Recipe

	demo       bool
	agent      string
	dataSource string
	indexStart int64
	indexScope string
	target     string
	fixed      bool
	system     string
	instruct   string
	given      func(flag string) bool // whether the user gave it

	form    rule.Target      // whose form the rows have
	offsets map[string]int64 // of extra_info.index, by split
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
			return recipeNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p.start = time.Now()
			if p.recipe = datasets.Find(args[0]); p.recipe == nil {
				return misuse.Unknown("recipe", args[0], recipeNames())
			}
			return p.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&p.input.sources, "source", nil, "file, directory or glob of the raw dataset, here or at hf://datasets/OWNER/NAME[@REVISION]/PATH; repeatable (default: the recipe's own)")
	p.register(f, "./RECIPE")
	f.BoolVar(&p.demo, "demo", false, "use the small built-in dataset")
	f.StringVar(&p.agent, "agent", "", "agent loop that runs every row: adds or sets agent_name")
	f.StringVar(&p.dataSource, "data-source", "", "data_source of every row, which selects the scorer")
	f.Int64Var(&p.indexStart, "index-start", 0, "extra_info.index of the first row of each split")
	f.StringVar(&p.indexScope, "index-scope", "split", "split: the index starts again in each split; run: it continues over all splits of the dataset")
	f.StringVar(&p.target, "target", "", "write the rows of a later verl, if its script changed, and check against it: "+rule.TargetNames()+" (default: rows of January 2026, checked against "+rule.DefaultTarget().String()+")")
	f.BoolVar(&p.fixed, "fixed", false, "fix the known faults of the recipe (see 'rlprep explain RECIPE')")
	f.StringVar(&p.system, "system", "", "system message of every row, instead of the recipe's ('': none); may contain {{column}}")
	f.StringVar(&p.instruct, "instruction", "", "text after the question, instead of the recipe's instruction ('': none); may contain {{column}}")
	p.given = f.Changed
	return cmd
}

func recipeNames() []string {
	var out []string
	for _, r := range datasets.All() {
		out = append(out, r.Name)
	}
	return out
}

func (p *preprocess) run(ctx context.Context) error {
	p.Name = p.recipe.Name
	if p.Out == "" {
		p.Out = "./" + p.Name
	}
	if err := p.checkAll(); err != nil {
		return err
	}
	if err := p.resolve(ctx); err != nil {
		return err
	}
	defer p.Source.Close()
	p.fill()
	return p.make(ctx)
}

// fill says to the production what the recipe and its options are.
func (p *preprocess) fill() {
	p.Kind, p.Expects = p.recipe.Rows, p.recipe.Expects
	p.Steps = func(split string) []transform.RowStep {
		return p.recipe.Steps(datasets.Options{Split: split, Agent: p.agent, DataSource: p.dataSource,
			IndexStart: p.indexStart + p.offsets[split], Target: p.form, Fixed: p.fixed,
			System: p.optional("system", p.system), Instruction: p.optional("instruction", p.instruct)})
	}
	if p.agent != "" {
		p.KnownAgents = append(p.KnownAgents, p.agent)
	}
	if p.dataSource != "" {
		p.KnownSources = append(p.KnownSources, p.dataSource)
	}
	p.Given = map[string]string{}
	set := func(name, value, def string) {
		if value != def {
			p.Given[name] = value
		}
	}
	set("agent", p.agent, "")
	set("data-source", p.dataSource, "")
	set("index-start", strconv.FormatInt(p.indexStart, 10), "0")
	set("index-scope", p.indexScope, "split")
	set("target", p.target, "")
	set("fixed", strconv.FormatBool(p.fixed), "false")
	for name, value := range map[string]string{"system": p.system, "instruction": p.instruct} {
		if p.given(name) {
			p.Given[name] = value
		}
	}
}

// optional is the value of a flag whose empty value has a meaning; nil where it was not given.
func (p *preprocess) optional(flag, value string) *string {
	if !p.given(flag) {
		return nil
	}
	return &value
}

func (p *preprocess) checkAll() error {
	switch {
	case p.demo && (len(p.input.sources) > 0 || p.input.filesFrom != ""):
		return misuse.Errorf("--demo has its own dataset: remove --source")
	case p.byDefault() && p.recipe.Source == "":
		return misuse.Errorf("no source: name the raw dataset with --source FILE|DIR|GLOB, or try --demo")
	case p.indexScope != "split" && p.indexScope != "run":
		return misuse.Errorf("--index-scope %s: expected split or run", p.indexScope)
	}
	if err := p.checkTarget(); err != nil {
		return err
	}
	return p.check()
}

// byDefault reports whether the user named no source, so that the recipe's own is taken.
func (p *preprocess) byDefault() bool {
	return !p.demo && len(p.input.sources) == 0 && p.input.filesFrom == ""
}

// checkTarget reads --target.
func (p *preprocess) checkTarget() error {
	if p.target == "" {
		return nil
	}
	t, err := rule.ParseTarget(p.target)
	if err != nil {
		return &misuse.Error{Err: err}
	}
	if !t.Within(p.recipe.Versions) {
		return misuse.Errorf("recipe %s does not exist in %s (only in verl %s): remove --target, or name an older version", p.recipe.Name, t, p.recipe.Versions)
	}
	p.Target, p.form = t, t
	return nil
}

// resolve finds the input.
func (p *preprocess) resolve(ctx context.Context) error {
	args := p.input.sources
	if p.byDefault() {
		args = []string{p.recipe.Source}
	}
	spec, err := p.input.spec(p.app, args)
	if err != nil {
		return err
	}
	if p.demo {
		if spec.Embedded, err = p.sample(); err != nil {
			return err
		}
	}
	for _, split := range p.recipe.Splits {
		for _, in := range p.recipe.Inputs(split) {
			spec.Layout = append(spec.Layout, source.SplitArg{Name: split, Glob: in.Glob})
		}
	}
	if in := p.recipe.Inputs(p.recipe.Splits[0]); len(in) > 0 {
		spec.Fields = func(string) []schema.Field { return in[0].Fields }
	}
	spec.TempDir = output.TempDir(p.Out)
	if p.Source, err = p.app.resolve(ctx, "--source", spec); err != nil {
		if err = asInput(err); p.byDefault() && errors.As(err, new(*hub.Error)) {
			err = fmt.Errorf("%w; or name files that you have with --source FILE|DIR|GLOB, or try --demo", err)
		}
		return err
	}
	if err := input.HasColumns(p.Source); err != nil {
		return err
	}
	if p.indexScope == "run" {
		if err := p.countSplits(ctx, spec); err != nil {
			return err
		}
	}
	p.tellUnused()
	return nil
}

// countSplits sets the index of each split's first row, counting on over all splits of the dataset in the recipe's order:
// also those that --split leaves out, so that a row has the same index whatever is selected.
func (p *preprocess) countSplits(ctx context.Context, spec source.Spec) error {
	all := p.Source
	if slices.ContainsFunc(spec.Splits, func(s source.SplitArg) bool { return s.Glob == "" }) {
		spec.Splits = slices.DeleteFunc(slices.Clone(spec.Splits), func(s source.SplitArg) bool { return s.Glob == "" })
		spec.Hash = false
		set, err := p.app.resolve(ctx, "--source", spec)
		if err != nil {
			return asInput(err)
		}
		defer set.Close()
		all = set
	}
	p.offsets = all.Offsets(p.recipe.Splits)
	return nil
}

// sample returns the files of the recipe's sample, which are in the binary.
func (p *preprocess) sample() ([]source.Embedded, error) {
	if p.recipe.Sample == nil {
		return nil, misuse.Errorf("recipe %s has no built-in sample: name the raw dataset with --source FILE|DIR|GLOB", p.recipe.Name)
	}
	var out []source.Embedded
	for _, split := range p.recipe.Splits {
		b, err := fs.ReadFile(p.recipe.Sample, split+".jsonl")
		if err != nil {
			return nil, fmt.Errorf("read the sample of recipe %s: %w", p.recipe.Name, err)
		}
		out = append(out, source.Embedded{Name: "sample/" + split + ".jsonl", Data: b})
	}
	return out, nil
}
