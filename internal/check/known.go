package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/baseline"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// Known is the baseline that a result is compared with. Its places are named from the folder of the baseline's file.
type Known struct {
	Name string // of the file, as seen from the working directory
	baseline.Baseline
}

// Count counts the findings by place.
func (k *Known) Count(found *Result) baseline.Baseline {
	now := baseline.Baseline{}
	for _, e := range found.Report.Entries {
		now[k.place(e)] += e.Count
	}
	return now
}

// Next returns the baseline that is to be written for what was found.
func (k *Known) Next(found *Result) baseline.Baseline {
	return k.Update(k.Count(found), k.looked(found))
}

// Subtract takes away what the baseline knows, and returns how many findings that were, and where there are more and fewer than it knows.
func (k *Known) Subtract(found *Result) (count int64, more, fewer []baseline.Change) {
	more, fewer = k.Compare(k.Count(found), k.looked(found))
	found.Report.Entries = slices.DeleteFunc(found.Report.Entries, func(e judge.Entry) bool {
		known := !slices.ContainsFunc(more, func(c baseline.Change) bool { return c.Place == k.place(e) })
		if known {
			count += e.Count
		}
		return known
	})
	return count, more, fewer
}

// place is what the findings of e are counted by.
func (k *Known) place(e judge.Entry) baseline.Place {
	first := e.Findings[0]
	return baseline.Place{File: k.fromHere(first.Pos.File), Rule: first.Rule.ID, Column: strings.ToValidUTF8(string(first.Pos.Path), "\uFFFD")}
}

// fromHere is the name of a file as seen from the folder of the baseline.
func (k *Known) fromHere(name string) string {
	if !strings.HasPrefix(name, source.RemoteScheme) && name != "-" {
		if rel, err := filepath.Rel(source.Absolute(filepath.Dir(k.Name)), source.Absolute(name)); err == nil {
			name = filepath.ToSlash(rel)
		}
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// looked says of which places this run knows all findings: of the files that it checked, by the rules that were on; and of files that are gone.
func (k *Known) looked(found *Result) func(baseline.Place) bool {
	files := map[string]bool{}
	for _, name := range slices.Concat(found.Launches, input.Names(&found.Set)) {
		files[k.fromHere(name)] = true
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
			name = filepath.Join(filepath.Dir(k.Name), filepath.FromSlash(name))
		}
		_, err := os.Lstat(name)
		return errors.Is(err, fs.ErrNotExist)
	}
}

// maxNotes is how many places Notes names.
const maxNotes = 10

// Notes returns a line for each of the first places where a run found more, or fewer, than the baseline knows, and one for how many follow.
func Notes(changes []baseline.Change) (notes []string) {
	for i, c := range changes {
		if i == maxNotes {
			return append(notes, fmt.Sprintf("… %s more", amount.Thousands(int64(len(changes)-i))))
		}
		at := c.File
		if c.Column != "" {
			at += ": " + c.Column
		}
		text := fmt.Sprintf("%s of %s known", amount.Thousands(c.Was), amount.Thousands(c.Is))
		if c.Is < c.Was {
			text = fmt.Sprintf("%s known, now %s: --write-baseline lowers it", amount.Thousands(c.Was), amount.Thousands(c.Is))
		}
		notes = append(notes, fmt.Sprintf("%s: %s %s: %s", at, c.Rule, RuleName(c.Rule), text))
	}
	return notes
}

// RuleName returns the name of the rule with that id, "" where there is none.
func RuleName(id string) string {
	if r := rule.Find(id); r != nil {
		return r.Name
	}
	return ""
}
