package fix

import (
	"context"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// round plans what fixes found and reports whether steps have been planned, or are to be in the next round.
func (p *planner) round(ctx context.Context, found []judge.Entry) (planned bool, err error) {
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
	slices.SortStableFunc(found, func(a, b judge.Entry) int { return strings.Compare(a.Findings[0].Rule.ID, b.Findings[0].Rule.ID) })
	for _, e := range found {
		first := e.Findings[0]
		if p.job.Passed != nil && p.job.Passed(first) {
			continue
		}
		file := slices.IndexFunc(p.files, func(f *rule.File) bool { return f.Name == first.Pos.File })
		if file < 0 { // of a launch
			continue
		}
		r := &request{planner: p, Finding: Finding{first.Rule, first.Pos.File, first.Pos.Path}, count: e.Count, file: file, dataset: p.together(file)}
		one, wait, err := p.plan(ctx, r)
		if err != nil {
			return false, err
		}
		planned, later = planned || one, later || wait
	}
	return planned || later, nil
}

// plan tries the fixes of a request until one plans steps. wait: its column is being written by another fix of this round.
func (p *planner) plan(ctx context.Context, r *request) (planned, wait bool, err error) {
	for p.next(r) {
		if p.busy(r) {
			return false, true, nil
		}
		n := p.count()
		p.try(r)
		why, err := r.fix.Plan(ctx, r)
		if err != nil {
			return false, false, err
		}
		if p.count() > n {
			p.asked[r.group] = *r
			delete(p.why, r.Finding)
			return true, false, nil
		}
		p.leave(r, why)
	}
	return false, false, nil
}

// next sets the fix of the rule that is to be tried now, and reports whether there is one.
func (p *planner) next(r *request) bool {
	fixes := r.Finding.Rule.Fixes
	for n := p.tried[r.Finding]; n < len(fixes); n = p.tried[r.Finding] {
		r.fix = &fixes[n]
		if !r.fix.Unsafe || p.job.Unsafe {
			p.group++
			r.group = p.group
			return true
		}
		p.tried[r.Finding]++
	}
	return false
}

// findings are what a request stands for: what changes all files of a dataset is tried for all of them at once.
func (p *planner) findings(r *request) []Finding {
	if !r.fix.Dataset {
		return []Finding{r.Finding}
	}
	out := make([]Finding, len(r.dataset))
	for k, i := range r.dataset {
		out[k] = Finding{r.Finding.Rule, p.files[i].Name, r.Finding.Path}
	}
	return out
}

// try notes that the request's fix has been tried.
func (p *planner) try(r *request) {
	n := p.tried[r.Finding] + 1
	for _, f := range p.findings(r) {
		p.tried[f] = max(p.tried[f], n)
	}
}

// leave notes why what a request stands for is not fixed.
func (p *planner) leave(r *request, why string) {
	if why == "" {
		return
	}
	for _, f := range p.findings(r) {
		p.why[f] = why
	}
}

// busy reports whether steps of this round write what the request is about: it waits for the next.
func (p *planner) busy(r *request) bool {
	files := []int{r.file}
	if r.fix.Dataset {
		files = r.dataset
	}
	path := r.Finding.Path
	for _, i := range files {
		if slices.ContainsFunc(p.touched[i], func(q schema.Path) bool { return q.Under(path) || path.Under(q) }) {
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
