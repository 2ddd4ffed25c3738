// Package fix plans how 'lint --fix' fixes what rules find: for each file the transforms that the rules' own fixes (rule.Fix)
// ask for. It knows no framework and no column. Nothing is written here: internal/check has the transforms carried out by internal/edit.
//
// A plan is made in rounds. Each round fixes what the rules find in the files as the rounds before would leave them, so one fix may
// uncover what another one fixes. Where a fix does not help, the next one of its rule is tried. What the rules find after the last round is
// left.
package fix

import (
	"context"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A Plan is what fixes the files of a job.
type Plan struct {
	Files []File             // by their numbers in the source
	Found []judge.Entry      // what will be left, by the rules
	Left  map[Finding]string // why, where it can be said

	planner *planner
}

// A File is what becomes of one file.
type File struct {
	Steps []transform.RowStep // none: it stays as it is
	Strip bool                // the metadata of HF datasets is left out
	Done  []Done
	// Schema is that of the file once it is fixed.
	Schema *schema.Schema
}

// maxRounds bounds the rounds. Each fix of a finding is tried once, so they end by themselves.
const maxRounds = 12

// New plans what fixes found, which the job's rules have found in its files as they are.
func New(ctx context.Context, job *Job, found []judge.Entry) (*Plan, error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	p := &planner{job: job, tried: map[Finding]int{}, why: map[Finding]string{}}
	for _, f := range job.Input.Files() {
		g := *f
		p.files = append(p.files, &g)
	}
	p.steps = make([][]step, len(p.files))
	for range maxRounds {
		planned, err := p.round(ctx, found)
		if err != nil {
			return nil, err
		}
		if !planned {
			break
		}
		if found, err = p.judgeRound(ctx); err != nil {
			return nil, err
		}
	}
	return p.result(found), nil
}

func (p *planner) result(found []judge.Entry) *Plan {
	out := &Plan{Files: make([]File, len(p.files)), Found: found, Left: p.why, planner: p}
	for i, steps := range p.steps {
		f := &out.Files[i]
		f.Schema = p.files[i].Schema
		for _, s := range steps {
			f.Steps = append(f.Steps, s.RowStep)
			f.Strip = f.Strip || s.strip
			if !slices.Contains(f.Done, s.done) {
				f.Done = append(f.Done, s.done)
			}
		}
		for k := range f.Done {
			f.Done[k].Change = changed(p.job.Input.Files()[i].Schema, f.Schema, &f.Done[k])
		}
	}
	return out
}

// changed says what a fix that aligns the files of a dataset has made of the types at its path: "large_string → string". Other fixes say it in
// their titles.
func changed(before, after *schema.Schema, d *Done) string {
	was, had := before.Lookup(d.Path)
	is, has := after.Lookup(d.Path)
	if !d.Fix.Dataset || !had || !has {
		return ""
	}
	if len(was.Type.Fields)+len(is.Type.Fields) == 0 && was.Type.String() != is.Type.String() {
		return was.Type.String() + " → " + is.Type.String()
	}
	var mine []string
	for _, line := range schema.Changes(before, after) {
		path, _, _ := strings.Cut(line[1:], ": ")
		if schema.Path(path).Under(d.Path) {
			mine = append(mine, line)
		}
	}
	switch {
	case len(mine) > 0:
		return strings.Join(mine, ", ")
	case !slices.Equal(before.Names(), after.Names()):
		return "columns in the order of the other files"
	}
	return ""
}
