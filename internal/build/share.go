package build

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
)

// A SharedPlan is a plan whose tasks several processes do together, each by RunTask, on any machines that share the file system of Out. All of them
// make it of equal Options, so that they have one plan. Its methods and RunTask are for one goroutine at a time. Close it.
type SharedPlan struct {
	*pipeline.Plan // Tasks are what there is to do

	build *Build
	dir   *output.Dir
	done  func() // of Watch; nil: nobody watches
}

// ErrUpToDate says that Out holds the data set already, so that there is no plan to share.
var ErrUpToDate = errors.New("the data set is made: there is no task left")

// Join plans the data set and becomes one of the processes that make it. The error is ErrUpToDate where it is made, and a *shard.LockedError where a Run
// is at work on Out. While any process is joined, Run returns a *shard.LockedError.
func (b *Build) Join(ctx context.Context) (*SharedPlan, error) {
	for {
		have, err := b.finished(ctx)
		if err != nil {
			return nil, err
		}
		if have != nil {
			return nil, ErrUpToDate
		}
		s, err := b.join(ctx)
		if err != nil {
			return nil, err
		}
		changed, err := b.changed()
		if !changed && err == nil {
			return s, nil
		}
		if err = errors.Join(err, s.Close()); err != nil { // a Run made Out after we looked for it
			return nil, err
		}
	}
}

// join plans the data set and enters the private place of the plan.
func (b *Build) join(ctx context.Context) (*SharedPlan, error) {
	plan, err := b.prepared(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := output.JoinDir(b.opts.Out, b.planHash(), names(plan))
	if err != nil {
		plan.Close()
		return nil, err
	}
	plan.Job.Output.Sink, plan.Job.TempDir = dir, dir.TempDir()
	s := &SharedPlan{Plan: plan, build: b, dir: dir}
	if b.opts.Watch != nil {
		plan.Job.Progress, s.done = b.opts.Watch(plan.Rows)
	}
	return s, nil
}

// changed reports whether Out is no longer what finished saw.
func (b *Build) changed() (bool, error) {
	exists, have, err := shard.Existing(b.opts.Out)
	if err != nil || !exists {
		return b.base != nil, err
	}
	return b.base == nil || have == nil || have.DatasetSHA256 != b.base.DatasetSHA256, nil
}

// RunTask does task i of the plan and returns its record; where some process has done it before, it returns that record at once. A *shard.ClaimedError
// says that another process is at work on it. When all tasks are done and every process has closed its plan, Build.Run takes their shards as they are,
// judges all rows together and makes Out visible.
func RunTask(ctx context.Context, s *SharedPlan, i int) (_ *pipeline.Record, err error) {
	if i < 0 || i >= len(s.Tasks) {
		return nil, usagef("task %d: the plan has %d tasks", i, len(s.Tasks))
	}
	if rec, err := s.dir.Record(i); rec != nil || err != nil {
		return rec, err
	}
	release, err := s.dir.Claim(i)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	return s.Plan.RunTask(ctx, i) // it looks for the record again
}

// Close leaves the work to the other processes. What was done stays.
func (s *SharedPlan) Close() error {
	if s.done != nil {
		s.done()
	}
	s.Plan.Close()
	if err := s.dir.Close(); err != nil {
		return fmt.Errorf("%s: leave the work: %w", s.build.opts.Out, err)
	}
	return nil
}
