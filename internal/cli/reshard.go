package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// A reshard is one run of the command.
type reshard struct {
	app       *app
	out       string
	filesFrom string
	size      sizeFlags
	hfText    string
	workers   int
	asJSON    bool

	src *fileSource
}

func newReshard(a *app) *cobra.Command {
	r := &reshard{app: a}
	cmd := &cobra.Command{
		Use:   "reshard FILES…",
		Short: "write the rows of Parquet files into more, fewer or evener files",
		Long: `Writes the rows of Parquet files, in the order of the files' names, into files of another number or size. Row groups are
copied undecoded; one is cut, and encoded anew, only where a file has to end within it. The summary names such row groups.

  --shards N         N files for each split, of nearly the same number of rows; a file ends between two row groups where
                     that is within 5 % of a file of the even border
  --shard-rows N     files of just N rows, the last of a split fewer
  --shard-size SIZE  files of about SIZE bytes at most, of whole row groups; only one that is larger is cut

Files are named SPLIT-00000-of-00008.parquet; the split is told by the names of the input, as preprocess does. DIR must be
new: it appears whole, by one rename. The files must have the same columns; they take their metadata from the first.`,
		Example: `  rlprep reshard 'data/train-*.parquet' --shards 8 -o out/
  rlprep reshard train.parquet --shard-rows 100000 -o out/
  rlprep reshard data/ --shard-size 500MB -o out/`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitUsage, ExitFile, ExitInterrupted),
		RunE:        func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVarP(&r.out, "out", "o", "", "directory to write; it must be new")
	r.size.register(f)
	f.Lookup("shards").Usage = "write each split as just N files"
	f.StringVar(&r.filesFrom, "files-from", "", "read names of files from LIST, one a line (-: standard input)")
	f.StringVar(&r.hfText, "hf-metadata", "auto", hfUsage)
	f.IntVarP(&r.workers, "jobs", "j", 0, "workers (default: one a core); the bytes written are the same for any number")
	f.BoolVar(&r.asJSON, "json", false, "print what was done as JSON")
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
		return usagef("no size: say --shards N, --shard-rows N or --shard-size SIZE")
	case len(args) == 0 && r.filesFrom == "":
		return usagef("no files: name the Parquet files to write anew")
	case r.out == "":
		return usagef("no directory to write to: name a new one with -o DIR")
	}
	if _, err := os.Lstat(r.out); !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s is there already: name a new directory with -o", r.out)
	}
	set, err := openParquet(ctx, r.app, args, r.filesFrom, "reshard")
	if err != nil {
		return err
	}
	defer set.Close()
	size.Along = true
	return r.write(ctx, r.job(set, size, hf))
}

func (r *reshard) job(set *source.Set, size pipeline.Size, hf parquetio.HFPolicy) *pipeline.Job {
	r.src = newFileSource(set)
	r.src.whole = true
	first := map[string]*parquetio.File{}
	for _, s := range r.src.splits {
		first[s.Name] = r.src.open[s.Files[0]].Parquet
	}
	return &pipeline.Job{
		Source: r.src,
		Splits: r.src.splits,
		Env:    (&knownFlags{}).env(rule.Any),
		Size:   size,
		Codec:  codecOf(set), AnyCodec: true, Keep: true,
		Workers:   r.workers,
		ShardName: shard.NameOf,
		Writer: func(split string, _ *rule.File) parquetio.WriterOptions {
			return parquetio.WriterOptions{CreatedBy: createdBy(), Base: first[split], HF: hf}
		},
	}
}

// write makes the directory.
func (r *reshard) write(ctx context.Context, j *pipeline.Job) error {
	sink := &stageSink{}
	j.Sink = sink // what is planned depends on that something is written
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		return asUsage(err)
	}
	if plan.Rows == 0 {
		return usagef("no rows: nothing to write")
	}
	sink.plan = plan
	if sink.stage, err = shard.NewStage(r.out); err != nil {
		return err
	}
	bar := newProgress(r.app.stderr, plan.Rows, r.app.quiet)
	j.Progress = bar.Rows
	rep, err := plan.Run(ctx)
	bar.Done()
	if err != nil {
		return asUsage(errors.Join(err, sink.stage.Abandon()))
	}
	if err := sink.stage.Publish(); err != nil {
		return err
	}
	return r.summarize(plan, rep)
}

