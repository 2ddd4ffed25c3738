package mend

import (
	"context"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A request asks for what a rule found in a column of a file to be mended.
type request struct {
	Finding
	count int64
	file  int   // number of the file
	whole []int // all files that a trainer loads together with it
	mend  *rule.Mend
	group int
}

// An action plans steps for a request and returns why it cannot, "" where it can. It may find that there is nothing to do.
type action struct {
	plan  func(p *planner, ctx context.Context, r *request) (why string, err error)
	whole bool // it changes all files of the dataset at once
}

var actions = map[rule.Action]action{
	rule.FillIndex:     {(*planner).fillIndex, true},
	rule.RenumberIndex: {(*planner).renumberIndex, true},
	rule.CastIndex:     {(*planner).castIndex, true},
	rule.MoveIndex:     {(*planner).moveIndex, false},
	rule.OneType:       {oneType(sameKind), true},
	rule.NumberType:    {oneType(toNumbers), true},
	rule.TextType:      {oneType(toTexts), true},
	rule.AsText:        {(*planner).asText, false},
	rule.WriteAnew:     {(*planner).writeAnew, false},
	rule.StripMetadata: {(*planner).writeAnew, false},
	rule.DropColumn:    {(*planner).dropColumn, false},
	rule.DropNull:      {(*planner).dropNull, true},
	rule.SetAgent:      {(*planner).setAgent, false},
	rule.ReplaceAgent:  {(*planner).replaceAgent, false},
	rule.EachText:      {(*planner).eachText, false},
	rule.EachValue:     {(*planner).eachValue, false},
	rule.ReadJSON:      {(*planner).readJSON, false},
	rule.RenameFields:  {(*planner).renameFields, false},
	rule.DropRows:      {(*planner).dropRows, false},
}

// round plans what mends found and reports whether steps have been planned, or are to be in the next round.
func (p *planner) round(ctx context.Context, found []pipeline.Entry) (planned bool, err error) {
	p.touched = make([][]schema.Path, len(p.files))
	p.asked = map[int]request{}
	p.counts = map[Finding]int64{}
	for _, e := range found {
		if f := e.Findings[0]; len(e.Rows) > 0 {
			p.counts[Finding{f.Rule, f.Pos.File, f.Pos.Path}] += e.Count
		}
	}
	later := false
	found = slices.Clone(found) // types come first: others ask what type a column has
	slices.SortStableFunc(found, func(a, b pipeline.Entry) int { return strings.Compare(a.Findings[0].Rule.ID, b.Findings[0].Rule.ID) })
	for _, e := range found {
		first := e.Findings[0]
		if p.job.Passed != nil && p.job.Passed(first) {
			continue
		}
		file := slices.IndexFunc(p.files, func(f *rule.File) bool { return f.Name == first.Pos.File })
		if file < 0 { // of a launch
			continue
		}
		r := &request{Finding: Finding{first.Rule, first.Pos.File, first.Pos.Path}, count: e.Count, file: file, whole: p.together(file)}
		for p.next(r) {
			a := actions[r.mend.Do]
			if p.busy(r, a) {
				later = true
				break
			}
			n := p.count()
			p.try(r, a)
			why, err := a.plan(p, ctx, r)
			if err != nil {
				return false, err
			}
			if p.count() > n {
				planned = true
				p.asked[r.group] = *r
				delete(p.why, r.Finding)
				break
			}
			p.leave(r, a, why)
		}
	}
	return planned || later, nil
}

// next sets the mend of the rule that is to be tried now, and reports whether there is one.
func (p *planner) next(r *request) bool {
	mends := r.Rule.Mends
	for n := p.tried[r.Finding]; n < len(mends); n = p.tried[r.Finding] {
		r.mend = &mends[n]
		if !r.mend.Unsafe || p.job.Unsafe {
			p.group++
			r.group = p.group
			return true
		}
		p.tried[r.Finding]++
	}
	return false
}

// findings are what a request stands for: what changes all files of a dataset is tried for all of them at once.
func (p *planner) findings(r *request, a action) []Finding {
	if !a.whole {
		return []Finding{r.Finding}
	}
	out := make([]Finding, len(r.whole))
	for k, i := range r.whole {
		out[k] = Finding{r.Rule, p.files[i].Name, r.Path}
	}
	return out
}

// try notes that the request's mend has been tried.
func (p *planner) try(r *request, a action) {
	n := p.tried[r.Finding] + 1
	for _, f := range p.findings(r, a) {
		p.tried[f] = max(p.tried[f], n)
	}
}

// leave notes why what a request stands for is not mended.
func (p *planner) leave(r *request, a action, why string) {
	if why == "" {
		return
	}
	for _, f := range p.findings(r, a) {
		p.why[f] = why
	}
}

// busy reports whether steps of this round write what the request is about: it waits for the next.
func (p *planner) busy(r *request, a action) bool {
	files := []int{r.file}
	if a.whole {
		files = r.whole
	}
	for _, i := range files {
		if slices.ContainsFunc(p.touched[i], func(q schema.Path) bool { return q.Under(r.Path) || r.Path.Under(q) }) {
			return true
		}
	}
	return false
}

// count is how many steps are planned.
func (p *planner) count() (n int) {
	for _, steps := range p.steps {
		n += len(steps)
	}
	return n
}

// together lists the files that a trainer loads with file as one dataset, in their order.
func (p *planner) together(file int) (out []int) {
	for i, f := range p.files {
		if rule.SameDataset(f, p.files[file]) {
			out = append(out, i)
		}
	}
	return out
}

// add plans a step of a file that writes the column at path.
func (p *planner) add(r *request, file int, path schema.Path, t transform.Transform) {
	done := Done{Rule: r.Rule, Path: path, Action: r.mend.Do, Does: r.mend.Does, Rows: p.counts[Finding{r.Rule, p.files[file].Name, r.Path}]}
	strip := r.mend.Strip != nil && r.mend.Strip(p.job.Source.Files()[file])
	p.steps[file] = append(p.steps[file], step{refusing{t, r.group}, done, r.group, strip})
	p.touched[file] = append(p.touched[file], path)
}

// plans reports why a transform does not fit a file's columns, "" where it does.
func (p *planner) plans(file int, t transform.Transform) string {
	if _, err := t.Plan(p.files[file].Schema); err != nil {
		return err.Error()
	}
	return ""
}
