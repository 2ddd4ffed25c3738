package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A production is one run that makes a data set: what preprocess, run and map have in common. They say what is read, by which
// steps, and how it is judged; a production plans, previews, writes and tells.
type production struct {
	app  *app
	name string // of what is made, as the manifest has it

	input       inputFlags
	known       knownFlags
	out         string
	limit       int64
	size        sizeFlags
	compression string
	workers     int
	maxRejects  string
	rejects     string
	force       bool
	dryRun      bool
	asJSON      bool

	base    *shard.Manifest // of an OUT that is there and gets more; nil: OUT is new
	set     *source.Set
	judged  rule.Target // that the rows are checked against
	rows    rule.Kind
	expects []string                                 // rules whose findings are at most warnings
	steps   func(split string) []transform.Transform // of a split
	derive  func(from string) []derived              // what a split of the input becomes; nil: itself
	fates   bool                                     // a dry run says what is copied and what is decoded
	asked   map[string]string                        // options beside those above that change what is written
	start   time.Time
}

// register adds the flags of every production; o describes the default of --out.
func (b *production) register(f *pflag.FlagSet, o string) {
	b.input.register(f)
	f.StringVarP(&b.out, "out", "o", "", "directory to write (default "+o+"); splits are added to one that is there")
	f.BoolVar(&b.force, "force", false, "replace splits that the directory has and that were made otherwise")
	f.Int64Var(&b.limit, "limit", 0, "take only the first N rows of each split (0: all)")
	b.size.register(f)
	f.StringVar(&b.compression, "compression", "zstd", "zstd, snappy, none, or keep: that of the source")
	f.IntVarP(&b.workers, "jobs", "j", 0, "workers (default: one a core); the bytes written are the same for any number")
	f.StringVar(&b.maxRejects, "max-rejects", "0", "go on although up to N rows, or P%, cannot be taken")
	f.StringVar(&b.rejects, "rejects", "", "write the rows that cannot be taken to FILE, as JSON Lines")
	b.known.register(f)
	f.BoolVar(&b.dryRun, "dry-run", false, "show the plan, the schema and the first rows before and after; write nothing")
	f.BoolVar(&b.asJSON, "json", false, "print the summary as a JSON object on standard output")
}

// check says what is wrong with the flags of every production.
func (b *production) check() error {
	if b.limit < 0 {
		return usagef("--limit %d: give a number of rows", b.limit)
	}
	if _, err := b.size.size(); err != nil {
		return err
	}
	if _, err := b.codec(); err != nil {
		return err
	}
	_, err := tolerance(b.maxRejects)
	return err
}

// make does it, or with --dry-run shows what it would do.
func (b *production) make(ctx context.Context) error {
	if err := b.learn(ctx); err != nil {
		return err
	}
	if b.dryRun {
		return b.preview(ctx)
	}
	wanted := b.manifest()
	done, err := b.finished(ctx, wanted)
	if done || err != nil {
		return err
	}
	return b.write(ctx, wanted)
}

// tellUnused names the files of a folder that were left out.
func (b *production) tellUnused() {
	for _, name := range b.set.Unused {
		if !b.app.quiet {
			fmt.Fprintf(b.app.stderr, "%s belongs to no split and was left out\n", name)
		}
	}
}

// options are those that change what is written, as the manifest has them.
func (b *production) options() map[string]string {
	o := map[string]string{"compression": b.compression}
	maps.Copy(o, b.asked)
	set := func(name, value, def string) {
		if value != def {
			o[name] = value
		}
	}
	set("limit", strconv.FormatInt(b.limit, 10), "0")
	maps.Copy(o, b.size.options())
	set("max-rejects", b.maxRejects, "0")
	return o
}

// job is the run, but for its sink.
func (b *production) job() *pipeline.Job {
	src := deriveSource(b.set, b.derive)
	src.whole = true // the pipeline cuts those of which nothing can be copied
	c, _ := b.codec()
	size, _ := b.size.size()
	t, _ := tolerance(b.maxRejects)
	j := &pipeline.Job{
		Source:  src,
		Splits:  src.splits,
		Steps:   b.steps,
		Rules:   rule.All(),
		Soften:  b.expects,
		Size:    size,
		Limit:   b.limit,
		Codec:   c,
		Workers: b.workers, MaxReject: t, KeepRejects: b.rejects != "",
		AnyCodec:  b.compression == "keep",
		FailLevel: rule.Error,
		ShardName: func(split string, i, of int) string {
			if !b.size.asked() {
				return shard.Name(split, 0, 1)
			}
			return shard.NameOf(split, i, of)
		},
		Writer: func(string, *rule.File) parquetio.WriterOptions {
			return parquetio.WriterOptions{CreatedBy: createdBy()}
		},
	}
	j.Env = b.known.env(b.rows)
	j.Env.Target = b.judged
	return j
}

