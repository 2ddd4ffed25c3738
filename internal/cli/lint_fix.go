package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/fix"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// checkAndFix checks the files of set; with --fix they are fixed before, and opened again as they are then.
func (l *lint) checkAndFix(ctx context.Context, set *source.Set) (*pipeline.Report, error) {
	if l.fix.active() {
		if err := check.Fixable(set); err != nil {
			return nil, err
		}
	}
	found, err := l.check(ctx, set)
	if err != nil {
		return nil, err
	}
	if !l.fix.active() {
		return found, l.remedies(ctx, set, found)
	}
	if len(set.Files()) == 0 {
		return found, nil
	}
	if len(set.Errors)+len(found.Errors) > 0 {
		escape.Fprintln(l.app.stderr, "note: nothing was fixed, as not all files could be read")
		return found, nil
	}
	o := l.checkOptions(set)
	fixed, err := check.Fix(ctx, o, check.FixOptions{DryRun: !l.fix.on || l.fix.diff, Unsafe: l.fix.unsafe, Passed: l.project.file.Passes, Note: l.fix.String(), Backup: l.fix.backup}, found)
	if err != nil {
		return nil, asInput(err)
	}
	x := &fixRun{lint: l, set: set, done: fixed}
	if l.fix.diff {
		return found, x.show(ctx)
	}
	x.sayFixed()
	x.sayLeft(fixed.Left.Entries)
	return fixed.Left, nil
}

// end gives --diff its status.
func (x *lintFix) end(l *lint, found *check.Result) error {
	if failed := slices.Concat(found.Set.Errors, found.Report.Errors); len(failed) > 0 {
		return withCode(ExitFile, errors.Join(failed...))
	}
	if *x.changes > 0 && !l.exitZero {
		return errFindings
	}
	return nil
}

// A fixRun says what was fixed in the files of a set.
type fixRun struct {
	lint *lint
	set  *source.Set
	done *check.Fixed
}

// sayLeft says what is not fixed and why.
func (x *fixRun) sayLeft(left []judge.Entry) {
	if x.lint.app.quiet {
		return
	}
	told := map[string]bool{}
	for _, e := range left {
		f := e.Findings[0]
		if x.lint.project.file.Passes(f) {
			continue
		}
		line := fmt.Sprintf("%s %s: %s", f.Rule.ID, f.Rule.Name, x.why(f))
		if f.Pos.Path != "" {
			line = string(f.Pos.Path) + ": " + line
		}
		if told[line] {
			continue
		}
		if told[line] = true; len(told) > maxFileLines {
			escape.Fprintln(x.lint.app.stderr, "left: more, for like reasons")
			return
		}
		escape.Fprintf(x.lint.app.stderr, "left: %s\n", line)
	}
}

// sayFixed says what was done to each file.
func (x *fixRun) sayFixed() {
	if x.lint.app.quiet {
		return
	}
	lines := 0
	for _, f := range x.set.Files() {
		m := x.done.Files[f.Name]
		if m == nil {
			continue
		}
		for _, d := range m.Done {
			if lines++; lines <= maxFileLines {
				escape.Fprintf(x.lint.app.stderr, "fixed: %s: %s\n", f.Name, d.String())
			}
		}
	}
	if lines > maxFileLines {
		escape.Fprintf(x.lint.app.stderr, "fixed: %s in all\n", amount.Of(len(x.done.Files), "file"))
	}
}

// why says why a finding is left.
func (x *fixRun) why(f rule.Finding) string {
	why := x.done.Plan.Left[fix.Finding{Rule: f.Rule, File: f.Pos.File, Path: f.Pos.Path}]
	for _, m := range f.Rule.Fixes {
		switch {
		case !m.Unsafe || x.lint.fix.unsafe:
		case why == "":
			return "--unsafe-fixes " + m.Title
		default:
			return why + "; --unsafe-fixes " + m.Title
		}
	}
	if why == "" || strings.Contains(why, f.Rule.Unfixed) {
		return cmp.Or(why, f.Rule.Unfixed)
	}
	return why + "; " + f.Rule.Unfixed
}

// show prints what would change.
func (x *fixRun) show(ctx context.Context) error {
	n, err := x.done.Diff(ctx, x.lint.app.stdout, x.set)
	if *x.lint.fix.changes += n; err != nil {
		return err
	}
	x.sayLeft(x.done.Plan.Found)
	return nil
}
