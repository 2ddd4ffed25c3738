package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/baseline"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/project"
)

// open finds the baseline's name.
func (b *lintBaseline) open(l *lint) error {
	if f := l.project.file; b.name == "" && f != nil && f.Baseline != "" {
		b.name = l.project.file.Here(f.Baseline)
	}
	switch {
	case b.write && b.name == "":
		return misuse.Errorf("--write-baseline: name its file with --baseline, or as baseline in %s", project.FileName)
	case b.write && (l.schemaOnly || l.limit > 0):
		return misuse.Errorf("--write-baseline needs all rows: remove --schema-only and --rows")
	}
	return nil
}

// read reads the baseline.
func (b *lintBaseline) read(l *lint) error {
	if b.name == "" {
		return nil
	}
	read := func(name string) ([]byte, error) { return l.app.readFile("--baseline", name) }
	if b.write {
		read = os.ReadFile // it is replaced: an output
		if info, err := os.Stat(b.name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			b.known = check.Known{Name: b.name, Baseline: baseline.Baseline{}} // it is written into
			return nil
		}
	}
	text, err := read(b.name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && b.write:
		b.known = check.Known{Name: b.name, Baseline: baseline.Baseline{}}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return misuse.Errorf("%s: baseline not found; create it with --write-baseline", b.name)
	case err != nil:
		return err
	}
	b.known.Name = b.name
	b.known.Baseline, err = baseline.Parse(b.name, text)
	return withCode(ExitUsage, err)
}

// subtract takes away what the baseline knows, or writes it: done then says that nothing is to be reported.
func (b *lintBaseline) subtract(ctx context.Context, l *lint, found *check.Result) (done bool, err error) {
	if b.name == "" {
		return false, nil
	}
	whole := len(found.Set.Errors)+len(found.Report.Errors) == 0
	if b.write {
		if !whole {
			return false, nil // what could not be read is an error of the run
		}
		return true, b.save(ctx, l, b.known.Next(found))
	}
	count, more, fewer := b.known.Subtract(found)
	if l.app.quiet {
		return false, nil
	}
	if count > 0 {
		escape.Fprintf(l.app.stderr, "%s known to %s\n", amount.Of(int(count), "finding"), b.name)
	}
	b.report(l, check.Notes(more))
	if whole && !l.schemaOnly && l.limit == 0 {
		b.report(l, check.Notes(fewer))
	}
	return false, nil
}

// report prints notes about places of the baseline.
func (b *lintBaseline) report(l *lint, notes []string) {
	for _, note := range notes {
		escape.Fprintf(l.app.stderr, "%s: note: %s\n", b.name, note)
	}
}

// save writes the baseline and says what became of the old one.
func (b *lintBaseline) save(ctx context.Context, l *lint, next baseline.Baseline) error {
	if err := output.WriteNamed(ctx, b.name, next.Bytes(check.RuleName)); err != nil {
		return err
	}
	more, fewer := b.known.Compare(next, func(baseline.Place) bool { return true })
	var findings int64
	for _, n := range next {
		findings += n
	}
	if !l.app.quiet {
		escape.Fprintf(l.app.stderr, "wrote %s: %s in %s (%d raised or new, %d lowered or gone)\n", b.name, amount.Of(int(findings), "finding"), amount.Of(len(next), "place"), len(more), len(fewer))
	}
	return nil
}
