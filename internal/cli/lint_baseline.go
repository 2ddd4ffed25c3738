package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/baseline"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/project"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// lintBaseline is the baseline that a run of lint keeps to or writes.
type lintBaseline struct {
	name  string // "": none
	write bool

	known baseline.Baseline
}

func (b *lintBaseline) register(f *pflag.FlagSet) {
	f.StringVar(&b.name, "baseline", "", "file of findings that are known: only more than these of a rule, column and file are reported, and fail")
	f.BoolVar(&b.write, "write-baseline", false, "write what is found to the file of --baseline (or of "+project.FileName+")")
}

// open finds the baseline's name.
func (b *lintBaseline) open(l *lint) error {
	if f := l.project.file; b.name == "" && f != nil && f.Baseline != "" {
		b.name = l.project.inDir(f.Baseline)
	}
	switch {
	case b.write && b.name == "":
		return usagef("--write-baseline: name its file by --baseline, or as baseline in %s", project.FileName)
	case b.write && (l.schemaOnly || l.limit > 0):
		return usagef("--write-baseline needs all rows: leave out --schema-only and --rows")
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
			b.known = baseline.Baseline{} // it is written into
			return nil
		}
	}
	text, err := read(b.name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && b.write:
		b.known = baseline.Baseline{}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return usagef("%s: there is no such baseline: --write-baseline writes it", b.name)
	case err != nil:
		return err
	}
	b.known, err = baseline.Parse(b.name, text)
	return withCode(ExitUsage, err)
}

// settle takes away what the baseline knows, or writes it anew: done then says that nothing is to be reported.
func (b *lintBaseline) settle(ctx context.Context, l *lint, found *check.Result) (done bool, err error) {
	if b.name == "" {
		return false, nil
	}
	now := baseline.Baseline{}
	for _, e := range found.Report.Entries {
		now[b.place(e)] += e.Count
	}
	whole := len(found.Set.Errors)+len(found.Report.Errors) == 0
	looked := b.looked(found)
	if b.write {
		if !whole {
			return false, nil // what could not be read is told, and fails
		}
		return true, b.save(ctx, l, b.known.Update(now, looked))
	}
	more, fewer := b.known.Compare(now, looked)
	var count int64
	found.Report.Entries = slices.DeleteFunc(found.Report.Entries, func(e judge.Entry) bool {
		known := !slices.ContainsFunc(more, func(c baseline.Change) bool { return c.Place == b.place(e) })
		if known {
			count += e.Count
		}
		return known
	})
	if l.app.quiet {
		return false, nil
	}
	if count > 0 {
		escape.Fprintf(l.app.stderr, "%s known to %s\n", amount.Of(int(count), "finding"), b.name)
	}
	b.tell(l, more, func(c baseline.Change) string {
		return fmt.Sprintf("%s of %s known", amount.Thousands(c.Was), amount.Thousands(c.Is))
	})
	if whole && !l.schemaOnly && l.limit == 0 {
		b.tell(l, fewer, func(c baseline.Change) string {
			return fmt.Sprintf("%s known, now %s: --write-baseline lowers it", amount.Thousands(c.Was), amount.Thousands(c.Is))
		})
	}
	return false, nil
}

// maxNotes is how many notes of a kind are told.
const maxNotes = 10

func (b *lintBaseline) tell(l *lint, changes []baseline.Change, text func(baseline.Change) string) {
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

// place is what the findings of e are counted by.
func (b *lintBaseline) place(e judge.Entry) baseline.Place {
	first := e.Findings[0]
	return baseline.Place{File: b.fromHere(first.Pos.File), Rule: first.Rule.ID, Column: strings.ToValidUTF8(string(first.Pos.Path), "\uFFFD")}
}

// fromHere is the name of a file as seen from the folder of the baseline.
func (b *lintBaseline) fromHere(name string) string {
	if !strings.HasPrefix(name, source.RemoteScheme) && name != "-" {
		if rel, err := filepath.Rel(source.Absolute(filepath.Dir(b.name)), source.Absolute(name)); err == nil {
			name = filepath.ToSlash(rel)
		}
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// looked says of which places this run knows all findings: of the files that it checked, by the rules that were on; and of files that are gone.
func (b *lintBaseline) looked(found *check.Result) func(baseline.Place) bool {
	files := map[string]bool{}
	for _, name := range slices.Concat(found.Launches, input.Names(&found.Set)) {
		files[b.fromHere(name)] = true
	}
	return func(p baseline.Place) bool {
		if files[p.File] {
			return slices.ContainsFunc(found.Rules, func(r *rule.Rule) bool { return r.ID == p.Rule }) || rule.Find(p.Rule) == nil
		}
		if strings.HasPrefix(p.File, source.RemoteScheme) || p.File == "-" {
			return false
		}
		name := p.File
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(b.name), filepath.FromSlash(name))
		}
		_, err := os.Lstat(name)
		return errors.Is(err, fs.ErrNotExist)
	}
}
