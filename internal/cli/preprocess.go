package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/testdata/sample"
	"github.com/rlprep/rlprep/transform"
)

// A preprocess is one run of the command.
type preprocess struct {
	app    *app
	recipe *datasets.Recipe

	input       inputFlags
	known       knownFlags
	demo        bool
	out         string
	agent       string
	dataSource  string
	indexStart  int64
	indexScope  string
	target      string
	fixed       bool
	limit       int64
	shards      int
	compression string
	workers     int
	maxRejects  string
	rejects     string
	dryRun      bool
	asJSON      bool

	set     *source.Set
	judged  rule.Target      // that the rows are checked against
	form    rule.Target      // whose form they have
	offsets map[string]int64 // of extra_info.index, by split
	start   time.Time
}

func newPreprocess(a *app) *cobra.Command {
	p := &preprocess{app: a, judged: rule.DefaultTarget}
	cmd := &cobra.Command{
		Use:   "preprocess RECIPE",
		Short: "make a published dataset into checked shards for training",
		Long: `Reads a raw dataset, applies a recipe, checks the rows against what the trainer's agent loop, reward and trace really
demand, and writes shards with a manifest. Nothing becomes visible unless everything is right: DIR appears whole, by one
rename. A run that was ended, however it was, is taken up where it stood by the same command. The bytes written depend on
the input and the options alone.

'rlprep list recipes' names the recipes, 'rlprep explain RECIPE' tells what one gives.`,
		Example: `  rlprep preprocess gsm8k --demo
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
				return unknown("recipe", args[0], recipeNames())
			}
			return p.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&p.input.sources, "source", nil, "file, directory or glob of the raw dataset; repeatable")
	p.input.register(f)
	f.BoolVar(&p.demo, "demo", false, "use the small dataset that is built in")
	f.StringVarP(&p.out, "out", "o", "", "directory to write; it must be new, or of this very run (default ./RECIPE)")
	f.StringVar(&p.agent, "agent", "", "agent loop that runs every row: adds or sets agent_name")
	f.StringVar(&p.dataSource, "data-source", "", "data_source of every row, which selects the scorer")
	f.Int64Var(&p.indexStart, "index-start", 0, "extra_info.index of the first row of each split")
	f.StringVar(&p.indexScope, "index-scope", "split", "split: the index counts from the start in each split; run: on over all splits of the dataset, selected or not")
	f.StringVar(&p.target, "target", "", "give the form of a later verl where its script changed, and judge by it: verl@0.5 to verl@0.9, verl@0.9-v0 (default: January 2026's form, judged by verl@0.9)")
	f.BoolVar(&p.fixed, "fixed", false, "give the form without the faults that the recipe is known for (see 'rlprep explain RECIPE')")
	f.Int64Var(&p.limit, "limit", 0, "take only the first N rows of each split (0: all)")
	f.IntVar(&p.shards, "shards", 0, "write each split as just N files (default 1)")
	f.StringVar(&p.compression, "compression", "zstd", "zstd, snappy or none")
	f.IntVarP(&p.workers, "jobs", "j", 0, "workers (default: one a core); the bytes written are the same for any number")
	f.StringVar(&p.maxRejects, "max-rejects", "0", "go on although up to N rows, or P%, cannot be taken")
	f.StringVar(&p.rejects, "rejects", "", "write the rows that cannot be taken to FILE, as JSON Lines")
	p.known.register(f)
	f.BoolVar(&p.dryRun, "dry-run", false, "show the plan, the schema and the first rows before and after; write nothing")
	f.BoolVar(&p.asJSON, "json", false, "print the summary as a JSON object on standard output")
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
	if p.out == "" {
		p.out = "./" + p.recipe.Name
	}
	if err := p.check(); err != nil {
		return err
	}
	if err := p.resolve(ctx); err != nil {
		return err
	}
	defer p.set.Close()
	if p.dryRun {
		return p.preview(ctx)
	}
	wanted, err := p.manifest(ctx)
	if err != nil {
		return err
	}
	done, err := p.finished(wanted)
	if done || err != nil {
		return err
	}
	return p.write(ctx, wanted)
}

func (p *preprocess) check() error {
	switch {
	case p.shards < 0:
		return usagef("--shards %d: give a number of files", p.shards)
	case p.limit < 0:
		return usagef("--limit %d: give a number of rows", p.limit)
	case p.demo && (len(p.input.sources) > 0 || p.input.filesFrom != ""):
		return usagef("--demo brings its own dataset: leave out --source")
	case !p.demo && len(p.input.sources) == 0 && p.input.filesFrom == "":
		return usagef("no source: name the raw dataset with --source FILE|DIR|GLOB, or try --demo")
	}
	if p.indexScope != "split" && p.indexScope != "run" {
		return usagef("--index-scope %s: expected split or run", p.indexScope)
	}
	if err := p.checkTarget(); err != nil {
		return err
	}
	if _, err := codec(p.compression); err != nil {
		return err
	}
	_, err := tolerance(p.maxRejects)
	return err
}

// checkTarget reads --target.
func (p *preprocess) checkTarget() error {
	if p.target == "" {
		return nil
	}
	t, err := rule.ParseTarget(p.target)
	if err != nil {
		return &usageError{err}
	}
	if !t.Within(p.recipe.Versions) {
		return usagef("recipe %s: %s has it no more (it is of verl %s); leave out --target, or name an older one", p.recipe.Name, t, p.recipe.Versions)
	}
	p.judged, p.form = t, t
	return nil
}

// resolve finds the input.
func (p *preprocess) resolve(ctx context.Context) error {
	spec, err := p.input.spec(p.app, p.input.sources)
	if err != nil {
		return err
	}
	if p.demo {
		spec.Embedded = []source.Embedded{{Name: "sample/train.jsonl", Data: sampleFile("train.jsonl")}, {Name: "sample/test.jsonl", Data: sampleFile("test.jsonl")}}
	}
	for _, split := range p.recipe.Splits {
		for _, in := range p.recipe.Inputs(split) {
			spec.Layout = append(spec.Layout, source.SplitArg{Name: split, Glob: in.Glob})
		}
	}
	if in := p.recipe.Inputs(p.recipe.Splits[0]); len(in) > 0 {
		spec.Fields = func(string) []schema.Field { return in[0].Fields }
	}
	spec.TempDir = existingDir(filepath.Dir(filepath.Clean(p.out)))
	if p.set, err = source.Resolve(ctx, spec); err != nil {
		return asInput(err)
	}
	if err := hasColumns(p.set); err != nil {
		return err
	}
	if p.indexScope == "run" {
		if err := p.countSplits(ctx, spec); err != nil {
			return err
		}
	}
	for _, name := range p.set.Unused {
		if !p.app.quiet {
			fmt.Fprintf(p.app.stderr, "%s belongs to no split and was left out\n", name)
		}
	}
	return nil
}

// countSplits sets the index of each split's first row, counting on over all splits of the dataset in the recipe's order:
// also those that --split leaves out, so that a row has the same index whatever is selected.
func (p *preprocess) countSplits(ctx context.Context, spec source.Spec) error {
	all := p.set
	if slices.ContainsFunc(spec.Splits, func(s source.SplitArg) bool { return s.Glob == "" }) {
		spec.Splits = slices.DeleteFunc(slices.Clone(spec.Splits), func(s source.SplitArg) bool { return s.Glob == "" })
		spec.Hash = false
		set, err := source.Resolve(ctx, spec)
		if err != nil {
			return asInput(err)
		}
		defer set.Close()
		all = set
	}
	p.offsets = map[string]int64{}
	var rows int64
	count := func(name string) {
		if s, ok := all.Split(name); ok {
			p.offsets[name] = rows
			rows += s.Rows()
		}
	}
	for _, name := range p.recipe.Splits {
		count(name)
	}
	for _, s := range all.Splits {
		if !slices.Contains(p.recipe.Splits, s.Name) {
			count(s.Name)
		}
	}
	return nil
}

// preview shows what a run would do.
func (p *preprocess) preview(ctx context.Context) error {
	j := p.job()
	j.Sink = &dirSink{}
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		return asUsage(err)
	}
	w := p.app.stdout
	for _, t := range plan.Tasks {
		fmt.Fprintf(w, "%s: %s rows from row %s in %d row groups\n", t.Name, thousands(t.Rows), thousands(t.First), len(t.Units))
	}
	for _, s := range j.Splits {
		sc := plan.Schemas[s.Name]
		if sc == nil {
			continue
		}
		fmt.Fprintf(w, "\nsplit %s\n", s.Name)
		for _, f := range sc.Fields {
			fmt.Fprintf(w, "  %s\n", f)
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
			fmt.Fprintf(w, "rejected: %s: %s [%s]\n", r.Pos, r.Message, r.Reason)
		}
	}
	return nil
}

func codec(name string) (parquetio.Codec, error) {
	switch name {
	case "zstd":
		return parquetio.Zstd, nil
	case "snappy":
		return parquetio.Snappy, nil
	case "none":
		return parquetio.None, nil
	}
	return 0, usagef("unknown compression %q (zstd, snappy, none)", name)
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

// options are those that change what is written, as the manifest has them.
func (p *preprocess) options() map[string]string {
	o := map[string]string{"compression": p.compression}
	set := func(name, value, def string) {
		if value != def {
			o[name] = value
		}
	}
	set("agent", p.agent, "")
	set("data-source", p.dataSource, "")
	set("index-start", strconv.FormatInt(p.indexStart, 10), "0")
	set("index-scope", p.indexScope, "split")
	set("target", p.target, "")
	set("fixed", strconv.FormatBool(p.fixed), "false")
	set("limit", strconv.FormatInt(p.limit, 10), "0")
	set("shards", strconv.Itoa(p.shards), "0")
	set("max-rejects", p.maxRejects, "0")
	return o
}

// manifest is what is known of the data set before it is made: it says whether OUT is of this plan.
func (p *preprocess) manifest(ctx context.Context) (*shard.Manifest, error) {
	m := &shard.Manifest{Format: 1, Tool: "rlprep", Version: version(), Recipe: p.recipe.Name, Options: p.options(), Inputs: []shard.InputFile{}}
	for _, s := range p.set.Splits {
		for _, f := range s.Files {
			sum, err := f.SHA256(ctx)
			if err != nil {
				return nil, err
			}
			m.Inputs = append(m.Inputs, shard.InputFile{Split: s.Name, Name: filepath.Base(f.Name), Bytes: f.Bytes, SHA256: sum})
		}
	}
	return m, nil
}

// finished reports whether OUT is there and of this very plan.
func (p *preprocess) finished(wanted *shard.Manifest) (bool, error) {
	exists, have, err := shard.Existing(p.out)
	switch {
	case err != nil:
		return false, usagef("%v", err)
	case !exists:
		return false, nil
	case have == nil:
		return false, usagef("%s exists and is not a data set of rlprep: name a new directory with -o", p.out)
	case !have.SamePlan(wanted):
		return false, usagef("%s holds another plan (%s): name a new directory with -o, or remove it", p.out, have.Difference(wanted))
	}
	if err := shard.Tidy(p.out); err != nil {
		return false, err
	}
	if !p.app.quiet {
		fmt.Fprintf(p.app.stderr, "%s is up to date (dataset_sha256 %s)\n", p.out, have.DatasetSHA256)
	}
	if p.asJSON {
		return true, printJSON(p.app.stdout, summary{Out: p.out, Status: "up to date", Manifest: have})
	}
	return true, nil
}

// job is the run, but for its sink.
func (p *preprocess) job() *pipeline.Job {
	src := newFileSource(p.set)
	c, _ := codec(p.compression)
	t, _ := tolerance(p.maxRejects)
	j := &pipeline.Job{
		Source: src,
		Splits: src.splits,
		Steps: func(split string) []transform.Transform {
			return p.recipe.Steps(datasets.Options{Split: split, Agent: p.agent, DataSource: p.dataSource,
				IndexStart: p.indexStart + p.offsets[split], Target: p.form, Fixed: p.fixed})
		},
		Rules:   rule.All(),
		Soften:  p.recipe.Expects,
		Shards:  p.shards,
		Limit:   p.limit,
		Codec:   c,
		Workers: p.workers, MaxReject: t, KeepRejects: p.rejects != "",
		FailLevel: rule.Error,
		ShardName: func(split string, i, of int) string {
			if p.shards == 0 {
				return shard.Name(split, 0, 1)
			}
			return shard.NameOf(split, i, of)
		},
		Writer: func(string, *rule.File) parquetio.WriterOptions {
			return parquetio.WriterOptions{CreatedBy: createdBy()}
		},
	}
	j.Env = p.known.env(p.recipe.Rows)
	j.Env.Target = p.judged
	if p.agent != "" {
		j.Env.KnownAgents = append(j.Env.KnownAgents, p.agent)
	}
	if p.dataSource != "" {
		j.Env.KnownSources = append(j.Env.KnownSources, p.dataSource)
	}
	return j
}

func createdBy() string { return "rlprep version " + version() }

// write does the work and makes OUT appear.
func (p *preprocess) write(ctx context.Context, m *shard.Manifest) (err error) {
	j := p.job()
	sink := &dirSink{}
	j.Sink = sink // what is planned depends on that something is written
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		return asUsage(err)
	}
	if plan.Rows == 0 {
		return withCode(ExitFindings, errors.New("no rows: nothing to write"))
	}
	names := make([]string, len(plan.Tasks))
	for i, t := range plan.Tasks {
		names[i] = t.Name
	}
	if sink.Dir, err = shard.Open(p.out, planHash(m), names); err != nil {
		return err
	}
	defer func() {
		if sink.Dir.Close() != nil && err == nil {
			err = fmt.Errorf("%s: give back the lock", p.out)
		}
	}()
	bar := newProgress(p.app.stderr, plan.Rows, p.app.quiet)
	j.Progress = bar.Rows
	rep, err := plan.Run(ctx)
	bar.Done()
	if err != nil {
		return p.fail(sink.Dir, err)
	}
	return p.finish(plan, rep, sink.Dir, m)
}

// fail cleans up after a run whose end is final: rows that cannot be taken stay so. Anything else may be taken up again.
func (p *preprocess) fail(dir *shard.Dir, err error) error {
	var reject *pipeline.RejectError
	if !errors.As(err, &reject) {
		return asUsage(err)
	}
	if p.rejects != "" {
		err = fmt.Errorf("%w; --max-rejects N lets the run go on and --rejects keep such rows", err)
	} else {
		err = fmt.Errorf("%w; --max-rejects N leaves such rows out, --rejects FILE keeps them", err)
	}
	return withCode(ExitFindings, errors.Join(err, dir.Abandon()))
}

func (p *preprocess) finish(plan *pipeline.Plan, rep *pipeline.Report, dir *shard.Dir, m *shard.Manifest) error {
	if err := p.findings(rep); err != nil {
		return err
	}
	if rep.Failed {
		if !p.app.quiet {
			fmt.Fprintf(p.app.stderr, "%s was not written: the rows would not train as they are\n", p.out)
		}
		if err := dir.Abandon(); err != nil {
			return err
		}
		return errFindings
	}
	final := describe(plan, rep, m, p.shards > 0)
	if err := p.keepRejects(dir); err != nil {
		return err
	}
	if len(m.Shards) == 0 {
		return errors.Join(withCode(ExitFindings, errors.New("every row was left out: nothing to write")), dir.Abandon())
	}
	if err := dir.Finalize(final, m); err != nil {
		return err
	}
	return p.summarize(rep, m)
}

// findings prints what the rules found, on standard output, unless that is the summary's.
func (p *preprocess) findings(rep *pipeline.Report) error {
	w := p.app.stdout
	if p.asJSON {
		w = p.app.stderr
	}
	r, err := report.New(nil, w, report.Options{Tool: version(), Target: p.judged, Files: fileNames(p.set), Rules: rule.All(), Fail: rule.Error, Color: p.app.terminal && !p.asJSON})
	if err != nil || len(rep.Entries) == 0 {
		return err
	}
	for _, e := range rep.Entries {
		r.Add(report.Entry(e))
	}
	return r.Close()
}

func (p *preprocess) keepRejects(dir *shard.Dir) error {
	if p.rejects == "" {
		return nil
	}
	f, err := os.Create(p.rejects + ".part")
	if err != nil {
		return err
	}
	err = errors.Join(dir.Rejects(f), f.Sync(), f.Close())
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), p.rejects)
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

func (p *preprocess) summarize(rep *pipeline.Report, m *shard.Manifest) error {
	s := summary{Out: p.out, Status: "written", RowsIn: rep.RowsIn, RowsOut: rep.RowsOut, Rejected: rep.Dropped, Resumed: rep.Resumed,
		Seconds: time.Since(p.start).Seconds(), PeakBytes: peakMemory(), Manifest: m}
	for _, r := range rep.Records {
		s.Copied += r.Copied
		s.Encoded += r.Encoded
		s.Bytes += r.Bytes
	}
	if p.asJSON {
		return printJSON(p.app.stdout, s)
	}
	if !p.app.quiet {
		s.print(p.app.stderr)
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
		fmt.Fprintf(w, "  %-32s %9s rows %3d row groups %9s\n", f.Name, thousands(f.Rows), f.RowGroups, bytesText(f.Bytes))
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

// planHash names the private place of what m says is to be made.
func planHash(m *shard.Manifest) string {
	parts := []string{m.Version, runtime.GOARCH, m.Recipe}
	for _, k := range slices.Sorted(maps.Keys(m.Options)) {
		parts = append(parts, k, m.Options[k])
	}
	for _, f := range m.Inputs {
		parts = append(parts, f.Split, f.Name, f.SHA256)
	}
	return shard.PlanHash(parts...)
}

// hasColumns sees that the first row of each line file has every declared column: a key that is missing reads as null, and
// would else be found out row by row.
func hasColumns(set *source.Set) error {
	for _, f := range set.Files() {
		if f.Format == "parquet" || f.Rows == 0 {
			continue
		}
		seen := &schema.Schema{}
		for _, k := range f.Keys {
			seen.Fields = append(seen.Fields, schema.NewField(k, schema.StringType))
		}
		for _, c := range f.Schema.Fields {
			if _, i := seen.Column(c.Name); i < 0 {
				return usagef("%s: %v", f.Name, transform.NoColumn(schema.Path("").Field(c.Name), seen))
			}
		}
	}
	return nil
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

// sampleFile is a file of the dataset that is built in.
func sampleFile(name string) []byte {
	b, err := sample.Files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return b
}
