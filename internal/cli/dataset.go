package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/machine"
	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// A datasetRun is one run of a command that makes a data set: the flags and texts that preprocess, run and map have in common. The work is
// internal/build's.
type datasetRun struct {
	build.Options
	app     *app
	input   inputFlags
	size    sizeFlags
	dryRun  bool
	asJSON  bool
	columns bool // a dry run says what is copied and what is decoded
	start   time.Time
}

// register adds the flags of every such command; o describes the default of --out.
func (b *datasetRun) register(f *pflag.FlagSet, o string) {
	b.input.register(f)
	f.StringVarP(&b.Out, "out", "o", "", "directory to write (default "+o+"); missing splits are added to an existing one")
	f.BoolVar(&b.Force, "force", false, "replace splits that were made with other options")
	f.Int64Var(&b.Limit, "limit", 0, "take only the first N rows of each split (0: all)")
	b.size.register(f)
	f.StringVar(&b.Compression, "compression", "zstd", "zstd, snappy, none, or keep (the codec of the source)")
	f.IntVarP(&b.Workers, "jobs", "j", 0, "workers (default: one a core); the bytes written are the same for any number")
	f.StringVar(&b.MaxRejects, "max-rejects", "0", "continue if at most N rows, or P%, are rejected")
	f.StringVar(&b.Rejects, "rejects", "", "write rejected rows to FILE, as JSON Lines")
	registerKnown(f, &b.KnownAgents, &b.KnownSources)
	f.BoolVar(&b.dryRun, "dry-run", false, "show the plan, the schema and the first rows before and after; write nothing")
	f.BoolVar(&b.asJSON, "json", false, "print the summary as a JSON object on standard output")
}

// check says what is wrong with the flags, before anything is opened.
func (b *datasetRun) check() (err error) {
	if b.Size, err = b.size.size(); err != nil {
		return err
	}
	b.input.skipBroken = b.ToleratesRejects()
	return asUsage(b.Check())
}

// make does it, or with --dry-run shows what it would do.
func (b *datasetRun) make(ctx context.Context) error {
	if err := b.declare(); err != nil {
		return err
	}
	b.Version = version()
	b.Watch = b.app.watch
	if b.Maps() {
		machine.CollectLess()
	}
	made, err := build.New(ctx, b.Options)
	if err != nil {
		return asUsage(err)
	}
	if b.dryRun {
		defer b.warnUnknown()
		return b.preview(ctx, made)
	}
	res, err := made.Run(ctx)
	return b.report(res, err)
}

// declare says what will be written, before anything is.
func (b *datasetRun) declare() error {
	var replaced []string
	if _, have, err := shard.Existing(b.Out); err == nil && have != nil {
		replaced = have.Replaced(b.Out, b.Splits())
	}
	if err := b.app.writesDir("-o", b.Out, replaced); err != nil || b.Rejects == "" {
		return err
	}
	if overwrite.Within(b.Rejects, b.Out) {
		return withCode(ExitUsage, fmt.Errorf("--rejects %s is inside -o %s, which is written as a whole: name a file outside it", b.Rejects, b.Out))
	}
	return b.app.writesFile("--rejects", b.Rejects)
}

// report says what became of a run.
func (b *datasetRun) report(res *build.Result, err error) error {
	b.warnUnknown()
	if res.Report != nil {
		if printed := b.findings(res.Report); printed != nil {
			return printed
		}
	}
	switch {
	case err != nil:
		return b.failure(err)
	case res.Status == build.UpToDate:
		return b.upToDate(res.Manifest)
	case res.Status == build.Refused:
		if !b.app.quiet {
			escape.Fprintf(b.app.stderr, "%s was not written: the findings above are errors\n", b.Out)
		}
		return errFindings
	}
	return b.summarize(res)
}

func (b *datasetRun) upToDate(have *shard.Manifest) error {
	if !b.app.quiet {
		escape.Fprintf(b.app.stderr, "%s is up to date (dataset_sha256 %s)\n", b.Out, have.DatasetSHA256)
	}
	if b.asJSON {
		return printJSON(b.app.stdout, build.Summary{Out: b.Out, Status: "up to date", Manifest: have})
	}
	return nil
}

// unread adds to an error about a broken line what can be done about it.
func unread(err error) error {
	if f := (*source.FormatError)(nil); errors.As(err, &f) && f.OneLine {
		return fmt.Errorf("%w; --max-rejects N skips such lines, 'rlprep lint' lists all of them", err)
	}
	return err
}

// failure adds to an error about rejected rows what can be done about it.
func (b *datasetRun) failure(err error) error {
	if reject := (*pipeline.RejectError)(nil); !errors.As(err, &reject) {
		return asUsage(unread(err))
	}
	return withCode(ExitFindings, fmt.Errorf("%w; --max-rejects N skips such rows, --rejects FILE keeps them", err))
}

// warnUnknown names the keys of JSON Lines that no column has, as far as rows were read. A misspelt key is a column of nulls, so --quiet does
// not suppress it.
func (b *datasetRun) warnUnknown() {
	for _, text := range input.UnknownKeyTexts(b.Source) {
		escape.Fprintf(b.app.stderr, "warning: %s\n", text)
	}
}

// tellUnused names the files of a folder that were left out.
func (b *datasetRun) tellUnused() {
	for _, name := range b.Source.Unused {
		if !b.app.quiet {
			escape.Fprintf(b.app.stderr, "%s belongs to no split and was skipped\n", name)
		}
	}
}

// findings prints what the rules found, on standard output, unless that is the summary's.
func (b *datasetRun) findings(rep *pipeline.Report) error {
	w := b.app.raw
	if b.asJSON {
		w = b.app.stderr
	}
	r, err := report.New(nil, w, report.Options{Tool: version(), Targets: []rule.Target{b.Target}, Files: input.Names(b.Source), Rules: rule.All(), Fail: rule.Error, Color: b.app.color() && !b.asJSON})
	if err != nil || len(rep.Entries) == 0 {
		return err
	}
	for _, e := range rep.Entries {
		r.Add(report.Entry(e))
	}
	return r.Close()
}

func (b *datasetRun) summarize(res *build.Result) error {
	s := res.Summary(b.Out, b.Source, time.Since(b.start), machine.PeakMemory())
	if b.asJSON {
		return printJSON(b.app.stdout, s)
	}
	if !b.app.quiet {
		s.Print(b.app.stderr)
	}
	return nil
}

// previewRows is how many rows of each split --dry-run shows.
const previewRows = 2

// preview shows what a run would do.
func (b *datasetRun) preview(ctx context.Context, made *build.Build) error {
	plan, err := made.Plan()
	if err != nil {
		return asUsage(err)
	}
	return build.Preview(ctx, b.app.stdout, plan, previewRows, b.columns)
}
