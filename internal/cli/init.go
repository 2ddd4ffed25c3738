package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/project"
	"github.com/rlprep/rlprep/internal/recipe"
	"github.com/rlprep/rlprep/internal/source"
)

func newInit(a *app) *cobra.Command {
	var out string
	var force bool
	var from fromRecipe
	cmd := &cobra.Command{
		Use:   "init [pipeline FILE]",
		Short: "write a first rlprep.yaml, or a first pipeline for a data file",
		Long: `Without arguments, looks for training, validation and test data in the current folder and the folders below, and writes
rlprep.yaml: the data sets that 'rlprep lint' checks, with other settings as comments.

With 'pipeline FILE', looks at a data file (or a folder or glob) and writes a pipeline for it. It guesses which column is
the question, which is the answer, and where the ground truth is. Read the result before you use it.

With 'pipeline --from RECIPE', writes a recipe, with its options, as a pipeline that makes the same files: 'rlprep run' runs
it, and every step of it is yours to change.`,
		Example: `  rlprep init
  rlprep init pipeline raw/train.jsonl
  rlprep init pipeline --from gsm8k --agent tool_agent`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitUsage, ExitFile),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var text string
			switch {
			case len(args) == 0:
				if err := from.unused(); err != nil {
					return err
				}
				out = cmp.Or(out, project.FileName)
				text, err = project.Draft(cmd.Context(), ".", a.guard.Read)
				err = asUsage(err)
			case args[0] != "pipeline":
				return misuse.Errorf("init %s: expected 'rlprep init', or 'rlprep init pipeline FILE'", args[0])
			case from.name != "":
				if err := exactArgs("pipeline")(cmd, args); err != nil {
					return err
				}
				out = cmp.Or(out, "pipeline.yaml")
				text, err = from.text(cmd.Context(), a, filepath.Dir(out))
			default:
				if err := from.unused(); err != nil {
					return err
				}
				if err := exactArgs("pipeline", "FILE")(cmd, args); err != nil {
					return err
				}
				out = cmp.Or(out, "pipeline.yaml")
				text, err = firstPipeline(cmd.Context(), a, args[1], filepath.Dir(out), &from.input.limits)
			}
			if err != nil {
				return err
			}
			return begin(cmd.Context(), a, out, text, force)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write; -: standard output (default rlprep.yaml, pipeline.yaml)")
	from.register(cmd.Flags())
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	return cmd
}

// begin writes text to the file out, which must not be there unless force is given, or to standard output.
func begin(ctx context.Context, a *app, out, text string, force bool) error {
	if out == "-" {
		_, err := io.WriteString(a.stdout, text)
		return err
	}
	if err := a.writesFile("--out", out); err != nil {
		return err
	}
	if _, err := os.Lstat(out); err == nil && !force {
		return misuse.Errorf("%s exists: name another file with --out, or give --force", out)
	}
	return output.WriteNamed(ctx, out, []byte(text))
}

// firstPipeline looks at the data that name names and returns a pipeline for it, whose own folder is dir.
func firstPipeline(ctx context.Context, a *app, name, dir string, limits *readLimits) (string, error) {
	set, err := a.resolve(ctx, "FILE", source.Spec{Args: []string{name}, Stdin: a.stdin, Limits: limits.limits()})
	if err != nil {
		return "", asInput(err)
	}
	defer set.Close()
	if len(set.Files()) == 0 {
		return "", misuse.Errorf("%s: no data in it", name)
	}
	f := set.Files()[0]
	sample := pipefile.Sample{Name: name, Dir: dir, Schema: f.Schema}
	if sample.First, err = f.FirstRow(ctx); err != nil {
		return "", err
	}
	sample.Sources = recipe.Files(set)
	return pipefile.Draft(&sample), nil
}

// A fromRecipe is a recipe, with its options, that becomes a pipeline file.
type fromRecipe struct {
	name   string
	input  inputFlags
	recipe recipeRun
	flags  []string // that are for it
}

func (r *fromRecipe) register(f *pflag.FlagSet) {
	r.input.limits.register(f)
	f.StringVar(&r.name, "from", "", "write this recipe as a pipeline, with the options below")
	mine := pflag.NewFlagSet("", pflag.ContinueOnError)
	mine.StringArrayVar(&r.input.sources, "source", nil, "file, directory or glob of the raw dataset; repeatable; of a recipe of several datasets KEY=PATH (default: the recipe's own on the Hub)")
	r.recipe.register(mine)
	mine.VisitAll(func(x *pflag.Flag) { r.flags = append(r.flags, x.Name) })
	f.AddFlagSet(mine)
	r.recipe.flags = f
}

// unused returns an error for a flag that is for recipes where none is named.
func (r *fromRecipe) unused() error {
	for _, name := range r.flags {
		if r.recipe.flags.Changed(name) {
			return misuse.Errorf("--%s is an option of a recipe: name one with --from", name)
		}
	}
	return nil
}

// text returns the pipeline file, whose own folder is dir.
func (r *fromRecipe) text(ctx context.Context, a *app, dir string) (string, error) {
	if err := r.recipe.find(r.name, &r.input); err != nil {
		return "", err
	}
	c := &r.recipe.choice
	if c.Generated() {
		return "", misuse.Errorf("recipe %s makes its rows itself: a pipeline has nothing to read", c.Recipe.Name)
	}
	if err := c.Check(&build.Options{}); err != nil {
		return "", err
	}
	if c.ByDefault() && !c.Counts() {
		return c.Pipeline(dir, nil).YAML(), nil
	}
	set, err := r.recipe.open(ctx, a, &r.input, "")
	if err != nil {
		return "", err
	}
	defer set.Close()
	if c.ByDefault() {
		return c.Pipeline(dir, nil).YAML(), nil
	}
	return c.Pipeline(dir, set).YAML(), nil
}
