package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/fix"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// Remedies are looked for in data sets up to these sizes: a plan of fixes judges the rows several times. Larger ones get no command.
const (
	maxRemedyBytes = 8 << 20
	maxRemedyRows  = 200_000
	maxRemedyRules = 8 // with fixes that change values
)

// A Remedy is what lint advises about the findings of one rule in one column of one file.
type Remedy struct {
	// Flags are those of lint with which the findings are fewer and no other appears, beside the flags of this run. Nil: there is no such
	// command.
	Flags  []string
	Select bool   // the command selects the rule alone, since it changes values
	Note   string // says what the command does, or when it is right; "": nothing
}

// Remedies returns the remedies of what Run found. Those that fix files are planned with the current files, and only where the plan holds.
// passed reports whether a finding is to be left alone.
func Remedies(ctx context.Context, o Options, found *pipeline.Report, passed func(rule.Finding) bool) (map[fix.Finding]Remedy, error) {
	r := &remedies{o: o, found: found.Entries, passed: passed, of: map[fix.Finding]Remedy{}}
	r.advise()
	if len(found.Errors)+len(o.Source.Errors) > 0 || !r.editable() {
		return r.of, nil
	}
	var bytes, rows int64
	for _, f := range o.Source.Files() {
		bytes, rows = bytes+f.Bytes, rows+f.Rows
	}
	if bytes > maxRemedyBytes || rows > maxRemedyRows {
		r.unplanned()
		return r.of, nil
	}
	return r.of, r.plan(ctx)
}

type remedies struct {
	o      Options
	found  []judge.Entry
	passed func(rule.Finding) bool
	agent  string // that rules advise
	of     map[fix.Finding]Remedy
}

// keyOf is what findings of e have in common.
func keyOf(e judge.Entry) fix.Finding {
	f := e.Findings[0]
	return fix.Finding{Rule: f.Rule, File: f.Pos.File, Path: f.Pos.Path}
}

// advise takes what the rules themselves advise.
func (r *remedies) advise() {
	values := map[*rule.Rule]*rule.Spread{}
	for _, e := range r.found {
		ru := e.Findings[0].Rule
		if values[ru] == nil {
			values[ru] = &rule.Spread{}
		}
		values[ru].Merge(e.Spread)
	}
	for _, e := range r.found {
		k := keyOf(e)
		if k.Rule.Advise == nil {
			continue
		}
		a := k.Rule.Advise(r.o.Env, texts(values[k.Rule]))
		r.agent = cmp.Or(r.agent, a.Agent)
		if a.Note != "" {
			r.of[k] = Remedy{Flags: a.Flags, Note: a.Note}
		}
	}
}

// texts returns the values as texts; nil where they are too many, or not all whole texts.
func texts(s *rule.Spread) (out []string) {
	for _, v := range s.Values {
		var text string
		if err := json.Unmarshal([]byte(v.Value), &text); err != nil {
			return nil
		}
		out = append(out, text)
	}
	return out
}

// editable reports whether --fix takes the files, and some rule has a fix.
func (r *remedies) editable() bool {
	for _, f := range r.o.Source.Files() {
		if f.Format != "parquet" || f.Name == "-" || strings.HasPrefix(f.Name, source.RemoteScheme) {
			return false
		}
	}
	return slices.ContainsFunc(r.found, func(e judge.Entry) bool { return len(e.Findings[0].Rule.Fixes) > 0 })
}

// unplanned advises to look at the plan of the fixes that were not planned here.
func (r *remedies) unplanned() {
	for _, e := range r.found {
		k := keyOf(e)
		if len(k.Rule.Fixes) == 0 || r.of[k].Note != "" {
			continue
		}
		flags := "--diff"
		if !slices.ContainsFunc(k.Rule.Fixes, func(f rule.Fix) bool { return !f.Unsafe }) {
			flags += " --unsafe-fixes"
		}
		if k.Rule.Advise != nil && r.agent != "" {
			flags += " --agent " + r.agent
		}
		r.of[k] = Remedy{Note: "the same command with " + flags + " shows what --fix can change"}
	}
}

