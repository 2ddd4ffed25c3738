package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/machine"
	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
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
	return b.tell(res, err)
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

// tell says what became of a run.
func (b *datasetRun) tell(res *build.Result, err error) error {
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
	return b.summarize(res.Report, res.Manifest)
}

func (b *datasetRun) upToDate(have *shard.Manifest) error {
	if !b.app.quiet {
		escape.Fprintf(b.app.stderr, "%s is up to date (dataset_sha256 %s)\n", b.Out, have.DatasetSHA256)
	}
	if b.asJSON {
		return printJSON(b.app.stdout, summary{Out: b.Out, Status: "up to date", Manifest: have})
	}
	return nil
}

// failure adds to an error about rejected rows what can be done about it.
func (b *datasetRun) failure(err error) error {
	if reject := (*pipeline.RejectError)(nil); !errors.As(err, &reject) {
		return asUsage(err)
	}
	if b.Rejects != "" {
		return withCode(ExitFindings, fmt.Errorf("%w; --max-rejects N skips such rows, --rejects FILE keeps them", err))
	}
	return withCode(ExitFindings, fmt.Errorf("%w; --max-rejects N skips such rows, --rejects FILE keeps them", err))
}

// warnUnknown names the keys of JSON Lines that no column has, as far as rows were read. A misspelt key is a column of nulls, so --quiet does
// not suppress it.
func (b *datasetRun) warnUnknown() {
	keys := b.Source.UnknownKeys()
	for i, k := range keys {
		if i == maxNotes {
			escape.Fprintf(b.app.stderr, "warning: … %s without a column\n", amount.Of(len(keys)-i, "more key"))
			return
		}
		nearest := ""
		if k.Nearest != "" {
			nearest = fmt.Sprintf("; nearest column %q", k.Nearest)
		}
		where := k.Pos
		where.Path = ""
		escape.Fprintf(b.app.stderr, "warning: %s: key %q has no column and is not read%s\n", where, k.Pos.Path, nearest)
	}
}

// An unknownKey is one of them in the summary of --json.
type unknownKey struct {
	File    string      `json:"file"`
	Row     int64       `json:"row"`  // the first that has it
	Line    int64       `json:"line"` // and where that begins
	Key     schema.Path `json:"key"`
	Nearest schema.Path `json:"nearest,omitempty"`
}

func unknownKeys(set *source.Set) (out []unknownKey) {
	for _, k := range set.UnknownKeys() {
		out = append(out, unknownKey{k.Pos.File, k.Pos.Row, k.Pos.Line, k.Pos.Path, k.Nearest})
	}
	return out
}

// tellUnused names the files of a folder that were left out.
func (b *datasetRun) tellUnused() {
	for _, name := range b.Source.Unused {
		if !b.app.quiet {
			escape.Fprintf(b.app.stderr, "%s belongs to no split and was skipped\n", name)
		}
	}
}

// preview shows what a run would do.
func (b *datasetRun) preview(ctx context.Context, made *build.Build) error {
	plan, err := made.Plan()
	if err != nil {
		return asUsage(err)
	}
	w := b.app.stdout
	for _, t := range plan.Tasks {
		escape.Fprintf(w, "%s: %s rows from row %s in %s\n", t.Name, amount.Thousands(t.Rows), amount.Thousands(t.First), amount.Of(len(t.RowGroups), "row group"))
	}
	for _, s := range plan.Job.Splits {
		sc := plan.Schemas[s.Name]
		if sc == nil {
			continue
		}
		escape.Fprintf(w, "\nsplit %s\n", s.Name)
		for _, f := range sc.Fields {
			escape.Fprintf(w, "  %s\n", f)
		}
		if b.columns {
			if err := printFates(w, plan, s.Name); err != nil {
				return err
			}
		}
		v, err := plan.Preview(ctx, s.Name, 2)
		if err != nil {
			return err
		}
		for i, row := range v.Before {
			escape.Fprintf(w, "before: %s\n", escape.JSON(row))
			for _, after := range v.After[i] {
				escape.Fprintf(w, "after:  %s\n", escape.JSON(after))
			}
		}
		for _, r := range v.Rejected {
			where := r.Pos.String()
			if r.Where != "" {
				where = fmt.Sprintf("%s: row %d", r.Where, r.Number)
			}
			escape.Fprintf(w, "rejected: %s: %s [%s]\n", where, r.Message, r.Reason)
		}
	}
	return nil
}

