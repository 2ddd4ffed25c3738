package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/escape"
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
	hf, err := hfPolicy(r.hfText)
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

// A reshardSummary is what --json prints.
type reshardSummary struct {
	Out       string        `json:"out"`
	Rows      int64         `json:"rows"`
	Files     []reshardFile `json:"files"`
	Copied    int           `json:"chunks_copied"`
	Encoded   int           `json:"chunks_encoded"`
	Reencoded []reencoded   `json:"reencoded"`

	otherMetadata int // files whose metadata was left out
}

type reshardFile struct {
	Name      string `json:"name"`
	Rows      int64  `json:"rows"`
	RowGroups int    `json:"row_groups"`
	Bytes     int64  `json:"bytes"`
}

// A reencoded is rows of a row group that did not go out as they came.
type reencoded struct {
	File     string   `json:"file"`
	RowGroup int      `json:"row_group"`
	Rows     int64    `json:"rows"`
	Columns  []string `json:"columns"` // null: all
	Reason   string   `json:"reason"`
}

func (r *reshard) summarize(res *edit.Resharded) error {
	s := reshardSummary{Out: r.out, Rows: res.Report.RowsOut, Reencoded: []reencoded{}, otherMetadata: res.OtherMetadata}
	for _, rec := range res.Report.Records {
		s.Copied, s.Encoded = s.Copied+rec.Copied, s.Encoded+rec.Encoded
		s.Files = append(s.Files, reshardFile{rec.Name, rec.RowsOut, rec.RowGroups, rec.Bytes})
	}
	for _, d := range res.Plan.Decoded() {
		e := reencoded{File: res.Plan.Job.Input.Files()[d.File].Name, RowGroup: d.RowGroup, Rows: d.Rows, Reason: "a file ends within it"}
		if d.Whole {
			e.Reason = "the files differ in what may be null, or its writer stores it as others cannot"
		}
		for _, p := range d.Columns {
			e.Columns = append(e.Columns, string(p))
		}
		s.Reencoded = append(s.Reencoded, e)
	}
	if r.asJSON {
		return printJSON(r.app.stdout, s)
	}
	if !r.app.quiet {
		r.print(&s)
	}
	return nil
}

// maxReencoded is how many row groups the summary names.
const maxReencoded = 5

func (r *reshard) print(s *reshardSummary) {
	w := r.app.stderr
	escape.Fprintf(w, "%s: %s rows in %s\n", s.Out, amount.Thousands(s.Rows), amount.Of(len(s.Files), "file"))
	for i, f := range s.Files {
		if i == maxFileLines {
			escape.Fprintf(w, "  … %d more\n", len(s.Files)-i)
			break
		}
		escape.Fprintf(w, "  %-32s %9s rows %14s %9s\n", f.Name, amount.Thousands(f.Rows), amount.Of(f.RowGroups, "row group"), amount.Bytes(f.Bytes))
	}
	escape.Fprintf(w, "  column chunks: %d copied, %d encoded\n", s.Copied, s.Encoded)
	for i, e := range s.Reencoded {
		if i == maxReencoded {
			escape.Fprintf(w, "  … %d more were encoded again\n", len(s.Reencoded)-i)
			break
		}
		what := "all columns"
		if e.Columns != nil {
			what = strings.Join(e.Columns, ", ")
		}
		escape.Fprintf(w, "  encoded again: %s: row group %d (%s): %s: %s\n", e.File, e.RowGroup, amount.Of(int(e.Rows), "row"), what, e.Reason)
	}
	if n := s.otherMetadata; n > 0 {
		escape.Fprintf(w, "  %s had other metadata than the first, which was dropped\n", amount.Of(n, "file"))
	}
}
