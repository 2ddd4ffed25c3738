package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/baseline"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/project"
	"github.com/rlprep/rlprep/schema/rule"
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

// subtract removes the findings that the baseline knows, or writes the baseline: done then says that nothing is reported.
func (b *lintBaseline) subtract(ctx context.Context, l *lint, found *check.Result) (done bool, err error) {
	if b.name == "" {
		return false, nil
	}
	whole := len(found.Set.Errors)+len(found.Report.Errors) == 0
	if b.write {
		if !whole {
			return false, nil // what could not be read is reported, and fails
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
	b.report(l, more, func(c baseline.Change) string {
		return fmt.Sprintf("%s of %s known", amount.Thousands(c.Was), amount.Thousands(c.Is))
	})
	if whole && !l.schemaOnly && l.limit == 0 {
		b.report(l, fewer, func(c baseline.Change) string {
			return fmt.Sprintf("%s known, now %s: --write-baseline lowers it", amount.Thousands(c.Was), amount.Thousands(c.Is))
		})
	}
	return false, nil
}

// maxNotes is how many notes of a kind are printed.
const maxNotes = 10

func (b *lintBaseline) report(l *lint, changes []baseline.Change, text func(baseline.Change) string) {
	for i, c := range changes {
		if i == maxNotes {
			escape.Fprintf(l.app.stderr, "%s: note: … %s more\n", b.name, amount.Thousands(int64(len(changes)-i)))
			return
		}
		at := c.File
		if c.Column != "" {
			at += ": " + c.Column
		}
		escape.Fprintf(l.app.stderr, "%s: note: %s: %s %s: %s\n", b.name, at, c.Rule, ruleName(c.Rule), text(c))
	}
}

// save writes the baseline and says what became of the old one.
func (b *lintBaseline) save(ctx context.Context, l *lint, next baseline.Baseline) error {
	if err := output.WriteNamed(ctx, b.name, next.Bytes(ruleName)); err != nil {
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

func ruleName(id string) string {
	if r := rule.Find(id); r != nil {
		return r.Name
	}
	return ""
}
