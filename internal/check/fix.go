package check

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/fix"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// FixOptions say what may be fixed.
type FixOptions struct {
	DryRun bool                    // plan only
	Unsafe bool                    // also what changes values or leaves rows out
	Passed func(rule.Finding) bool // findings that are to be left alone
	Note   string                  // what a manifest beside the files says of the edit
	Backup string                  // old files are kept under their names with this suffix; "": they are not
}

// Fixed is what was fixed, or with DryRun would be.
type Fixed struct {
	Plan  *fix.Plan
	Files map[string]*fix.File // by name, those that change
	Left  *pipeline.Report     // what is found afterwards; with DryRun what was found before

	options FixOptions
}

// Fix fixes Parquet files of this machine in place, each by one rename, and judges them again. found is what Run found in them. The files of
// o.Source are reopened as they are then.
func Fix(ctx context.Context, o Options, f FixOptions, found *pipeline.Report) (*Fixed, error) {
	src := input.New(o.Source)
	if !f.DryRun {
		if err := catchUp(ctx, src.Files()); err != nil {
			return nil, err
		}
	}
	job := &fix.Job{Input: src, Facts: src, Rules: o.Rules, Env: o.Env, Unsafe: f.Unsafe, Workers: o.Workers, Passed: f.Passed}
	plan, err := fix.New(ctx, job, found.Entries)
	if err != nil {
		return nil, err
	}
	x := &Fixed{options: f, Plan: plan, Files: map[string]*fix.File{}, Left: found}
	for i, file := range src.Files() {
		if len(plan.Files[i].Steps) > 0 {
			x.Files[file.Name] = &plan.Files[i]
		}
	}
	if f.DryRun || len(x.Files) == 0 {
		return x, nil
	}
	if err := x.write(ctx, &o, f); err != nil {
		return nil, err
	}
	if err := o.Source.Reopen(ctx); err != nil {
		return nil, err
	}
	x.Left, err = Run(ctx, o)
	return x, err
}

// catchUp brings the manifests beside files up to date, where a run that was killed did not.
func catchUp(ctx context.Context, files []*rule.File) error {
	done := map[string]bool{}
	for _, f := range files {
		if dir := filepath.Dir(f.Name); !done[dir] {
			done[dir] = true
			if err := shard.CatchUp(ctx, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// write replaces the files that change.
func (x *Fixed) write(ctx context.Context, o *Options, f FixOptions) error {
	var names []string
	for _, f := range o.Source.Files() {
		if x.Files[f.Name] != nil {
			names = append(names, f.Name)
		}
	}
	held, _, err := shard.HoldFiles(ctx, names)
	if err != nil {
		return err
	}
	defer held.Close()
	set, err := source.Resolve(ctx, source.Spec{Args: names, Limits: o.Limits})
	if err != nil {
		return err
	}
	defer set.Close()
	for _, f := range o.Source.Files() { // the plan is of the files as they were
		if err := f.Unchanged(); err != nil {
			return &output.BusyError{Err: err}
		}
	}
	_, err = edit.Run(ctx, edit.Options{Edit: fixes{x, f.Note}, Backup: f.Backup, Source: set, Flag: "lint --fix", Held: true, Workers: o.Workers, Guard: o.Guard, Version: o.Version,
		Strip: func(file string) bool { return x.Files[file].Strip }, Watch: o.Watch})
	return err
}

// fixes are the steps of a plan as an edit.
type fixes struct {
	*Fixed
	note string
}

// Prepare implements edit.Edit.
func (x fixes) Prepare([]*rule.File, bool) error { return nil }

// Steps implements edit.Edit.
func (x fixes) Steps(_ context.Context, src *input.Set, i int, _ int64) ([]transform.RowStep, []string, error) {
	return x.Files[src.Files()[i].Name].Steps, nil, nil
}

// String implements edit.Edit.
func (x fixes) String() string { return x.note }

// Fixable returns a *misuse.Error for the first file that cannot be fixed in place, whatever is found in it.
func Fixable(set *source.Set) error {
	var names []string
	for _, f := range set.Files() {
		switch {
		case strings.HasPrefix(f.Name, source.RemoteScheme):
			return misuse.Errorf("%s: files of this machine are fixed: fetch it with 'hf download'", f.Name)
		case f.Name == "-" || f.Name == "<stdin>":
			return misuse.Errorf("files are fixed, not standard input: name one")
		case f.Format != "parquet":
			return misuse.Errorf("%s: Parquet files are fixed: write the %s as Parquet with 'rlprep run', and fix that", f.Name, f.Format)
		case slices.Contains(names, f.Name):
			return misuse.Errorf("%s is named twice: what is fixed must be of one split", f.Name)
		}
		names = append(names, f.Name)
	}
	return nil
}
