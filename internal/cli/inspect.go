package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/inspect"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/source"
)

func newInspect(a *app) *cobra.Command {
	var asJSON, fetch bool
	var rows int
	var input inputFlags
	cmd := &cobra.Command{
		Use:   "inspect FILES…",
		Short: "show a file as the trainer sees it: schema, rows, layout, first chats",
		Long: `Shows the columns with the types that a trainer's loader gives them, the row groups, codecs and metadata, and the first
rows with their messages as chats.`,
		Example: `  rlprep inspect train.parquet
  rlprep inspect out/ --rows 1
  rlprep inspect hf://datasets/openai/gsm8k/main/train-00000-of-00001.parquet --json | jq '.[0].schema'`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitUsage, ExitFile),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && input.filesFrom == "" {
				return misuse.Errorf("no files: name the files to show, or a list of them with --files-from")
			}
			if rows < 0 {
				return misuse.Errorf("--rows %d: expected a number of rows", rows)
			}
			spec, err := input.spec(a, args)
			if err != nil {
				return err
			}
			spec.Lenient, spec.Hash, spec.Peek = true, false, !fetch
			a.remote.fetchHint = "run with --fetch"
			set, err := a.resolve(cmd.Context(), "FILES", spec)
			if err != nil {
				return asInput(err)
			}
			defer set.Close()
			if err := showFiles(cmd.Context(), a, set, rows, asJSON); err != nil {
				return asUsage(err)
			}
			return withCode(ExitFile, errors.Join(set.Errors...))
		},
	}
	input.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an array with an object for each file")
	cmd.Flags().IntVar(&rows, "rows", 2, "how many rows to show")
	cmd.Flags().BoolVar(&fetch, "fetch", false, "download whole files from the Hub into its cache, instead of reading parts of them")
	return cmd
}

// showFiles shows what can be read, and returns what cannot.
func showFiles(ctx context.Context, a *app, set *source.Set, rows int, asJSON bool) error {
	files, unread := inspect.Files(ctx, set, rows, asJSON)
	switch {
	case files == nil:
		return unread
	case asJSON:
		return errors.Join(printJSON(a.stdout, files), unread)
	}
	for i, f := range files {
		if i > 0 {
			escape.Fprintln(a.stdout)
		}
		f.Print(a.stdout)
	}
	return unread
}
