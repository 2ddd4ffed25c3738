package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A columnEdit is what add, drop, rename and select differ in.
type columnEdit interface {
	// parse reads the leading arguments that are the edit and returns the others, the names of files.
	parse(args []string) (files []string, err error)
	// prepare looks at all files before the first is planned.
	prepare(files []*rule.File, inPlace bool) error
	// steps are the transforms for one file, whose first row has that number in the call; none: nothing is to be done. notes
	// say of what needs no doing why.
	steps(ctx context.Context, src *fileSource, file int, first int64) (steps []transform.Transform, notes []string, err error)
	// String is the edit as it was asked for.
	String() string
}

// A columns is one run of such a command: the files, where they go and what became of them.
type columns struct {
	app       *app
	name      string
	edit      columnEdit
	filesFrom string
	out       string
	inPlace   bool
	force     bool
	workers   int
	hfText    string
	hf        parquetio.HFPolicy
	strip     func(file string) bool // files that lose the metadata of HF datasets whatever hf says; nil: none
	asJSON    bool

	set     *source.Set
	src     *fileSource
	targets []*target
	edits   map[string]*shard.Edits // by directory; nil: no manifest there
	stage   *shard.Stage            // of -o where it is a new directory
}

// A target is one file to be written.
type target struct {
	name   string
	file   string      // where it is written: name, or its place in the stage
	before os.FileInfo // --in-place: the file that is replaced
	plan   *pipeline.Plan
	notes  []string
	done   bool // --in-place: there is nothing to do
	rec    *pipeline.Record
	bytes  int64
}

// register adds the flags that the commands share.
func (c *columns) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&c.out, "out", "o", "", "directory to write to")
	f.BoolVar(&c.inPlace, "in-place", false, "replace the files themselves")
	f.StringVar(&c.filesFrom, "files-from", "", "read names of files from LIST, one a line (-: standard input)")
	f.BoolVar(&c.force, "force", false, "overwrite files in DIR")
	f.StringVar(&c.hfText, "hf-metadata", "auto", hfUsage)
	f.IntVarP(&c.workers, "jobs", "j", 0, "files at a time (default: one a core)")
	f.BoolVar(&c.asJSON, "json", false, "print what was done as JSON")
	cmd.Annotations = exits(ExitClean, ExitUsage, ExitFile, ExitInterrupted)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) }
}

func (c *columns) run(ctx context.Context, args []string) (err error) {
	files, err := c.edit.parse(args)
	if err != nil {
		return err
	}
	if err := c.check(files); err != nil {
		return err
	}
	if c.set, err = openParquet(ctx, c.app, files, c.filesFrom, c.name); err != nil {
		return err
	}
	defer c.set.Close()
	if err := c.carryOut(ctx); err != nil {
		return err
	}
	return c.summarize()
}

// carryOut does the edit over the files of the set.
func (c *columns) carryOut(ctx context.Context) (err error) {
	c.src = byName(c.set)
	if err := c.aim(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.closeEdits())
	}()
	if err := c.edit.prepare(c.src.files, c.inPlace); err != nil {
		return &usageError{err}
	}
	first := make([]int64, len(c.src.files)+1)
	for i, f := range c.src.files {
		first[i+1] = first[i] + f.Rows
	}
	// All files are planned before the first is written: what one of them refuses leaves all as they were.
	if err := each(ctx, c.workers, len(c.targets), func(ctx context.Context, i int) error { return c.plan(ctx, i, first[i]) }); err != nil {
		return asUsage(err)
	}
	return asUsage(c.writeAll(ctx, first[len(c.src.files)]))
}

// writeAll makes the files. A new directory appears whole; in one that was there, files are replaced one by one.
func (c *columns) writeAll(ctx context.Context, rows int64) error {
	if err := c.openStage(); err != nil {
		return err
	}
	bar := newProgress(c.app.stderr, rows, c.app.quiet)
	err := each(ctx, c.workers, len(c.targets), func(ctx context.Context, i int) error { return c.write(ctx, i, bar) })
	bar.Done()
	switch {
	case c.stage == nil:
		return c.partly(err)
	case err != nil:
		return errors.Join(err, c.stage.Abandon())
	}
	return c.stage.Publish()
}

// openStage prepares a directory that is to be made.
func (c *columns) openStage() error {
	if c.inPlace {
		return nil
	}
	if _, err := os.Lstat(c.out); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var err error
	if c.stage, err = shard.NewStage(c.out); err != nil {
		return err
	}
	for _, t := range c.targets {
		rel, err := filepath.Rel(c.out, t.name)
		if err != nil {
			return err
		}
		t.file = c.stage.Path(rel)
	}
	return nil
}

