package cli

import (
	"context"
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

// An add is one run of the command.
type add struct {
	app       *app
	filesFrom string
	out       string
	after     string
	replace   bool
	force     bool
	workers   int
	values    []assign
}

// An assign is one PATH=VALUE.
type assign struct {
	path  schema.Path
	value schema.Value
	typ   schema.Type
}

func newAdd(a *app) *cobra.Command {
	c := &add{app: a}
	cmd := &cobra.Command{
		Use:   "add PATH=VALUE… FILES…",
		Short: "add a column to Parquet files without decoding the others",
		Long: `Adds columns that hold one value in every row to Parquet files. Every other column chunk is copied byte for byte and only
the footer is written anew, so it takes about as long as cp. A column that is there with this very value is left alone; one
with another value is an error, unless --replace writes it anew.

A value is text; int:1, float:0.5, bool:true, json:{…}, null:TYPE and str:TEXT say another type. Names of files are kept
below DIR, from the deepest folder that all of them share.`,
		Example: `  rlprep add agent_name=tool_agent train.parquet test.parquet -o out/
  rlprep add agent_name=tool_agent 'data/*.parquet' --after data_source -o out/
  rlprep add epoch=int:1 agent_name=single_turn_agent train.parquet --replace -o out/`,
		Annotations: exits(ExitClean, ExitUsage, ExitFile, ExitInterrupted),
		Args:        cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := c.parse(args)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), files)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&c.out, "out", "o", "", "directory to write to")
	f.StringVar(&c.filesFrom, "files-from", "", "read names of files from LIST, one a line (-: standard input)")
	f.StringVar(&c.after, "after", "", "column after which the new one stands (default: at the end)")
	f.BoolVar(&c.replace, "replace", false, "write a column that is there anew")
	f.BoolVar(&c.force, "force", false, "overwrite files in DIR")
	f.IntVarP(&c.workers, "jobs", "j", 0, "files at a time (default: one a core)")
	return cmd
}

// parse reads the edits, which come first, and returns the names of files.
func (c *add) parse(args []string) (files []string, err error) {
	for i, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "/") {
			files = args[i:]
			break
		}
		if _, err := os.Stat(arg); err == nil {
			return nil, usagef("%q is a file, and reads as PATH=VALUE: write ./%s for the file", arg, arg)
		}
		var v assign
		if v.path, err = schema.ParsePath(name); err != nil {
			return nil, &usageError{err}
		}
		if v.value, v.typ, err = transform.ParseValue(value); err != nil {
			return nil, usagef("%s: %v", arg, err)
		}
		c.values = append(c.values, v)
	}
	switch {
	case len(c.values) == 0:
		return nil, usagef("no PATH=VALUE: say what to add, such as agent_name=tool_agent")
	case len(files) == 0 && c.filesFrom == "":
		return nil, usagef("no files: name the Parquet files to add %s to", c.values[0].path)
	case c.out == "":
		return nil, usagef("no directory to write to: name one with -o DIR")
	}
	return files, nil
}

func (c *add) run(ctx context.Context, args []string) error {
	set, err := source.Resolve(ctx, source.Spec{Args: args, FilesFrom: c.filesFrom, Stdin: c.app.stdin, Lenient: true})
	if err != nil {
		return asInput(err)
	}
	defer set.Close()
	if len(set.Errors) > 0 {
		return asInput(errors.Join(set.Errors...))
	}
	src := newFileSource(set)
	src.whole = true
	names := make([]string, len(src.files))
	var rows int64
	for i, f := range src.files {
		if f.Format != "parquet" {
			return usagef("%s: columns are added to Parquet files only; for %s use 'rlprep preprocess' or a pipeline", f.Name, f.Format)
		}
		names[i] = f.Name
		rows += f.Rows
	}
	targets, err := c.targets(names)
	if err != nil {
		return err
	}
	bar := newProgress(c.app.stderr, rows, c.app.quiet)
	defer bar.Done()
	_, err = os.Stat(c.out)
	fresh := errors.Is(err, fs.ErrNotExist)
	results := make([]addResult, len(names))
	err = each(ctx, c.workers, len(names), func(ctx context.Context, i int) error {
		var err error
		results[i], err = c.file(ctx, src, i, targets[i], bar)
		return err
	})
	bar.Done()
	if err != nil {
		if fresh {
			removeEmpty(c.out)
		}
		return asUsage(err)
	}
	c.summarize(results, targets)
	return nil
}

// removeEmpty removes dir and the directories in it, as far as they hold nothing.
func removeEmpty(dir string) {
	var dirs []string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	for _, d := range slices.Backward(dirs) {
		os.Remove(d) // only where it is empty
	}
}

