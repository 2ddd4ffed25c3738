package check

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Result is what was found, in one set of files or in several data sets and launches. Close closes the files.
type Result struct {
	Set      source.Set      // every file, once; not to be closed by itself
	Report   pipeline.Report // findings and damaged files
	Launches []string        // scripts and configurations, as named
	Targets  []rule.Target   // that the rows were checked against, each once
	Rules    []*rule.Rule    // that were on, sorted by id

	sets  []*source.Set
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

// Add takes what was found in the files of set.
func (f *Result) Add(target rule.Target, rules []*rule.Rule, set *source.Set, rep *pipeline.Report) {
	if f.files == nil {
		f.files, f.seen = map[string]bool{}, map[foundEntry]bool{}
	}
	if !slices.Contains(f.Targets, target) {
		f.Targets = append(f.Targets, target)
	}
	f.Rules = append(f.Rules, rules...)
	slices.SortFunc(f.Rules, func(a, b *rule.Rule) int { return strings.Compare(a.ID, b.ID) })
	f.Rules = slices.Compact(f.Rules)
	f.Set.Errors = append(f.Set.Errors, set.Errors...)
	for _, s := range set.Splits {
		mine := source.Split{Name: s.Name}
		for _, file := range s.Files {
			if !f.files[file.Name] {
				f.files[file.Name] = true
				mine.Files = append(mine.Files, file)
			}
		}
		f.Set.Splits = append(f.Set.Splits, mine)
	}
	for _, e := range rep.Entries {
		first := e.Findings[0]
		k := foundEntry{first.Rule, first.Level, first.Pos, first.Message, e.Count}
		if !f.seen[k] {
			f.seen[k] = true
			f.Report.Entries = append(f.Report.Entries, e)
		}
	}
	f.Report.Errors = append(f.Report.Errors, rep.Errors...)
}

// Failed reports whether there is a finding at level or above.
func (f *Result) Failed(level rule.Level) bool {
	return slices.ContainsFunc(f.Report.Entries, func(e judge.Entry) bool { return e.Findings[0].Level >= level })
}

// Owns makes Close close the files of set.
func (f *Result) Owns(sets ...*source.Set) { f.sets = append(f.sets, sets...) }

// Close closes the files of all sets that f owns.
func (f *Result) Close() {
	for _, s := range f.sets {
		s.Close()
	}
}
