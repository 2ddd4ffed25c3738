package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
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
	said := l.app.stderr
	if l.app.quiet {
		said = io.Discard
	}
	if l.fix.diff {
		n, err := fixed.Diff(ctx, l.app.stdout, set)
		if *l.fix.changes += n; err != nil {
			return found, err
		}
		fixed.PrintLeft(said, fixed.Plan.Found)
		return found, nil
	}
	fixed.PrintDone(said, set)
	fixed.PrintLeft(said, fixed.Left.Entries)
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