// targets returns the file to write for each input: its name below the deepest folder that all share.
func (c *add) targets(names []string) ([]string, error) {
	common := filepath.Dir(names[0])
	for _, n := range names[1:] {
		for common != "." && common != "/" && !strings.HasPrefix(n, common+string(filepath.Separator)) {
			common = filepath.Dir(common)
		}
	}
	out := make([]string, len(names))
	for i, n := range names {
		rel, err := filepath.Rel(common, n)
		if err != nil || strings.HasPrefix(rel, "..") {
			rel = filepath.Base(n)
		}
		out[i] = filepath.Join(c.out, rel)
		if same(n, out[i]) {
			return nil, usagef("%s: -o %s would write it over itself: name another directory", n, c.out)
		}
		if _, err := os.Lstat(out[i]); err == nil && !c.force {
			return nil, usagef("%s is there already: --force overwrites it, or name another directory with -o", out[i])
		}
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

// An addResult is what became of one file.
type addResult struct {
	rows int64
	rec  *pipeline.Record
	kept []schema.Path // were there with this value
}

func (c *add) file(ctx context.Context, src *fileSource, i int, target string, bar *progress) (addResult, error) {
	r := addResult{rows: src.files[i].Rows}
	steps, err := c.steps(ctx, src, i, &r)
	if err != nil {
		return r, err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return r, err
	}
	sink := &fileSink{target: target}
	job := &pipeline.Job{
		Source: src,
		Splits: []pipeline.Split{{Files: []int{i}}},
		Steps:  func(string) []transform.Transform { return steps },
		Env:    (&knownFlags{}).env(rule.Any),
		Sink:   sink, Keep: true, Codec: parquetio.Zstd, Workers: 1,
		Progress:  bar.Rows,
		ShardName: func(string, int, int) string { return filepath.Base(target) },
		Writer: func(string, *rule.File) parquetio.WriterOptions {
			return parquetio.WriterOptions{CreatedBy: createdBy(), Base: src.open[i].Parquet}
		},
	}
	plan, err := pipeline.NewPlan(job)
	if err != nil {
		return r, err
	}
	if len(plan.Tasks) == 0 {
		return r, &usageError{fmt.Errorf("%s: has no rows", src.files[i].Name)}
	}
	rep, err := plan.Run(ctx)
	if err != nil {
		return r, err
	}
	r.rec = rep.Records[0]
	return r, nil
}

// steps are the transforms for one file: without the columns that it has with their value already.
func (c *add) steps(ctx context.Context, src *fileSource, i int, r *addResult) ([]transform.Transform, error) {
	f := src.files[i]
	present := transform.Refuse
	if c.replace {
		present = transform.Replace
	}
	var out []transform.Transform
	after := schema.Path(c.after)
	if after != "" {
		if _, ok := f.Schema.Lookup(after); !ok {
			return nil, &usageError{fmt.Errorf("%s: --after: %w", f.Name, transform.NoColumn(after, f.Schema))}
		}
	}
	for _, v := range c.values {
		if has, ok := f.Schema.Lookup(v.path); ok && has.Type.Equal(v.typ) {
			is, other, err := src.holds(ctx, i, v.path, v.value)
			if err != nil {
				return nil, err
			}
			if is {
				r.kept = append(r.kept, v.path)
				continue
			}
			if !c.replace {
				return nil, &usageError{fmt.Errorf("%s: column %q is there already and holds %s: --replace writes it anew", f.Name, v.path, other)}
			}
		}
		out = append(out, transform.Set{Path: v.path, Value: v.value, Type: v.typ, After: after, If: present})
		if after != "" {
			after = v.path
		}
	}
	return out, nil
}

func (c *add) summarize(results []addResult, targets []string) {
	if c.app.quiet {
		return
	}
	for i, r := range results {
		fmt.Fprintf(c.app.stderr, "%s: %s rows; column chunks: %d copied, %d encoded", targets[i], thousands(r.rows), r.rec.Copied, r.rec.Encoded)
		for _, p := range r.kept {
			fmt.Fprintf(c.app.stderr, "; %s was there with this value", p)
		}
		fmt.Fprintln(c.app.stderr)
	}
}

// A fileSink writes one file: under a private name beside it, then by one rename.
type fileSink struct {
	target string
	f      *os.File
	done   bool
}

// Record implements pipeline.Sink: nothing is taken up, a single file is soon done.
func (s *fileSink) Record(int) ([]byte, error) { return nil, nil }

// OpenSpill implements pipeline.Sink.
func (s *fileSink) OpenSpill(int) (*os.File, error) { return nil, errors.New("nothing is spilled") }

// Create implements pipeline.Sink.
func (s *fileSink) Create(int) (pipeline.Shard, error) {
	var err error
	part := fmt.Sprintf(".%s.%d.part", filepath.Base(s.target), os.Getpid())
	s.f, err = os.OpenFile(filepath.Join(filepath.Dir(s.target), part), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	return s, err
}

// File implements pipeline.Shard.
func (s *fileSink) File() *os.File { return s.f }

// Spill implements pipeline.Shard.
func (s *fileSink) Spill() (*os.File, error) { return nil, errors.New("nothing is spilled") }

// Rejects implements pipeline.Shard.
func (s *fileSink) Rejects() (*os.File, error) { return nil, errors.New("nothing is rejected") }

// Publish implements pipeline.Shard.
func (s *fileSink) Publish(_ bool, record func(int64, string) ([]byte, error)) error {
	if err := s.publish(); err != nil {
		os.Remove(s.f.Name())
		return err
	}
	s.done = true
	_, err := record(0, "")
	return err
}

func (s *fileSink) publish() error {
	if err := errors.Join(s.f.Sync(), s.f.Close()); err != nil {
		return err
	}
	if err := os.Rename(s.f.Name(), s.target); err != nil {
		return err
	}
	return shard.SyncDir(filepath.Dir(s.target))
}

// Discard implements pipeline.Shard.
func (s *fileSink) Discard() {
	if s.f != nil && !s.done {
		s.f.Close()
		os.Remove(s.f.Name())
	}
}
