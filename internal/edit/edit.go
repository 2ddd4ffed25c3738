// Package edit changes columns of Parquet files without decoding the others, and cuts files into others: the work of the commands add, drop,
// rename, select, reshard and lint --fix. It needs no command line.
package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Run edits the files. All are planned before the first is written: what one of them refuses leaves all as they were. In place, runs over the
// same files wait for one another, and each file is replaced by one rename. A *misuse.Error says what cannot be done as asked.
func Run(ctx context.Context, o Options) (*Result, error) {
	c := &run{Options: o, rows: func(int64, string) {}}
	if c.Guard == nil {
		c.Guard = &overwrite.Guard{}
	}
	if c.inPlace() && !c.Held && !c.DryRun {
		held, err := c.hold(ctx)
		if err != nil {
			return nil, err
		}
		defer held.Close()
	}
	if err := c.carryOut(ctx); err != nil {
		return nil, err
	}
	return c.result(), nil
}

// hold waits until no other run edits the files, and opens them as that run left them.
func (c *run) hold(ctx context.Context) (*shard.Hold, error) {
	held, waited, err := shard.HoldFiles(ctx, input.Names(c.Source))
	if err != nil || !waited && c.unchanged() == nil {
		return held, err
	}
	if err := c.Source.Reopen(ctx); err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// unchanged returns an error where a file is no longer the one that was opened.
func (c *run) unchanged() error {
	for _, f := range c.Source.Files() {
		if err := f.Unchanged(); err != nil {
			return err
		}
	}
	return nil
}

// carryOut does the edit over the files of the set.
func (c *run) carryOut(ctx context.Context) (err error) {
	c.src = input.ByName(c.Source)
	if err := c.aim(ctx); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.closeEdits())
	}()
	if err := c.Edit.Prepare(c.src.Files(), c.inPlace()); err != nil {
		return &misuse.Error{Err: err}
	}
	first := make([]int64, len(c.src.Files())+1)
	for i, f := range c.src.Files() {
		first[i+1] = first[i] + f.Rows
	}
	// All files are planned before the first is written: what one of them refuses leaves all as they were.
	if err := c.each(ctx, func(ctx context.Context, i int) error { return c.plan(ctx, i, first[i]) }); err != nil {
		return err
	}
	if c.DryRun {
		return nil
	}
	if err := c.backup(); err != nil {
		return err
	}
	return c.writeAll(ctx, first[len(c.src.Files())])
}

// writeAll makes the files. A new directory appears whole; in one that was there, files are replaced one by one.
func (c *run) writeAll(ctx context.Context, rows int64) error {
	if err := c.openStage(); err != nil {
		return err
	}
	if c.Watch != nil {
		var done func()
		c.rows, done = c.Watch(rows)
		defer done()
	}
	err := c.each(ctx, c.write)
	switch {
	case c.stage == nil:
		return c.partly(err)
	case err != nil:
		return errors.Join(err, c.stage.Abandon())
	}
	return c.stage.Publish()
}

// openStage prepares a directory that is to be made.
func (c *run) openStage() error {
	if c.inPlace() {
		return nil
	}
	if _, err := os.Lstat(c.Out); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var err error
	if c.stage, err = shard.NewStage(c.Out); err != nil {
		return err
	}
	for _, t := range c.outputs {
		rel, err := filepath.Rel(c.Out, t.Name)
		if err != nil {
			return err
		}
		t.Path = c.stage.Path(rel)
	}
	return nil
}

// partly says of an error after which files of the call had been written.
func (c *run) partly(err error) error {
	n := 0
	for _, t := range c.outputs {
		if t.rec != nil {
			n++
		}
	}
	if err == nil || n == 0 {
		return err
	}
	what := "run the same command with --force to rewrite all of them"
	if c.inPlace() {
		what = "the same command goes on with the others"
	}
	return fmt.Errorf("%w (%d of %d files had been written: %s)", err, n, len(c.outputs), what)
}

// aim says which file each input becomes: itself, or its name in -o, below the deepest folder that all inputs share.
func (c *run) aim(ctx context.Context) error {
	names := make([]string, len(c.src.Files()))
	for i, f := range c.src.Files() {
		names[i] = f.Name
	}
	outs := names
	if !c.inPlace() {
		var err error
		if outs, err = below(c.Out, names); err != nil {
			return err
		}
	}
	if err := c.declare(outs); err != nil {
		return err
	}
	c.edits = map[string]*shard.Edits{}
	for _, name := range outs {
		t := &outputFile{File: output.File{Name: name, Path: name, Note: c.Edit.String()}}
		c.outputs = append(c.outputs, t)
		err := c.aimAt(t)
		if err == nil && !c.DryRun {
			err = c.openEdits(ctx, t)
		}
		if err != nil {
			return errors.Join(err, c.closeEdits())
		}
	}
	return nil
}