// plan plans fixes of rising cost and takes the first that helps.
func (r *remedies) plan(ctx context.Context) error {
	if err := r.try(ctx, "", nil); err != nil {
		return err
	}
	agent := ""
	if r.o.Env.Agent == "" && r.agent != "" {
		agent = r.agent
		if err := r.try(ctx, agent, nil); err != nil {
			return err
		}
	}
	var tried []*rule.Rule
	for _, e := range r.found {
		ru := e.Findings[0].Rule
		if r.of[keyOf(e)].Flags != nil || slices.Contains(tried, ru) || len(tried) == maxRemedyRules {
			continue
		}
		if slices.ContainsFunc(ru.Fixes, func(f rule.Fix) bool { return f.Unsafe }) {
			tried = append(tried, ru)
			for _, name := range slices.Compact([]string{"", agent}) {
				if err := r.try(ctx, name, ru); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// try plans the safe fixes of all rules, or those of one rule that change values too, and takes them as the remedy of what they make fewer,
// unless they make anything more.
func (r *remedies) try(ctx context.Context, agent string, one *rule.Rule) error {
	env := *r.o.Env
	env.Agent = cmp.Or(agent, env.Agent)
	src := input.New(r.o.Source)
	job := &fix.Job{Input: src, Facts: src, Rules: r.o.Rules, Env: &env, Unsafe: one != nil, Workers: r.o.Workers,
		Passed: func(f rule.Finding) bool { return r.passed != nil && r.passed(f) || one != nil && f.Rule != one }}
	plan, err := fix.New(ctx, job, r.found)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		if errors.As(err, new(*misuse.Error)) {
			return nil // this target does not know the agent
		}
		return err
	}
	before, after := counts(r.found), counts(plan.Found)
	for k, n := range after {
		if n > before[k] {
			return nil
		}
	}
	remedy := Remedy{Flags: []string{"--fix"}, Select: one != nil, Note: strings.ReplaceAll(note(plan, one), "the agent of --agent", env.Agent)}
	if one != nil {
		remedy.Flags = append(remedy.Flags, "--unsafe-fixes")
	}
	if agent != "" {
		remedy.Flags = append(remedy.Flags, "--agent", agent)
	}
	for k, n := range before {
		if after[k] < n && r.credits(plan, k) && r.of[k].Flags == nil && (one == nil || k.Rule == one) {
			r.of[k] = remedy
		}
	}
	return nil
}

// credits reports whether the plan has done something about findings. Others may be gone since rules do not look at the names and the metadata of
// files that are rewritten; in the files as they will be they are found again.
func (r *remedies) credits(plan *fix.Plan, k fix.Finding) bool {
	if len(k.Rule.Fixes) == 0 {
		return k.Rule.Advise != nil
	}
	return slices.ContainsFunc(plan.Files, func(f fix.File) bool {
		return slices.ContainsFunc(f.Done, func(d fix.Done) bool { return d.Rule == k.Rule && (d.Path.Under(k.Path) || k.Path.Under(d.Path)) })
	})
}

// note says what the fixes of one rule do; "" for those of all rules.
func note(plan *fix.Plan, one *rule.Rule) string {
	var titles []string
	for _, f := range plan.Files {
		for _, d := range f.Done {
			title := d.Fix.Title
			if d.Change != "" {
				title = string(d.Path) + ": " + d.Change
			}
			if d.Rule == one && !slices.Contains(titles, title) {
				titles = append(titles, title)
			}
		}
	}
	return strings.Join(titles, "; ")
}

func counts(entries []judge.Entry) map[fix.Finding]int64 {
	n := map[fix.Finding]int64{}
	for _, e := range entries {
		n[keyOf(e)] += e.Count
	}
	return n
}
