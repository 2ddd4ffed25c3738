package build

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
)

// write reads the rows, writes the shards and makes them visible.
func (b *Build) write(ctx context.Context) (_ *Result, err error) {
	res := &Result{}
	if res.Plan, err = b.prepared(ctx); err != nil {
		return res, err
	}
	defer res.Plan.Close()
	var rejects *shard.Named
	if b.opts.Rejects != "" { // first, so that of two runs with one file the second does no work
		if rejects, err = shard.NewNamed(ctx, b.opts.Rejects); err != nil {
			return res, fmt.Errorf("--rejects: %w", err)
		}
		defer func() { err = errors.Join(err, rejects.Discard()) }()
	}
	dir, err := b.open(res.Plan)
	if err != nil {
		return res, err
	}
	defer func() {
		if dir.Close() != nil && err == nil {
			err = fmt.Errorf("%s: release the lock", b.opts.Out)
		}
	}()
	if res.Report, err = b.run(ctx, res.Plan); err != nil {
		return res, abandoned(dir, err)
	}
	return res, b.commit(res, dir, rejects)
}

// prepared plans the run up to its tasks, and sees that they have rows and a place for their files.
func (b *Build) prepared(ctx context.Context) (*pipeline.Plan, error) {
	plan, err := b.Plan()
	if err != nil {
		return nil, err
	}
	if err = plan.Prepare(ctx); err == nil && plan.Rows == 0 {
		err = &DataError{"no rows: nothing to write"}
	}
	if err == nil {
		err = b.inTheWay(plan)
	}
	if err != nil {
		plan.Close()
		return nil, err
	}
	return plan, nil
}

// inTheWay returns an error for a file of an existing Out that commit would not replace and has no place for.
func (b *Build) inTheWay(plan *pipeline.Plan) error {
	if b.base == nil {
		return nil
	}
	var splits []string
	for _, t := range plan.Tasks {
		splits = append(splits, t.Split)
	}
	return shard.InTheWay(b.opts.Out, b.base, splits, names(plan))
}

// names are the files of the tasks.
func names(plan *pipeline.Plan) []string {
	out := make([]string, len(plan.Tasks))
	for i, t := range plan.Tasks {
		out[i] = t.Name
	}
	return out
}

// open takes the private place of the plan.
func (b *Build) open(plan *pipeline.Plan) (*output.Dir, error) {
	dir, err := output.OpenDir(b.opts.Out, b.planHash(), names(plan))
	if err != nil {
		return nil, err
	}
	plan.Job.Output.Sink, plan.Job.TempDir = dir, dir.TempDir()
	return dir, nil
}

// run does the tasks and hashes the inputs beside them: workers wait for disks now and then.
func (b *Build) run(ctx context.Context, plan *pipeline.Plan) (*pipeline.Report, error) {
	if b.opts.Watch != nil {
		var done func()
		plan.Job.Progress, done = b.opts.Watch(plan.Rows)
		defer done()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hashed := make(chan error, 1)
	go func() { hashed <- b.hashInputs(ctx) }()
	rep, err := plan.Run(ctx)
	if err != nil {
		cancel()
	}
	if hashErr := <-hashed; err == nil {
		err = hashErr
	}
	if err != nil {
		return nil, err
	}
	return rep, nil
}

// abandoned removes the private place where err is final: rows that are rejected now are rejected next time. After any other error the next run resumes.
func abandoned(dir *output.Dir, err error) error {
	if reject := (*pipeline.RejectError)(nil); errors.As(err, &reject) {
		return errors.Join(err, dir.Abandon())
	}
	return err
}

// commit makes the shards visible, unless findings forbid it.
func (b *Build) commit(res *Result, dir *output.Dir, rejects *shard.Named) error {
	if res.Report.Failed {
		res.Status = Refused
		return dir.Abandon()
	}
	final := b.describe(res.Plan, res.Report)
	if rejects != nil {
		if err := dir.Rejects(rejects); err != nil {
			return err
		}
		if err := rejects.Publish(); err != nil {
			return err
		}
	}
	if len(b.manifest.Shards) == 0 {
		return errors.Join(&DataError{"no rows are left: nothing to write"}, dir.Abandon())
	}
	var err error
	if res.Manifest, err = dir.Commit(final, b.manifest, b.base); err == nil {
		res.Status = Written
	}
	return err
}

// describe fills in the manifest what came out and returns the last names of the shards.
func (b *Build) describe(plan *pipeline.Plan, rep *pipeline.Report) []string {
	m := b.manifest
	splits := make([]string, len(plan.Tasks))
	empty := make([]bool, len(plan.Tasks))
	m.Shards, m.Splits = []shard.FileEntry{}, []shard.SplitRows{}
	for i, t := range plan.Tasks {
		splits[i], empty[i] = t.Split, rep.Records[i].RowsOut == 0
	}
	final := shard.Final(splits, empty, b.opts.numbered())
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
			m.Shards = append(m.Shards, shard.FileEntry{Name: final[i], Split: t.Split, Rows: r.RowsOut, RowGroups: r.RowGroups,
				Bytes: r.Bytes, SHA256: r.SHA256, Dropped: r.Dropped})
		}
	}
	m.DatasetSHA256 = shard.DatasetHash(m.Shards)
	return final
}
