package build

import (
	"context"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/internal/starmap"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A ScriptError says what is wrong with a map function. It names the place in the script.
type ScriptError struct{ Err error }

func (e *ScriptError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ScriptError) Unwrap() error { return e.Err }

// ExitCode makes it an error of the configuration.
func (e *ScriptError) ExitCode() int { return 2 }

// learn finds out the columns of map functions, and what other steps must know, from the first rows of each split, as the steps before them leave them. A split of which
// no row comes out has the columns of the others.
func (b *Build) learn(ctx context.Context) error {
	src := input.Derive(b.opts.Source, b.opts.Derive)
	var none []*starmap.Map
	known := map[string]*starmap.Map{} // by the script and its place among the steps
	for _, s := range src.Splits {
		steps := b.opts.Steps(s.Name)
		for i, t := range steps {
			l, _ := t.(transform.Located)
			if l.RowStep != nil {
				t = l.RowStep
			}
			if x, ok := t.(transform.Learner); ok {
				if err := b.learnStep(ctx, src, s, steps[:i:i], x, l); err != nil {
					return err
				}
			}
			m, ok := t.(*starmap.Map)
			if !ok {
				continue
			}
			some, err := b.learnMap(ctx, src, s, steps[:i:i], m, l)
			if err != nil {
				return err
			}
			if some && known[l.Where] == nil {
				known[l.Where] = m
			} else if !some && known[l.Where] != nil {
				m.Adopt(known[l.Where])
			} else if !some {
				none = append(none, m)
			}
		}
	}
	for _, m := range none { // of splits before the first that has rows
		for _, other := range known {
			if other.Same(m) {
				m.Adopt(other)
			}
		}
	}
	return nil
}

// learnMap runs m over the first rows that before leaves, and reports whether a row came out.
func (b *Build) learnMap(ctx context.Context, src *input.Set, s pipeline.Split, before []transform.RowStep, m *starmap.Map, l transform.Located) (bool, error) {
	probe := m.Probe()
	if err := b.probe(ctx, src, s, before, probe, l, probe.Done); err != nil {
		return false, err
	}
	if first := probe.FirstFault(); first != nil && !probe.Some() { // the schema would say less
		r := program.Rejected{Pos: first.Pos, Where: first.Where, Number: first.Number, Message: first.Message, Reason: "map-error"}
		return false, &pipeline.RejectError{First: r, Count: 1}
	}
	if err := m.Learn(probe); err != nil {
		return false, &ScriptError{err}
	}
	return probe.Some(), nil
}

// learnStep runs the probe of a step over the rows that before leaves.
func (b *Build) learnStep(ctx context.Context, src *input.Set, s pipeline.Split, before []transform.RowStep, x transform.Learner, l transform.Located) error {
	probe, enough := x.Probe()
	err := b.probe(ctx, src, s, before, probe, l, enough)
	x.Learn()
	return err
}

// probe runs the step probe over the rows that the steps before it leave, until enough returns true. l is its place in the pipeline file.
func (b *Build) probe(ctx context.Context, src *input.Set, s pipeline.Split, before []transform.RowStep, probe transform.RowStep, l transform.Located, enough func() bool) error {
	if l.RowStep != nil {
		probe = transform.Located{RowStep: probe, Where: l.Where, Verb: l.Verb}
	}
	steps := append(before, probe)
	env := *b.opts.env()
	env.Rows = rule.Any
	plan, err := pipeline.NewPlan(&pipeline.Job{Input: src, Facts: src, Splits: []pipeline.Split{s}, Limit: b.opts.Limit, Rules: judge.Rules{Env: &env},
		Steps: func(string) []transform.RowStep { return steps }})
	if err != nil {
		return err
	}
	return plan.RunUntil(ctx, s.Name, enough)
}