// partly says of an error after which files of the call had been written.
func (c *columns) partly(err error) error {
	n := 0
	for _, t := range c.targets {
		if t.rec != nil {
			n++
		}
	}
	if err == nil || n == 0 {
		return err
	}
	what := "the same command with --force writes all of them anew"
	if c.inPlace {
		what = "the same command goes on with the others"
	}
	return fmt.Errorf("%w (%d of %d files had been written: %s)", err, n, len(c.targets), what)
}

// check looks at the flags.
func (c *columns) check(files []string) error {
	var err error
	c.hf, err = hfPolicy(c.hfText)
	switch {
	case err != nil:
		return err
	case len(files) == 0 && c.filesFrom == "":
		return usagef("no files: name the Parquet files to edit")
	case c.out == "" && !c.inPlace:
		return usagef("no directory to write to: name one with -o DIR, or give --in-place")
	case c.out != "" && c.inPlace:
		return usagef("-o and --in-place: give one of them")
	}
	return nil
}

const hfUsage = "metadata of HF datasets: auto (kept where Arrow types cannot say it), strip, keep"

// hfPolicy reads --hf-metadata.
func hfPolicy(text string) (parquetio.HFPolicy, error) {
	switch text {
	case "auto":
		return parquetio.HFAuto, nil
	case "strip":
		return parquetio.HFStrip, nil
	case "keep":
		return parquetio.HFKeep, nil
	}
	return 0, usagef("unknown --hf-metadata %q (auto, strip, keep)", text)
}

// openParquet opens the files of a command that edits columns.
func openParquet(ctx context.Context, a *app, args []string, filesFrom, command string) (*source.Set, error) {
	for _, name := range args {
		if strings.HasPrefix(name, source.RemoteScheme) {
			return nil, usagef("%s: %s takes files of this machine: fetch it with 'hf download', or make it with 'rlprep run'", name, command)
		}
	}
	set, err := source.Resolve(ctx, source.Spec{Args: args, FilesFrom: filesFrom, Stdin: a.stdin, Lenient: true})
	if err != nil {
		return nil, asInput(err)
	}
	err = errors.Join(set.Errors...)
	if err != nil {
		err = asInput(err)
	}
	for _, f := range set.Files() {
		switch {
		case err != nil:
		case f.Format != "parquet":
			err = usagef("%s: %s takes Parquet files only; for %s use 'rlprep run'", f.Name, command, f.Format)
		case f.Name == "-" || f.Name == "<stdin>":
			err = usagef("%s reads files, not standard input: name one", command)
		}
	}
	if err == nil && len(set.Files()) == 0 {
		err = usagef("no files: name the Parquet files to edit")
	}
	if err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}

// byName is the source of a command that knows no splits: whole row groups, of files in the order of their names.
func byName(set *source.Set) *fileSource {
	s := &fileSource{whole: true, open: set.Files()}
	slices.SortStableFunc(s.open, func(a, b *source.File) int { return strings.Compare(a.Name, b.Name) })
	for i, f := range s.open {
		f.File.Index = i
		s.files = append(s.files, f.File)
		s.overhead = append(s.overhead, overhead(f))
	}
	return s
}

// aim says which file each input becomes: itself, or its name in -o, below the deepest folder that all inputs share.
func (c *columns) aim() error {
	names := make([]string, len(c.src.files))
	for i, f := range c.src.files {
		names[i] = f.Name
	}
	outs := names
	if !c.inPlace {
		var err error
		if outs, err = below(c.out, names); err != nil {
			return err
		}
	}
	c.edits = map[string]*shard.Edits{}
	for i, name := range outs {
		t := &target{name: name, file: name}
		c.targets = append(c.targets, t)
		err := c.aimAt(t, names[i])
		if err == nil {
			err = c.openEdits(t)
		}
		if err != nil {
			return errors.Join(err, c.closeEdits())
		}
	}
	return nil
}

func (c *columns) aimAt(t *target, from string) error {
	st, err := os.Lstat(t.name)
	if !c.inPlace {
		switch {
		case same(from, t.name):
			return usagef("%s: -o %s would write it over itself: name another directory, or give --in-place", from, c.out)
		case err == nil && !c.force:
			return usagef("%s is there already: --force overwrites it, or name another directory with -o", t.name)
		}
		return nil
	}
	switch {
	case err != nil:
		return err
	case st.Mode()&os.ModeSymlink != 0:
		return usagef("%s is a symbolic link, as files in the Hub cache are: others may rely on what it leads to; write a new file with -o DIR", t.name)
	case !st.Mode().IsRegular():
		return usagef("%s is no regular file: write a new one with -o DIR", t.name)
	}
	t.before = st
	return nil
}