// printFates says how the columns of a split come about.
func printFates(w io.Writer, plan *pipeline.Plan, split string) error {
	columns, decoded, err := plan.Columns(split)
	if err != nil {
		return err
	}
	for _, how := range []string{"copied", "encoded", "computed", "constant", "row numbers"} {
		var names []string
		for _, f := range columns {
			if f.How == how {
				names = append(names, string(f.Path))
			}
		}
		if len(names) > 0 {
			escape.Fprintf(w, "%s: %s\n", how, strings.Join(names, ", "))
		}
	}
	names := make([]string, len(decoded))
	for i, p := range decoded {
		names[i] = string(p)
	}
	if len(names) > 0 {
		escape.Fprintf(w, "decoded on the way: %s\n", strings.Join(names, ", "))
	}
	return nil
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

// A summary is what --json prints.
type summary struct {
	Out       string           `json:"out"`
	Status    string           `json:"status"` // "written", "up to date"
	RowsIn    int64            `json:"rows_in"`
	RowsOut   int64            `json:"rows_out"`
	Rejected  map[string]int64 `json:"rejected"`
	Resumed   int              `json:"tasks_resumed"`
	Copied    int              `json:"chunks_copied"`
	Encoded   int              `json:"chunks_encoded"`
	Bytes     int64            `json:"bytes"`
	Seconds   float64          `json:"seconds"`
	PeakBytes int64            `json:"peak_memory_bytes"`
	Unknown   []unknownKey     `json:"unknown_keys,omitempty"` // of JSON Lines, that no column has
	Manifest  *shard.Manifest  `json:"manifest"`
}

func (b *datasetRun) summarize(rep *pipeline.Report, m *shard.Manifest) error {
	s := summary{Out: b.Out, Status: "written", RowsIn: rep.RowsIn, RowsOut: rep.RowsOut, Rejected: rep.Dropped, Resumed: rep.Resumed,
		Seconds: time.Since(b.start).Seconds(), PeakBytes: machine.PeakMemory(), Unknown: unknownKeys(b.Source), Manifest: m}
	if other := s.Rejected["other-split"]; other > 0 { // a row is read for each split that it may go to, and is in one of them
		s.RowsIn -= other
		s.Rejected = maps.Clone(s.Rejected)
		delete(s.Rejected, "other-split")
	}
	for _, r := range rep.Records {
		s.Copied += r.Copied
		s.Encoded += r.Encoded
		s.Bytes += r.Bytes
	}
	if b.asJSON {
		return printJSON(b.app.stdout, s)
	}
	if !b.app.quiet {
		s.print(b.app.stderr)
	}
	return nil
}

func (s *summary) print(w io.Writer) {
	escape.Fprintf(w, "%s: %s rows in, %s out", s.Out, amount.Thousands(s.RowsIn), amount.Thousands(s.RowsOut))
	for _, k := range slices.Sorted(maps.Keys(s.Rejected)) {
		escape.Fprintf(w, ", %s left out (%s)", amount.Thousands(s.Rejected[k]), k)
	}
	escape.Fprintln(w)
	for _, f := range s.Manifest.Shards {
		escape.Fprintf(w, "  %-32s %9s rows %14s %9s\n", f.Name, amount.Thousands(f.Rows), amount.Of(f.RowGroups, "row group"), amount.Bytes(f.Bytes))
	}
	for _, x := range s.Manifest.Splits {
		if x.Rows == 0 {
			escape.Fprintf(w, "  split %s has no rows: no file\n", x.Name)
		}
	}
	if s.Resumed > 0 {
		escape.Fprintf(w, "  resumed from an earlier run: %d shards\n", s.Resumed)
	}
	escape.Fprintf(w, "  column chunks: %d copied, %d encoded; %s in %.1f s; peak memory %s; dataset_sha256 %s\n", s.Copied, s.Encoded,
		amount.Bytes(s.Bytes), s.Seconds, amount.Bytes(s.PeakBytes), s.Manifest.DatasetSHA256)
}
