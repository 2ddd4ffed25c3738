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
	"strconv"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Options say which data set to make. The zero value of a field is its default, unless its comment says otherwise.
type Options struct {
	Name   string                                 // of what is made, as the manifest has it
	Out    string                                 // the directory; required
	Source *source.Set                            // the opened input; required. The caller closes it.
	Derive func(from string) []string             // what a split of the input becomes; nil: itself
	Steps  func(split string) []transform.RowStep // of a split of the output
	Given  map[string]string                      // settings of the caller's own that change what is written: part of the plan

	Limit       int64         // rows of each split that are read; 0: all
	Size        pipeline.Size // of the shards; zero: one for each split, named without a number
	Compression string        // zstd, snappy, none, or keep (the codec of the source); "": zstd
	MaxRejects  string        // rows that may be rejected: a number or a percentage; "": none
	Rejects     string        // gets the rejected rows, as JSON Lines; "": nobody
	Force       bool          // replace splits that Out has and that were made in another way
	Workers     int           // 0: one a core. What is written is the same for any number.

	Target       rule.Target // that the rows are checked against; required
	Kind         rule.Kind   // of the rows; rule.Any: by their columns
	Expects      []string    // rules whose findings are at most warnings
	KnownAgents  []string    // agent loops that the launch registers
	KnownSources []string    // values of data_source that the reward function scores

	Version string // of the tool, as the manifest and the files have it
	// Watch is called before the first row, with the number of rows. The pipeline calls rows for what is done, from one goroutine at a
	// time; done is called after the last.
	Watch func(total int64) (rows func(rows int64, shard string), done func())
}

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

// New checks the options and finds out the columns of map functions, for which it reads the first rows. A *misuse.Error says which
// option is wrong.
func New(ctx context.Context, o Options) (*Build, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	b := &Build{opts: o}
	if err := b.learn(ctx); err != nil {
		return nil, err
	}
	b.manifest = b.newManifest()
	return b, nil
}

// Run is New followed by the Run of what it returns.
func Run(ctx context.Context, o Options) (*Result, error) {
	b, err := New(ctx, o)
	if err != nil {
		return &Result{}, err
	}
	return b.Run(ctx)
}

// Run makes the data set, or resumes a run of the same plan that was interrupted. Nothing is visible at Out before all of it is. The result
// is never nil: where an error comes after the rows were read, it has the report.
func (b *Build) Run(ctx context.Context) (*Result, error) {
	have, err := b.finished(ctx)
	if err != nil {
		return &Result{}, err
	}
	if have != nil {
		return &Result{Status: UpToDate, Manifest: have}, nil
	}
	return b.write(ctx)
}

// Splits returns the names of the splits of the output, in their order.
func (o *Options) Splits() []string {
	var out []string
	for _, s := range input.Derive(o.Source, o.Derive).Splits {
		out = append(out, s.Name)
	}
	return out
}

// numbered reports whether shards have a number in their name.
func (o *Options) numbered() bool { return o.Size != pipeline.Size{} }

// settings are the options that change what is written, as the manifest has them.
func (o *Options) settings() map[string]string {
	s := map[string]string{"compression": o.compression()}
	maps.Copy(s, o.Given)
	set := func(name, value, def string) {
		if value != def {
			s[name] = value
		}
	}
	set("limit", strconv.FormatInt(o.Limit, 10), "0")
	set("shards", strconv.Itoa(o.Size.Shards), "0")
	set("shard-rows", strconv.FormatInt(o.Size.Rows, 10), "0")
	set("shard-size", strconv.FormatInt(o.Size.Bytes, 10), "0")
	set("max-rejects", o.maxRejects(), "0")
	return s
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

func usagef(format string, args ...any) error {
	return misuse.Errorf(format, args...)
}

var _ pipeline.Sink = (*output.Dir)(nil)
