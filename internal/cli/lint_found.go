package cli

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// lintFound is what a run of lint found, in one set of files or in several data sets and launches.
type lintFound struct {
	set      source.Set // every file, once; not to be closed
	report   pipeline.Report
	launches []string // scripts and configurations, as named
	targets  []rule.Target
	rules    []*rule.Rule // that were on, sorted by id

	sets  []*source.Set // to be closed
	files map[string]bool
	seen  map[foundEntry]bool
}

// A foundEntry tells entries apart: launches and data sets that share files find the same in them.
type foundEntry struct {
	rule    *rule.Rule
	level   rule.Level
	pos     schema.Pos
	message string
	count   int64
}

// add takes what was found in the files of set.
func (f *lintFound) add(target rule.Target, rules []*rule.Rule, set *source.Set, rep *pipeline.Report) {
	if f.files == nil {
		f.files, f.seen = map[string]bool{}, map[foundEntry]bool{}
	}
	if !slices.Contains(f.targets, target) {
		f.targets = append(f.targets, target)
	}
	f.rules = append(f.rules, rules...)
	slices.SortFunc(f.rules, func(a, b *rule.Rule) int { return strings.Compare(a.ID, b.ID) })
	f.rules = slices.Compact(f.rules)
	f.set.Errors = append(f.set.Errors, set.Errors...)
	for _, s := range set.Splits {
		mine := source.Split{Name: s.Name}
		for _, file := range s.Files {
			if !f.files[file.Name] {
				f.files[file.Name] = true
				mine.Files = append(mine.Files, file)
			}
		}
		f.set.Splits = append(f.set.Splits, mine)
	}
	for _, e := range rep.Entries {
		first := e.Findings[0]
		k := foundEntry{first.Rule, first.Level, first.Pos, first.Message, e.Count}
		if !f.seen[k] {
			f.seen[k] = true
			f.report.Entries = append(f.report.Entries, e)
		}
	}
	f.report.Errors = append(f.report.Errors, rep.Errors...)
}

// failed reports whether there is a finding at level or above.
func (f *lintFound) failed(level rule.Level) bool {
	return slices.ContainsFunc(f.report.Entries, func(e pipeline.Entry) bool { return e.Findings[0].Level >= level })
}

func (f *lintFound) close() {
	for _, s := range f.sets {
		s.Close()
	}
}
