package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/project"
	"github.com/rlprep/rlprep/internal/source"
)

func newInit(a *app) *cobra.Command {
	var out string
	var force bool
	var limits readLimits
	cmd := &cobra.Command{
		Use:   "init [pipeline FILE]",
		Short: "write a first rlprep.yaml, or a first pipeline for a data file",
		Long: `Without arguments, looks for training, validation and test data in the current folder and the folders below, and writes
rlprep.yaml: the data sets that 'rlprep lint' checks, with other settings as comments.

With 'pipeline FILE', looks at a data file (or a folder or glob) and writes a pipeline for it. It guesses which column is
the question, which is the answer, and where the ground truth is. Read the result before you use it.`,
		Example: `  rlprep init
  rlprep init pipeline raw/train.jsonl
  rlprep init pipeline train.parquet --out -`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitUsage, ExitFile),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var text string
			switch {
			case len(args) == 0:
				out = cmp.Or(out, project.FileName)
				text, err = project.Draft(cmd.Context(), ".", a.guard.Read)
				err = asUsage(err)
			case args[0] != "pipeline":
				return misuse.Unknown("thing to begin", args[0], []string{"pipeline"})
			default:
				if err := exactArgs("pipeline", "FILE")(cmd, args); err != nil {
					return err
				}
				out = cmp.Or(out, "pipeline.yaml")
				text, err = firstPipeline(cmd.Context(), a, args[1], filepath.Dir(out), &limits)
			}
			if err != nil {
				return err
			}
			return begin(cmd.Context(), a, out, text, force)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write; -: standard output (default rlprep.yaml, pipeline.yaml)")
	limits.register(cmd.Flags())
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
	for _, s := range set.Splits {
		from := pipefile.Source{Split: s.Name}
		for _, f := range s.Files {
			from.Names = append(from.Names, f.Name)
		}
		sample.Sources = append(sample.Sources, from)
	}
	return pipefile.Draft(&sample), nil
}
