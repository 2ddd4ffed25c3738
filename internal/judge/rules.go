// Package judge runs rules. It shows them footers, what statistics say, columns and rows (checks.go), gathers what they find
// (findings.go), and collects the keys that rules and barrier steps emit for rows, sorts them in bounded memory and hands over
// the rows of each key (keys.go). It can keep the results of a file for the next run (cache.go). It knows neither where rows
// come from nor where they go.
package judge

import (
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// Rules are the rules of a job. The number of a rule is its index in List.
type Rules struct {
	List []*rule.Rule
	Env  *rule.Env
	// DowngradeErrors holds the ids of rules whose errors count as warnings (Recipe.Expects).
	DowngradeErrors []string
	// RejectFrom is the level from which on a finding about one row, of the checks that look at rows, takes that row out: Checks.Rows returns
	// it, and nobody reports it. rule.Off: none.
	RejectFrom rule.Level
}

// passes makes a pass for every rule that applies, nil for the others. Its findings go to sink.
func (r *Rules) passes(s *schema.Schema, sink func(rule.Finding)) []*rule.Pass {
	out := make([]*rule.Pass, len(r.List))
	for i, ru := range r.List {
		p, ok := rule.NewPass(ru, r.Env)
		if !ok {
			continue
		}
		p.Schema = s
		p.Sink = func(f rule.Finding) {
			if f.Level == rule.Error && slices.Contains(r.DowngradeErrors, ru.ID) {
				f.Level = rule.Warning
			}
			sink(f)
		}
		out[i] = p
	}
	return out
}

// Files shows the footers of all files to every rule.
func (r *Rules) Files(files []*rule.File, to *Findings) {
	for _, pass := range r.passes(nil, to.Add) {
		if pass != nil {
			pass.Rule.New(pass).Files(files)
		}
	}
}

// Groups shows the rules the rows of every key that was emitted. A rule sees its own keys and those of the rules that share them.
func (r *Rules) Groups(k *Keys, files []*rule.File, to *Findings) error {
	listeners := make([][]rule.Checker, len(r.List))
	r.eachListener(to.Add, func(emitter int, pass *rule.Pass) {
		listeners[emitter] = append(listeners[emitter], pass.Rule.New(pass))
	})
	return k.Each(func(g *Group) {
		for _, c := range listeners[g.Emitter()] {
			c.Group(g.Key(), g.hits(files))
		}
	})
}

// Singletons says of each rule whether a rule that sees its keys also looks at keys that were emitted once.
func (r *Rules) Singletons() []bool {
	out := make([]bool, len(r.List))
	r.eachListener(func(rule.Finding) {}, func(emitter int, pass *rule.Pass) { out[emitter] = out[emitter] || pass.Rule.JudgeSingletons })
	return out
}

// eachListener visits the passes of all rules with the number of the rule that emits the keys they see: the first of those that share keys.
func (r *Rules) eachListener(sink func(rule.Finding), visit func(emitter int, pass *rule.Pass)) {
	leader := map[string]int{}
	for i, pass := range r.passes(nil, sink) {
		if pass == nil {
			continue
		}
		at := i
		if as := pass.Rule.SharesKeysAs; as != "" {
			if first, ok := leader[as]; ok {
				at = first
			} else {
				leader[as] = i
			}
		}
		visit(at, pass)
	}
}