// openEdits takes up the manifest beside a target.
func (c *columns) openEdits(t *target) error {
	dir := filepath.Dir(t.name)
	e, ok := c.edits[dir]
	if !ok {
		var err error
		if e, err = shard.OpenEdits(dir); err != nil {
			return err
		}
		c.edits[dir] = e
	}
	if e != nil && !c.inPlace && !e.Lists(filepath.Base(t.name)) {
		return usagef("%s holds a data set whose manifest does not list %s: name another directory with -o", dir, filepath.Base(t.name))
	}
	return nil
}

func (c *columns) closeEdits() error {
	var errs []error
	for dir, e := range c.edits {
		if e != nil {
			errs = append(errs, e.Close())
		}
		delete(c.edits, dir)
	}
	return errors.Join(errs...)
}

// below returns names in dir, each below the deepest folder that all of them share.
func below(dir string, names []string) ([]string, error) {
	var common string
	out := make([]string, len(names))
	for i, n := range names {
		var err error
		if out[i], err = filepath.Abs(n); err != nil {
			return nil, err
		}
		if i == 0 {
			common = filepath.Dir(out[0])
		}
		for up := filepath.Dir(common); common != up && !strings.HasPrefix(out[i], common+string(filepath.Separator)); up = filepath.Dir(common) {
			common = up
		}
	}
	for i, n := range out {
		rel, err := filepath.Rel(common, n)
		if err != nil {
			return nil, err
		}
		out[i] = filepath.Join(dir, rel)
	}
	return out, nil
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// plan settles what is done to one file.
func (c *columns) plan(ctx context.Context, i int, first int64) error {
	t := c.targets[i]
	steps, notes, err := c.edit.steps(ctx, c.src, i, first)
	if err != nil {
		return err
	}
	t.notes = notes
	t.done = c.inPlace && len(steps) == 0
	if t.done {
		return nil
	}
	t.plan, err = pipeline.NewPlan(&pipeline.Job{
		Source: c.src,
		Splits: []pipeline.Split{{Files: []int{i}}},
		Steps:  func(string) []transform.Transform { return steps },
		Env:    (&knownFlags{}).env(rule.Any),
		Sink:   &fileSink{run: c, to: t, file: i},
		Keep:   true, AnyCodec: true, Codec: parquetio.Zstd, Workers: c.unitWorkers(),
		ShardName: func(string, int, int) string { return filepath.Base(t.name) },
		Writer:    func(string, *rule.File) parquetio.WriterOptions { return c.writer(i) },
	})
	return err
}

// unitWorkers is how many row groups of a file are done at a time: files are done in parallel, a single one by its row groups.
func (c *columns) unitWorkers() int {
	n := c.workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return max(1, n/len(c.targets))
}

func (c *columns) writer(i int) parquetio.WriterOptions {
	o := parquetio.WriterOptions{CreatedBy: createdBy(), Base: c.src.open[i].Parquet, HF: c.hf}
	if c.strip != nil && c.strip(c.src.files[i].Name) {
		o.HF = parquetio.HFStrip
	}
	return o
}

// write makes one file.
func (c *columns) write(ctx context.Context, i int, bar *progress) error {
	t := c.targets[i]
	rows := c.src.files[i].Rows
	if t.done {
		bar.Rows(rows, filepath.Base(t.name))
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(t.file), 0o777); err != nil {
		return err
	}
	t.plan.Job.Progress = bar.Rows
	if len(t.plan.Tasks) == 0 {
		return c.writeEmpty(i)
	}
	rep, err := t.plan.Run(ctx)
	if err != nil {
		return err
	}
	t.rec = rep.Records[0]
	return nil
}

// writeEmpty makes a file without rows.
func (c *columns) writeEmpty(i int) error {
	t := c.targets[i]
	s, err := t.plan.Job.Sink.Create(0)
	if err != nil {
		return err
	}
	defer s.Discard()
	w, err := parquetio.NewWriter(s.Out(), t.plan.Schemas[""], c.writer(i))
	if err != nil {
		return err
	}
	if _, err := w.Close(); err != nil {
		return err
	}
	t.rec = &pipeline.Record{}
	return s.Publish(false, func(int64, string) ([]byte, error) { return json.Marshal(t.rec) })
}

// each calls f for 0 to n-1, so many at a time, and returns the error of the first that failed.
func each(ctx context.Context, workers, n int, f func(context.Context, int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
				if errs[i] = f(ctx, i); errs[i] != nil {
					cancel()
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return context.Cause(ctx)
}

// columnFile is what the JSON summary says of one file.
type columnFile struct {
	Input     string   `json:"input"`
	Output    string   `json:"output"`
	Status    string   `json:"status"` // "written", "left alone"
	Rows      int64    `json:"rows"`
	RowGroups int      `json:"row_groups"`
	Bytes     int64    `json:"bytes"`
	Copied    int      `json:"chunks_copied"`
	Encoded   int      `json:"chunks_encoded"`
	Notes     []string `json:"notes,omitempty"`
}

// columnSummary is the JSON summary.
type columnSummary struct {
	Edit      string       `json:"edit"`
	Written   int          `json:"written"`
	LeftAlone int          `json:"left_alone"`
	Files     []columnFile `json:"files"`
}

// maxFileLines is how many files the summary has a line for.
const maxFileLines = 20

func (c *columns) summarize() error {
	sum := columnSummary{Edit: c.edit.String(), Files: []columnFile{}}
	for i, t := range c.targets {
		f := columnFile{Input: c.src.files[i].Name, Output: t.name, Status: "left alone", Rows: c.src.files[i].Rows, Bytes: c.src.files[i].Bytes, Notes: t.notes}
		f.RowGroups = len(c.src.open[i].Parquet.RowGroups())
		if t.done {
			sum.LeftAlone++
		} else {
			sum.Written++
			f.Status, f.RowGroups, f.Bytes, f.Copied, f.Encoded = "written", t.rec.RowGroups, t.bytes, t.rec.Copied, t.rec.Encoded
		}
		sum.Files = append(sum.Files, f)
	}
	if c.asJSON {
		return printJSON(c.app.stdout, sum)
	}
	if !c.app.quiet {
		c.print(&sum)
	}
	return nil
}

func (c *columns) print(sum *columnSummary) {
	w := c.app.stderr
	for _, f := range sum.Files {
		if len(sum.Files) > maxFileLines {
			break
		}
		notes := strings.Join(f.Notes, "; ")
		if f.Status == "left alone" {
			fmt.Fprintf(w, "%s: left alone, nothing to do", f.Output)
		} else {
			fmt.Fprintf(w, "%s: %s rows; column chunks: %d copied, %d encoded", f.Output, thousands(f.Rows), f.Copied, f.Encoded)
		}
		if notes != "" {
			fmt.Fprintf(w, "; %s", notes)
		}
		fmt.Fprintln(w)
	}
	if len(sum.Files) > 1 {
		fmt.Fprintf(w, "%d files written", sum.Written)
		if c.inPlace {
			fmt.Fprintf(w, ", %d left alone (nothing to do)", sum.LeftAlone)
		}
		fmt.Fprintln(w)
	}
}

// paths reads a list of paths, PATH[,PATH…]; a comma in quotes parts nothing.
func paths(arg string) ([]schema.Path, error) {
	var out []schema.Path
	for _, text := range splitCommas(arg) {
		p, err := schema.ParsePath(text)
		if err != nil {
			return nil, &usageError{err}
		}
		if slices.Contains(out, p) {
			return nil, usagef("path %q stands twice", p)
		}
		out = append(out, p)
	}
	return out, nil
}

// splitCommas cuts s at its commas, but for those in double quotes.
func splitCommas(s string) []string {
	var out []string
	for {
		before, after, ok := cutUnquoted(s, ',')
		out = append(out, before)
		if !ok {
			return out
		}
		s = after
	}
}

// cutUnquoted is strings.Cut at the first sep that does not stand in double quotes.
func cutUnquoted(s string, sep byte) (before, after string, found bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// notFile refuses an argument that is an edit and the name of a file: nothing is guessed.
func notFile(arg, what string) error {
	if _, err := os.Lstat(arg); err == nil {
		return usagef("%q is a file, and stands where %s is expected: write ./%s for the file", arg, what, arg)
	}
	return nil
}

// isPathTo reports whether an argument can only be the name of a file.
func isPathTo(arg string) bool {
	return strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") || strings.HasPrefix(arg, "/") || arg == "-"
}

// missingEverywhere returns the error for a path that no file has, nil where one has it.
func missingEverywhere(files []*rule.File, p schema.Path) error {
	for _, f := range files {
		if _, ok := f.Schema.Lookup(p); ok {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", files[0].Name, transform.NoColumn(p, files[0].Schema))
}