// A reshardSummary is what --json prints.
type reshardSummary struct {
	Out       string        `json:"out"`
	Rows      int64         `json:"rows"`
	Files     []reshardFile `json:"files"`
	Copied    int           `json:"chunks_copied"`
	Encoded   int           `json:"chunks_encoded"`
	Reencoded []reencoded   `json:"reencoded"`
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

func (r *reshard) summarize(plan *pipeline.Plan, rep *pipeline.Report) error {
	s := reshardSummary{Out: r.out, Rows: rep.RowsOut, Reencoded: []reencoded{}}
	for _, rec := range rep.Records {
		s.Copied, s.Encoded = s.Copied+rec.Copied, s.Encoded+rec.Encoded
		s.Files = append(s.Files, reshardFile{rec.Name, rec.RowsOut, rec.RowGroups, rec.Bytes})
	}
	for _, d := range plan.Decoded() {
		e := reencoded{File: r.src.files[d.File].Name, RowGroup: d.RowGroup, Rows: d.Rows, Reason: "a file ends within it"}
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
	fmt.Fprintf(w, "%s: %s rows in %s\n", s.Out, thousands(s.Rows), counted(len(s.Files), "file"))
	for i, f := range s.Files {
		if i == maxFileLines {
			fmt.Fprintf(w, "  … %d more\n", len(s.Files)-i)
			break
		}
		fmt.Fprintf(w, "  %-32s %9s rows %14s %9s\n", f.Name, thousands(f.Rows), rowGroups(f.RowGroups), bytesText(f.Bytes))
	}
	fmt.Fprintf(w, "  column chunks: %d copied, %d encoded\n", s.Copied, s.Encoded)
	for i, e := range s.Reencoded {
		if i == maxReencoded {
			fmt.Fprintf(w, "  … %d more were encoded anew\n", len(s.Reencoded)-i)
			break
		}
		what := "all columns"
		if e.Columns != nil {
			what = strings.Join(e.Columns, ", ")
		}
		fmt.Fprintf(w, "  encoded anew: %s: row group %d (%s): %s: %s\n", e.File, e.RowGroup, counted(int(e.Rows), "row"), what, e.Reason)
	}
	if n := r.otherMetadata(); n > 0 {
		fmt.Fprintf(w, "  %s had other metadata than the first, which was left out\n", counted(n, "file"))
	}
}

// otherMetadata counts the files whose key-value metadata is not that of the first of their split.
func (r *reshard) otherMetadata() (n int) {
	for _, s := range r.src.splits {
		first := r.src.files[s.Files[0]].Metadata
		for _, f := range s.Files {
			for k, v := range r.src.files[f].Metadata {
				if k != "ARROW:schema" && first[k] != v {
					n++
					break
				}
			}
		}
	}
	return n
}

// A stageSink writes shards into a directory that appears when all are done.
type stageSink struct {
	stage *shard.Stage
	plan  *pipeline.Plan
}

// Record implements pipeline.Sink: nothing is taken up.
func (s *stageSink) Record(int) ([]byte, error) { return nil, nil }

// OpenSpill implements pipeline.Sink.
func (s *stageSink) OpenSpill(int) (*os.File, error) { return nil, errNoSide }

// Create implements pipeline.Sink.
func (s *stageSink) Create(task int) (pipeline.Shard, error) {
	part, err := shard.NewPart(s.stage.Path(s.plan.Tasks[task].Name))
	return &stagedShard{partShard{part: part}}, err
}

// A stagedShard is a shard in a stage.
type stagedShard struct{ partShard }

// Publish implements pipeline.Shard.
func (s *stagedShard) Publish(_ bool, record func(int64, string) ([]byte, error)) error {
	defer s.Discard()
	st, err := s.part.Stat()
	if err != nil {
		return err
	}
	if _, err := record(st.Size(), ""); err != nil {
		return err
	}
	if err := s.part.Sync(); err != nil {
		return err
	}
	s.done = true
	return s.part.Rename()
}
