// Package build makes a data set: it plans, writes shards and their manifest, and makes all of them visible at once. It is what stands
// behind the commands preprocess, run and map, and needs no command line.
//
//	Options ─▶ Prepare ─▶ finished? ─▶ Run: pipeline.Plan.Run ─▶ output.Dir.Commit ─▶ Result
package build

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
)

// A Status says what became of a run.
type Status int

// The states of a Result.
const (
	Unfinished Status = iota // an error ended the run
	UpToDate                 // Out held this very data set; nothing was done
	Refused                  // findings at level error: nothing was written
	Written
)

// A Result is what a run did.
type Result struct {
	Status   Status
	Plan     *pipeline.Plan   // nil where the data set was up to date
	Report   *pipeline.Report // nil where the data set was up to date, or the rows were not read to the end
	Manifest *shard.Manifest  // of Out, where Status is UpToDate or Written
}

// A DataError says that the data leaves nothing to write.
type DataError struct{ text string }

func (e *DataError) Error() string { return e.text }

// ExitCode makes it a finding about the data.
func (e *DataError) ExitCode() int { return 1 }

// A Build is a data set that is about to be made.
type Build struct {
	opts     Options
	manifest *shard.Manifest // what is known before the rows are read
	base     *shard.Manifest // of an Out that exists and gets more; nil: Out is new
}

// newManifest is what is known of the data set before it is made, except for the hashes of its inputs.
func (b *Build) newManifest() *shard.Manifest {
	o := &b.opts
	m := &shard.Manifest{Format: 1, Tool: "rlprep", Version: o.Version, Recipe: o.Name, Options: o.settings(), Inputs: []shard.InputFile{}}
	for _, s := range o.Source.Splits {
		for _, f := range s.Files {
			m.Inputs = append(m.Inputs, shard.InputFile{Split: s.Name, Name: filepath.Base(f.Name), Bytes: f.Bytes, Source: f.Address()})
		}
	}
	return m
}

// hashInputs fills in the hashes of the inputs.
func (b *Build) hashInputs(ctx context.Context) error {
	i := 0
	for _, s := range b.opts.Source.Splits {
		for _, f := range s.Files {
			var err error
			if b.manifest.Inputs[i].SHA256, err = f.SHA256(ctx); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}

// finished returns the manifest of Out where it holds this very data set, and nil where there is something to do.
func (b *Build) finished(ctx context.Context) (*shard.Manifest, error) {
	out := b.opts.Out
	b.base = nil
	if err := shard.Recover(out); err != nil {
		return nil, err
	}
	exists, have, err := shard.Existing(out)
	if exists && have != nil && err == nil { // only here are the inputs hashed before the rows are read
		if err := b.hashInputs(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case errors.As(err, new(*fs.PathError)):
		return nil, err
	case err != nil:
		return nil, &misuse.Error{Err: err}
	case !exists:
		return nil, nil
	case have == nil:
		return nil, usagef("%s exists and is not a data set of rlprep: name a new directory with -o", out)
	case have.SamePlan(b.manifest):
		return have, shard.Tidy(out)
	}
	b.base = have
	if split, how := have.Clash(b.manifest); split != "" && !b.opts.Force {
		return nil, usagef("%s holds split %s of another plan (%s): --force replaces it, or name a new directory with -o", out, split, how)
	}
	return nil, nil
}

// planHash names the private place of the plan. The content of the inputs is not known yet, so their identities stand for it.
func (b *Build) planHash() string {
	m := b.manifest
	parts := []string{m.Version, runtime.GOARCH, m.Recipe}
	for _, k := range slices.Sorted(maps.Keys(m.Options)) {
		parts = append(parts, k, m.Options[k])
	}
	for _, s := range b.opts.Source.Splits {
		for _, f := range s.Files {
			parts = append(parts, s.Name, filepath.Base(f.Name), f.Identity())
		}
	}
	return shard.PlanHash(parts...)
}

var _ pipeline.Sink = (*output.Dir)(nil)