// plan plans the run; what is planned depends on that something is written.
func (b *production) plan(sink pipeline.Sink) (*pipeline.Plan, error) {
	j := b.job()
	j.Sink = sink
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		return nil, asUsage(err)
	}
	if b.rows == rule.Any && len(j.Splits) > 0 {
		j.Env.Rows = kindOf(plan.Schemas[j.Splits[0].Name])
	}
	return plan, nil
}

// preview shows what a run would do.
func (b *production) preview(ctx context.Context) error {
	plan, err := b.plan(&dirSink{})
	if err != nil {
		return err
	}
	w := b.app.stdout
	for _, t := range plan.Tasks {
		fmt.Fprintf(w, "%s: %s rows from row %s in %s\n", t.Name, thousands(t.Rows), thousands(t.First), rowGroups(len(t.Units)))
	}
	for _, s := range plan.Job.Splits {
		sc := plan.Schemas[s.Name]
		if sc == nil {
			continue
		}
		fmt.Fprintf(w, "\nsplit %s\n", s.Name)
		for _, f := range sc.Fields {
			fmt.Fprintf(w, "  %s\n", f)
		}
		if b.fates {
			if err := printFates(w, plan, s.Name); err != nil {
				return err
			}
		}
		v, err := plan.Preview(ctx, s.Name, 2)
		if err != nil {
			return err
		}
		for i, row := range v.Before {
			fmt.Fprintf(w, "before: %s\n", row)
			for _, after := range v.After[i] {
				fmt.Fprintf(w, "after:  %s\n", after)
			}
		}
		for _, r := range v.Rejected {
			where := r.Pos.String()
			if r.Where != "" {
				where = fmt.Sprintf("%s: row %d", r.Where, r.Number)
			}
			fmt.Fprintf(w, "rejected: %s: %s [%s]\n", where, r.Message, r.Reason)
		}
	}
	return nil
}

