package fix

import (
	"cmp"
	"context"
	"slices"

	"github.com/rlprep/rlprep/internal/judge"
)

// judgeRound judges what a round has planned and returns what is found then. Groups of steps that do not help, or cannot be carried out, are
// taken back.
func (p *planner) judgeRound(ctx context.Context) ([]judge.Entry, error) {
	for {
		found, bad, err := p.judge(ctx, p.all())
		if err != nil && ctx.Err() == nil {
			if bad = p.failing(ctx); len(bad) == 0 {
				return nil, err
			}
			err = nil
		} else {
			p.ineffective(found, bad)
		}
		if err != nil || len(bad) == 0 {
			return found, err
		}
		for group, why := range bad {
			p.withdraw(group, why)
		}
	}
}

// failing returns the groups of this round that some file cannot be judged with, with the reason.
func (p *planner) failing(ctx context.Context) map[int]string {
	bad := map[int]string{}
	for i, steps := range p.steps {
		p.steps[i] = slices.DeleteFunc(slices.Clone(steps), func(s step) bool { return bad[s.group] != "" })
		if _, _, err := p.judge(ctx, []int{i}); err != nil {
			p.failingIn(ctx, i, bad)
		}
		p.steps[i] = steps
	}
	return bad
}

// failingIn adds to bad the groups of a file's steps with which it cannot be judged: they are tried one after the other.
func (p *planner) failingIn(ctx context.Context, file int, bad map[int]string) {
	all := p.steps[file]
	var kept []step
	for at := 0; at < len(all); {
		group := all[at].group
		n := at
		for n < len(all) && all[n].group == group {
			n++
		}
		p.steps[file] = append(slices.Clone(kept), all[at:n]...)
		at = n
		if _, ok := p.asked[group]; ok {
			if _, _, err := p.judge(ctx, []int{file}); err != nil {
				bad[group] = err.Error()
				continue
			}
		}
		kept = p.steps[file]
	}
}

// withdraw takes a group of steps back.
func (p *planner) withdraw(group int, why string) {
	p.refuse(group, why)
	for i, steps := range p.steps {
		p.steps[i] = slices.DeleteFunc(steps, func(s step) bool {
			return s.group == group
		})
	}
}

// refuse notes why a group of steps is taken back.
func (p *planner) refuse(group int, why string) {
	if r, ok := p.asked[group]; ok {
		p.leave(&r, why)
	}
}

// ineffective adds to bad the groups of this round that have not helped: what they were asked for is found as often as before.
func (p *planner) ineffective(now []judge.Entry, bad map[int]string) {
	for group, r := range p.asked {
		planned := slices.ContainsFunc(p.steps, func(steps []step) bool {
			return slices.ContainsFunc(steps, func(s step) bool { return s.group == group })
		})
		for _, e := range now {
			f := e.Findings[0]
			if planned && (Finding{f.Rule, f.Pos.File, f.Pos.Path}) == r.Finding && e.Count >= r.count {
				bad[group] = cmp.Or(bad[group], p.why[r.Finding], r.Finding.Rule.Unfixed, "it would not help")
			}
		}
	}
}