// declare says what will be written, before anything is. A file that is edited in place is input and output, by design; all else is one of the two.
func (c *run) declare(outs []string) error {
	flag := c.Flag
	if !c.inPlace() {
		flag = "-o"
		if err := output.DeclareDir(c.Guard, flag, c.Out, nil); err != nil {
			return err
		}
	}
	for i, name := range outs {
		err := c.Guard.Write(flag, shard.PartName(name))
		if err == nil && !c.inPlace() {
			if err = c.Guard.Write(flag, name); err != nil {
				return fmt.Errorf("%w, or give --in-place", err)
			}
		}
		if err == nil && (i == 0 || filepath.Dir(outs[i-1]) != filepath.Dir(name)) {
			err = c.declareManifest(flag, filepath.Dir(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// declareManifest says that the manifest in dir is written, where there is one.
func (c *run) declareManifest(flag, dir string) error {
	for _, name := range shard.EditsNames(dir) {
		if err := c.Guard.Write(flag, name); err != nil {
			return err
		}
	}
	return nil
}

func (c *run) aimAt(t *outputFile) error {
	st, err := os.Lstat(t.Name)
	if !c.inPlace() {
		switch {
		case err == nil && !c.Force:
			return usagef("%s exists: --force overwrites it, or name another directory with -o", t.Name)
		case err == nil && !st.Mode().IsRegular() && st.Mode()&os.ModeSymlink == 0:
			return &output.PlaceError{Text: t.Name + " is no regular file, and --force replaces files only: move it away, or name another directory with -o"}
		}
		return nil
	}
	switch {
	case err != nil:
		return err
	case st.Mode()&os.ModeSymlink != 0:
		return usagef("%s is a symbolic link, as files in the Hub cache are: others may rely on what it leads to; write a new file with -o DIR", t.Name)
	case !st.Mode().IsRegular():
		return usagef("%s is no regular file: write a new one with -o DIR", t.Name)
	}
	t.Before = st
	return nil
}

// openEdits opens the manifest beside a target.
func (c *run) openEdits(ctx context.Context, t *outputFile) error {
	dir := filepath.Dir(t.Name)
	e, ok := c.edits[dir]
	if !ok {
		var err error
		if e, err = shard.OpenEdits(ctx, dir); err != nil {
			return err
		}
		c.edits[dir] = e
	}
	if e != nil && !c.inPlace() && !e.Lists(filepath.Base(t.Name)) {
		return usagef("%s holds a data set whose manifest does not list %s: name another directory with -o", dir, filepath.Base(t.Name))
	}
	t.Edits = e
	return nil
}

func (c *run) closeEdits() error {
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

// plan settles what is done to one file.
func (c *run) plan(ctx context.Context, i int, first int64) error {
	t := c.outputs[i]
	steps, notes, err := c.Edit.Steps(ctx, c.src, i, first)
	if err != nil {
		return err
	}
	t.notes = notes
	t.done = c.inPlace() && len(steps) == 0
	if t.done {
		return nil
	}
	t.plan, err = pipeline.NewPlan(&pipeline.Job{
		Input: c.src, Facts: c.src, Splits: []pipeline.Split{{Files: []int{i}}},
		Steps:          func(string) []transform.RowStep { return steps },
		PreserveLayout: true,
		Rules:          judge.Rules{Env: &rule.Env{Target: rule.DefaultTarget(), Rows: rule.Any}},
		Workers:        c.fileWorkers(),
		Output: &pipeline.Output{
			Sink:      &t.File,
			ShardName: func(string, int, int) string { return filepath.Base(t.Name) },
			Codec:     parquetio.Zstd, KeepCodec: true,
			Writer: func(string, *rule.File) parquetio.WriterOptions { return c.writer(i) },
		},
	})
	return err
}

// fileWorkers is how many row groups of a file are done at a time: files are done in parallel, a single one by its row groups.
func (c *run) fileWorkers() int {
	n := c.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return max(1, n/len(c.outputs))
}

func (c *run) writer(i int) parquetio.WriterOptions {
	o := parquetio.WriterOptions{CreatedBy: "rlprep version " + c.Version, Base: c.src.Source(i).Parquet, HF: c.HF}
	if c.Strip != nil && c.Strip(c.src.Files()[i].Name) {
		o.HF = parquetio.HFStrip
	}
	return o
}

// write makes one file.
func (c *run) write(ctx context.Context, i int) error {
	t := c.outputs[i]
	rows := c.src.Files()[i].Rows
	if t.done {
		c.rows(rows, filepath.Base(t.Name))
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o777); err != nil {
		return err
	}
	t.plan.Job.Progress = c.rows
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
func (c *run) writeEmpty(i int) error {
	t := c.outputs[i]
	s, err := t.plan.Job.Output.Sink.Create(0)
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
	return s.Publish(t.rec)
}

// each calls f for every target, so many at a time, and returns the error of the first target that failed.
func (c *run) each(ctx context.Context, f func(context.Context, int) error) error {
	workers := c.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, len(c.outputs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range c.outputs {
		group.Go(func() error {
			if errs[i] = context.Cause(ctx); errs[i] == nil {
				errs[i] = f(ctx, i)
			}
			return errs[i]
		})
	}
	_ = group.Wait() // what failed first in time need not be the first target
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

func (c *run) result() *Result {
	res := &Result{}
	for i, t := range c.outputs {
		in := c.src.Files()[i]
		f := File{Input: in.Name, Output: t.Name, Rows: in.Rows, Bytes: in.Bytes, RowGroups: len(c.src.Source(i).Parquet.RowGroups()), Notes: t.notes, Before: in.Schema, After: in.Schema}
		if t.plan != nil {
			f.Written, f.After = true, t.plan.Schemas[""]
		}
		if t.rec != nil {
			f.Written, f.RowGroups, f.Bytes, f.Copied, f.Encoded = true, t.rec.RowGroups, t.File.Bytes, t.rec.Copied, t.rec.Encoded
		}
		res.Files = append(res.Files, f)
	}
	return res
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