// printFates says how the columns of a split come about.
func printFates(w io.Writer, plan *pipeline.Plan, split string) error {
	fates, decoded, err := plan.Fates(split)
	if err != nil {
		return err
	}
	for _, how := range []string{"copied", "encoded", "computed", "constant", "row numbers"} {
		var names []string
		for _, f := range fates {
			if f.How == how {
				names = append(names, string(f.Path))
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(w, "%s: %s\n", how, strings.Join(names, ", "))
		}
	}
	names := make([]string, len(decoded))
	for i, p := range decoded {
		names[i] = string(p)
	}
	if len(names) > 0 {
		fmt.Fprintf(w, "decoded on the way: %s\n", strings.Join(names, ", "))
	}
	return nil
}

// codec is that of what is encoded.
func (b *production) codec() (parquetio.Codec, error) {
	switch b.compression {
	case "zstd":
		return parquetio.Zstd, nil
	case "snappy":
		return parquetio.Snappy, nil
	case "none":
		return parquetio.None, nil
	case "keep":
		return codecOf(b.set), nil
	}
	return 0, usagef("unknown compression %q (zstd, snappy, none, keep)", b.compression)
}

// codecOf is the codec of the first Parquet file, Zstd where there is none.
func codecOf(set *source.Set) parquetio.Codec {
	if set != nil {
		for _, f := range set.Files() {
			if f.Parquet != nil {
				return f.Parquet.Codec()
			}
		}
	}
	return parquetio.Zstd
}

func tolerance(s string) (t pipeline.Tolerance, err error) {
	if n, ok := strings.CutSuffix(s, "%"); ok {
		t.Percent, err = strconv.ParseFloat(n, 64)
		if err != nil || t.Percent < 0 || t.Percent > 100 {
			return t, usagef("--max-rejects %s: expected a number of rows or a percentage", s)
		}
		return t, nil
	}
	if t.Rows, err = strconv.ParseInt(s, 10, 64); err != nil || t.Rows < 0 {
		return t, usagef("--max-rejects %s: expected a number of rows or a percentage", s)
	}
	return t, nil
}

// manifest is what is known of the data set before it is made, but for the hashes of its inputs.
func (b *production) manifest() *shard.Manifest {
	m := &shard.Manifest{Format: 1, Tool: "rlprep", Version: version(), Recipe: b.name, Options: b.options(), Inputs: []shard.InputFile{}}
	for _, s := range b.set.Splits {
		for _, f := range s.Files {
			m.Inputs = append(m.Inputs, shard.InputFile{Split: s.Name, Name: filepath.Base(f.Name), Bytes: f.Bytes, Source: f.Address()})
		}
	}
	return m
}

// hashInputs fills in the hashes of the inputs.
func (b *production) hashInputs(ctx context.Context, m *shard.Manifest) error {
	i := 0
	for _, s := range b.set.Splits {
		for _, f := range s.Files {
			var err error
			if m.Inputs[i].SHA256, err = f.SHA256(ctx); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}

// finished reports whether OUT is there and of this very plan.
func (b *production) finished(ctx context.Context, wanted *shard.Manifest) (bool, error) {
	if err := shard.Recover(b.out); err != nil {
		return false, err
	}
	exists, have, err := shard.Existing(b.out)
	if exists && have != nil && err == nil { // only then is it asked what the inputs hold, before it is known anyway
		if err := b.hashInputs(ctx, wanted); err != nil {
			return false, err
		}
	}
	switch {
	case errors.As(err, new(*fs.PathError)):
		return false, err
	case err != nil:
		return false, usagef("%v", err)
	case !exists:
		return false, nil
	case have == nil:
		return false, usagef("%s exists and is not a data set of rlprep: name a new directory with -o", b.out)
	case !have.SamePlan(wanted):
		b.base = have
		if split, how := have.Clash(wanted); split != "" && !b.force {
			return false, usagef("%s holds split %s of another plan (%s): --force replaces it, or name a new directory with -o", b.out, split, how)
		}
		return false, nil
	}
	if err := shard.Tidy(b.out); err != nil {
		return false, err
	}
	if !b.app.quiet {
		fmt.Fprintf(b.app.stderr, "%s is up to date (dataset_sha256 %s)\n", b.out, have.DatasetSHA256)
	}
	if b.asJSON {
		return true, printJSON(b.app.stdout, summary{Out: b.out, Status: "up to date", Manifest: have})
	}
	return true, nil
}

func createdBy() string { return "rlprep version " + version() }

// write does the work and makes OUT appear.
func (b *production) write(ctx context.Context, m *shard.Manifest) (err error) {
	sink := &dirSink{}
	plan, err := b.plan(sink)
	if err != nil {
		return err
	}
	if plan.Rows == 0 {
		return withCode(ExitFindings, errors.New("no rows: nothing to write"))
	}
	names := make([]string, len(plan.Tasks))
	for i, t := range plan.Tasks {
		names[i] = t.Name
	}
	if sink.Dir, err = shard.Open(b.out, b.planHash(m), names); err != nil {
		return err
	}
	plan.Job.TempDir = sink.Dir.TempDir()
	defer func() {
		if sink.Dir.Close() != nil && err == nil {
			err = fmt.Errorf("%s: give back the lock", b.out)
		}
	}()
	bar := newProgress(b.app.stderr, plan.Rows, b.app.quiet)
	plan.Job.Progress = bar.Rows
	ctx, cancel := context.WithCancel(ctx)
	hashed := make(chan error, 1)
	go func() { hashed <- b.hashInputs(ctx, m) }() // beside the work, which waits for disks and workers now and then
	rep, err := plan.Run(ctx)
	bar.Done()
	if err != nil {
		cancel()
	}
	hashErr := <-hashed
	cancel()
	if err != nil {
		return b.fail(sink.Dir, err)
	}
	if hashErr != nil {
		return hashErr
	}
	return b.finish(plan, rep, sink.Dir, m)
}

// fail cleans up after a run whose end is final: rows that cannot be taken stay so. Anything else may be taken up again.
func (b *production) fail(dir *shard.Dir, err error) error {
	var reject *pipeline.RejectError
	if !errors.As(err, &reject) {
		return asUsage(err)
	}
	if b.rejects != "" {
		err = fmt.Errorf("%w; --max-rejects N lets the run go on and --rejects keep such rows", err)
	} else {
		err = fmt.Errorf("%w; --max-rejects N leaves such rows out, --rejects FILE keeps them", err)
	}
	return withCode(ExitFindings, errors.Join(err, dir.Abandon()))
}

func (b *production) finish(plan *pipeline.Plan, rep *pipeline.Report, dir *shard.Dir, m *shard.Manifest) error {
	if err := b.findings(rep); err != nil {
		return err
	}
	if rep.Failed {
		if !b.app.quiet {
			fmt.Fprintf(b.app.stderr, "%s was not written: the rows would not train as they are\n", b.out)
		}
		if err := dir.Abandon(); err != nil {
			return err
		}
		return errFindings
	}
	final := describe(plan, rep, m, b.size.asked())
	if err := b.keepRejects(dir); err != nil {
		return err
	}
	if len(m.Shards) == 0 {
		return errors.Join(withCode(ExitFindings, errors.New("every row was left out: nothing to write")), dir.Abandon())
	}
	var err error
	if b.base != nil {
		m, err = dir.Replace(final, m, b.base)
	} else {
		err = dir.Finalize(final, m)
	}
	if err != nil {
		return err
	}
	return b.summarize(rep, m)
}

// findings prints what the rules found, on standard output, unless that is the summary's.
func (b *production) findings(rep *pipeline.Report) error {
	w := b.app.stdout
	if b.asJSON {
		w = b.app.stderr
	}
	r, err := report.New(nil, w, report.Options{Tool: version(), Targets: []rule.Target{b.judged}, Files: fileNames(b.set), Rules: rule.All(), Fail: rule.Error, Color: b.app.terminal && !b.asJSON})
	if err != nil || len(rep.Entries) == 0 {
		return err
	}
	for _, e := range rep.Entries {
		r.Add(report.Entry(e))
	}
	return r.Close()
}

func (b *production) keepRejects(dir *shard.Dir) error {
	if b.rejects == "" {
		return nil
	}
	f, err := os.Create(b.rejects + ".part")
	if err != nil {
		return err
	}
	err = errors.Join(dir.Rejects(f), f.Sync(), f.Close())
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), b.rejects)
}

// describe fills in what came out and returns the last names of the shards.
func describe(plan *pipeline.Plan, rep *pipeline.Report, m *shard.Manifest, numbered bool) []string {
	splits := make([]string, len(plan.Tasks))
	empty := make([]bool, len(plan.Tasks))
	m.Shards, m.Splits = []shard.ShardFile{}, []shard.SplitRows{}
	for i, t := range plan.Tasks {
		splits[i], empty[i] = t.Split, rep.Records[i].RowsOut == 0
	}
	final := shard.Final(splits, empty, numbered)
	for i, t := range plan.Tasks {
		r := rep.Records[i]
		at := slices.IndexFunc(m.Splits, func(s shard.SplitRows) bool { return s.Name == t.Split })
		if at < 0 {
			at = len(m.Splits)
			m.Splits = append(m.Splits, shard.SplitRows{Name: t.Split, Dropped: map[string]int64{}})
		}
		s := &m.Splits[at]
		s.RowsIn += r.RowsIn
		s.Rows += r.RowsOut
		for k, n := range r.Dropped {
			s.Dropped[k] += n
		}
		if final[i] != "" {
			m.Shards = append(m.Shards, shard.ShardFile{Name: final[i], Split: t.Split, Rows: r.RowsOut, RowGroups: r.RowGroups,
				Bytes: r.Bytes, SHA256: r.SHA256, Dropped: r.Dropped})
		}
	}
	m.DatasetSHA256 = shard.DatasetHash(m.Shards)
	return final
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
	Manifest  *shard.Manifest  `json:"manifest"`
}

func (b *production) summarize(rep *pipeline.Report, m *shard.Manifest) error {
	s := summary{Out: b.out, Status: "written", RowsIn: rep.RowsIn, RowsOut: rep.RowsOut, Rejected: rep.Dropped, Resumed: rep.Resumed,
		Seconds: time.Since(b.start).Seconds(), PeakBytes: peakMemory(), Manifest: m}
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
	fmt.Fprintf(w, "%s: %s rows in, %s out", s.Out, thousands(s.RowsIn), thousands(s.RowsOut))
	for _, k := range slices.Sorted(maps.Keys(s.Rejected)) {
		fmt.Fprintf(w, ", %s left out (%s)", thousands(s.Rejected[k]), k)
	}
	fmt.Fprintln(w)
	for _, f := range s.Manifest.Shards {
		fmt.Fprintf(w, "  %-32s %9s rows %14s %9s\n", f.Name, thousands(f.Rows), rowGroups(f.RowGroups), bytesText(f.Bytes))
	}
	for _, x := range s.Manifest.Splits {
		if x.Rows == 0 {
			fmt.Fprintf(w, "  split %s has no rows: no file\n", x.Name)
		}
	}
	if s.Resumed > 0 {
		fmt.Fprintf(w, "  taken up from an earlier run: %d shards\n", s.Resumed)
	}
	fmt.Fprintf(w, "  column chunks: %d copied, %d encoded; %s in %.1f s; peak memory %s; dataset_sha256 %s\n", s.Copied, s.Encoded,
		bytesText(s.Bytes), s.Seconds, bytesText(s.PeakBytes), s.Manifest.DatasetSHA256)
}

// planHash names the private place of what m says is to be made. What the inputs hold is not known yet: they are told by what tells
// them apart without being read whole.
func (b *production) planHash(m *shard.Manifest) string {
	parts := []string{m.Version, runtime.GOARCH, m.Recipe}
	for _, k := range slices.Sorted(maps.Keys(m.Options)) {
		parts = append(parts, k, m.Options[k])
	}
	for _, s := range b.set.Splits {
		for _, f := range s.Files {
			parts = append(parts, s.Name, filepath.Base(f.Name), f.Identity())
		}
	}
	return shard.PlanHash(parts...)
}

// existingDir is dir, or the nearest folder above it that is there: where temporary files go, on the output's file system.
func existingDir(dir string) string {
	for {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
