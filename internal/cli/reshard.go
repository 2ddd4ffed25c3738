package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/misuse"
)

// A reshard is one run of the command.
type reshard struct {
	app       *app
	out       string
	filesFrom string
	limits    readLimits
	size      sizeFlags
	hfText    string
	workers   int
	asJSON    bool
}

func newReshard(a *app) *cobra.Command {
	r := &reshard{app: a}
	cmd := &cobra.Command{
		Use:   "reshard FILES…",
		Short: "change the number or size of Parquet files",
		Long: `Writes the rows of Parquet files, in the order of the file names, into files of another number or size. Row groups are
copied undecoded. A row group is split and encoded again only if a file must end inside it; the summary names these.

  --shards N         N files for each split, with nearly equal row counts; a file ends at a row group border if that keeps
                     it within 5 % of the average size
  --shard-rows N     files of exactly N rows; the last of a split may have fewer
  --shard-size SIZE  files of at most about SIZE bytes, of whole row groups; only a larger row group is split

Files are named SPLIT-00000-of-00008.parquet; the input file names give the split, as in preprocess. DIR must not exist:
it appears complete, by one rename. All files must have the same columns; metadata comes from the first.`,
		Example: `  rlprep reshard 'data/train-*.parquet' --shards 8 -o out/
  rlprep reshard train.parquet --shard-rows 100000 -o out/
  rlprep reshard data/ --shard-size 500MB -o out/`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitUsage, ExitFile, ExitInterrupted),
		RunE:        func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVarP(&r.out, "out", "o", "", "directory to write; it must not exist")
	r.size.register(f)
	f.Lookup("shards").Usage = "write each split as exactly N files"
	f.StringVar(&r.filesFrom, "files-from", "", "read file names from LIST, one a line (-: standard input)")
	r.limits.register(f)
	f.StringVar(&r.hfText, "hf-metadata", "auto", hfUsage)
	f.IntVarP(&r.workers, "jobs", "j", 0, "workers (default: one a core); the bytes written are the same for any number")
	f.BoolVar(&r.asJSON, "json", false, "print the result as JSON")
	return cmd
}

func (r *reshard) run(ctx context.Context, args []string) error {
	hf, err := edit.ParseHFPolicy(r.hfText)
	if err != nil {
		return err
	}
	size, err := r.size.size()
	switch {
	case err != nil:
		return err
	case !r.size.asked():
		return misuse.Errorf("no size: say --shards N, --shard-rows N or --shard-size SIZE")
	case len(args) == 0 && r.filesFrom == "":
		return misuse.Errorf("no files: name the Parquet files to reshard")
	case r.out == "":
		return misuse.Errorf("no directory to write to: name a new one with -o DIR")
	}
	set, err := openParquet(ctx, r.app, args, r.filesFrom, "reshard", r.limits.limits())
	if err != nil {
		return err
	}
	defer set.Close()
	res, err := edit.Reshard(ctx, edit.ReshardOptions{Source: set, Out: r.out, Size: size, HF: hf, Workers: r.workers, Guard: &r.app.guard, Version: version(), Watch: r.app.watch})
	if err != nil {
		return asInput(asUsage(err))
	}
	return r.summarize(res)
}

func (r *reshard) summarize(res *edit.Resharded) error {
	s := res.Summary(r.out)
	if r.asJSON {
		return printJSON(r.app.stdout, s)
	}
	if !r.app.quiet {
		s.Print(r.app.stderr)
	}
	return nil
}
