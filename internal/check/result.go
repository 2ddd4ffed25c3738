package check

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/project"
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
	Datasets []Dataset       // what was judged together, in order

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

// A Dataset is files that were judged together.
type Dataset struct {
	Name  string       // the launch, the file, or the folder that all files are in
	Files []string     // its files and the launch's
	Rules []*rule.Rule // that looked, sorted by id
}

// dataset describes the files of set, judged for env with a launch ("": none).
func dataset(env *rule.Env, rules []*rule.Rule, set *source.Set, launch string) Dataset {
	var d Dataset
	for _, f := range set.Files() {
		d.Files = append(d.Files, f.Name)
		if dir := path.Dir(filepath.ToSlash(f.Name)); d.Name == "" {
			d.Name = f.Name
		} else {
			for d.Name != "." && d.Name != "/" && d.Name != dir && !strings.HasPrefix(dir, d.Name+"/") {
				d.Name = path.Dir(filepath.ToSlash(d.Name))
			}
		}
	}
	for _, r := range rules {
		if _, on := rule.NewPass(r, env); on && (r.OfLaunch() && env.Launch != nil || !r.OfLaunch() && len(d.Files) > 0) {
			d.Rules = append(d.Rules, r)
		}
	}
	if launch != "" {
		d.Name = launch
		d.Files = append(d.Files, launch)
	}
	return d
}

// Add takes what was found in the files of set, judged for env by rules, with a launch ("": none).
func (f *Result) Add(env *rule.Env, rules []*rule.Rule, set *source.Set, launch string, rep *pipeline.Report) {
	target := env.Target
	if d := dataset(env, rules, set, launch); len(d.Rules) > 0 {
		f.Datasets = append(f.Datasets, d)
	}
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

// Levels counts the findings of each level.
func (f *Result) Levels() (n [rule.Error + 1]int64) {
	for _, e := range f.Report.Entries {
		n[e.Findings[0].Level] += e.Count
	}
	return n
}

// Pass takes away what the project file suppresses. It returns the number of findings, and the rules that were on and suppressed nothing.
func (f *Result) Pass(p *project.File) (count int64, unused []project.Passed) {
	used := map[project.Passed]bool{}
	f.Report.Entries = slices.DeleteFunc(f.Report.Entries, func(e judge.Entry) bool {
		by := p.Passing(e.Findings[0])
		for _, i := range by {
			used[i] = true
		}
		if len(by) > 0 {
			count += e.Count
		}
		return len(by) > 0
	})
	for i, g := range p.PerFile {
		for k, name := range g.Rules {
			on := slices.ContainsFunc(f.Rules, func(r *rule.Rule) bool { return r.Named(name) })
			if at := (project.Passed{Entry: i, Rule: k}); on && !used[at] {
				unused = append(unused, at)
			}
		}
	}
	return count, unused
}

// Owns makes Close close the files of set.
func (f *Result) Owns(sets ...*source.Set) { f.sets = append(f.sets, sets...) }

// Close closes the files of all sets that f owns.
func (f *Result) Close() {
	for _, s := range f.sets {
		s.Close()
	}
}
