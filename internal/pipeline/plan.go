package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// NewPlan resolves the steps for every file and, unless there are barriers, cuts the input into tasks. How it cuts depends on sizes and
// options alone. With barriers the size of a shard is not known before they have seen the rows: Prepare cuts then.
func NewPlan(j *Job) (*Plan, error) {
	p := newPlan(j)
	if j.FootersOnly && j.Output == nil && j.Steps == nil { // no row is read: nothing to prepare
		return p, nil
	}
	barriers := false
	for i, s := range p.splits {
		if err := p.compile(&p.splits[i]); err != nil {
			return nil, &misuse.Error{Err: err}
		}
		barriers = barriers || slices.ContainsFunc(p.Stages[s.Name], func(t Stage) bool { _, ok := t.(*Barrier); return ok })
	}
	if barriers {
		return p, nil
	}
	return p, p.Prepare(context.Background())
}

// compile cuts the steps of a split into stages and makes its programs. Behind an order the split is the file of its buckets.
func (p *Plan) compile(s *Split) error {
	var steps []transform.RowStep
	if p.Job.Steps != nil {
		steps = p.Job.Steps(s.Name)
	}
	steps, err := s.limit(steps)
	if err != nil {
		return err
	}
	stages, err := p.cutStages(*s, steps)
	if err != nil {
		return err
	}
	p.Stages[s.Name] = stages
	for i, stage := range stages {
		if b, ok := stage.(*Barrier); ok && b.order != nil {
			s.Files, stages = []int{b.order.file}, stages[i:]
			break
		}
	}
	return p.compileSteps(*s, rowSteps(stages))
}

// limit takes Limiters and Placers out of the steps: they say which rows of the split are read.
func (s *Split) limit(steps []transform.RowStep) (out []transform.RowStep, err error) {
	for i, t := range steps {
		l, limits := transform.Bare(t).(transform.Limiter)
		at, places := transform.Bare(t).(transform.Placer)
		switch {
		case !limits && !places:
			out = append(out, t)
		case slices.ContainsFunc(steps[:i], func(t transform.RowStep) bool { _, ok := transform.Bare(t).(transform.Barrier); return ok }):
			return nil, program.StepError("split "+s.Name, t, errors.New("it counts the rows that are read: put it before the step that sees all rows"))
		case places && (s.places != nil || s.Limit > 0):
			return nil, program.StepError("split "+s.Name, t, errors.New("it counts the rows of the split: put it before any other step limit or slice"))
		case places:
			s.places = at.Places
		case s.Limit == 0 || l.FirstRows() < s.Limit:
			s.Limit = l.FirstRows()
		}
	}
	return out, nil
}

// outFiles shows the rules the files as they will be: each input file with the columns that come out of it. A file that is not rewritten
// is shown as it is: its program has types in their plain form, but string beside large_string is a fault.
func (p *Plan) outFiles() []*rule.File {
	in := p.input.Files()
	var out []*rule.File
	for _, s := range p.splits {
		for _, f := range s.Files {
			g := *in[f]
			if p.Job.Output != nil {
				g.Broken = nil // readers return them as faults, and they are rejected
			}
			if p.Job.Output != nil || p.Job.TreatAsRewritten != nil && p.Job.TreatAsRewritten(f) { // its footer's other contents are gone
				g.Schema = p.programs[s.Name][f].Out()
				g.Metadata, g.ArrowFault, g.RowGroups = nil, "", nil
				g.Format, g.Rewritten = "parquet", true
			}
			out = append(out, &g)
		}
	}
	return out
}

// cutStages cuts the steps of a split into stages, and plans the passes of its barriers.
func (p *Plan) cutStages(s Split, steps []transform.RowStep) (out []Stage, err error) {
	for _, t := range steps {
		switch step := transform.Bare(t).(type) {
		case transform.Barrier:
			if n := len(out); n > 0 && slices.ContainsFunc(out, ordered) {
				return nil, program.StepError(p.input.Files()[s.Files[0]].Name, t, errors.New("a step that needs all rows cannot follow a step that orders them yet"))
			}
			b, err := p.planBarrier(s, t, step, out)
			if err != nil {
				return nil, err
			}
			out = append(out, b)
		case transform.DerivedColumn:
			out = append(out, Derived{t})
		default:
			if n := len(out); n > 0 {
				if rows, ok := out[n-1].(RowSteps); ok {
					out[n-1] = append(rows, t)
					continue
				}
			}
			out = append(out, RowSteps{t})
		}
	}
	return out, nil
}

// addOrders adds to a report the rows that are left out before or where rows are put into order.
func (p *Plan) addOrders(rep *Report) {
	for _, stages := range p.Stages {
		for _, stage := range stages {
			if b, ok := stage.(*Barrier); ok && b.order != nil {
				b.order.addTo(rep)
			}
		}
	}
}

// Prepare runs the passes of the barriers and cuts the rows that pass them into tasks. Run does it where it was not done.
func (p *Plan) Prepare(ctx context.Context) error {
	if p.prepared {
		return nil
	}
	for _, s := range p.splits {
		for _, stage := range p.Stages[s.Name] {
			if b, ok := stage.(*Barrier); ok {
				if err := b.run(ctx, p); err != nil {
					return err
				}
			}
		}
		if err := p.cut(s); err != nil {
			return err
		}
	}
	p.prepared = true
	return nil
}

func newPlan(j *Job) *Plan {
	return &Plan{Job: j, input: j.Input, facts: j.Facts, splits: slices.Clone(j.Splits), Schemas: map[string]*schema.Schema{}, Stages: map[string][]Stage{}, programs: map[string]map[int]*program.Program{}}
}

func (p *Plan) compileSteps(s Split, steps []transform.RowStep) error {
	all := p.input.Files()
	files := make([]program.File, len(s.Files))
	for i, f := range s.Files {
		files[i] = program.File{Name: all[f].Name, Schema: all[f].Schema}
	}
	o := program.Options{PreserveLayout: p.Job.PreserveLayout,
		NewStructsRequired: slices.ContainsFunc(s.Files, func(f int) bool { return all[f].Format == "parquet" })}
	progs, out, err := program.CompileSplit(files, steps, o, p.Job.Output != nil)
	if err != nil {
		return err
	}
	p.programs[s.Name] = map[int]*program.Program{}
	for i, f := range s.Files {
		p.programs[s.Name][f] = progs[i]
	}
	if out == nil {
		return nil
	}
	p.Schemas[s.Name] = out
	if p.Job.Output != nil {
		return unmixed(files[0].Name, out)
	}
	return nil
}

// unmixed returns an error where a column of JSON Lines has values of several types, which no file can hold.
func unmixed(file string, s *schema.Schema) error {
	for _, l := range s.Leaves() {
		if names, ok := strings.CutPrefix(l.Type.Name, "mixed<"); ok && l.Type.Kind == schema.Other {
			return misuse.Errorf("%s: column %q has values of several types (%s): give it one, with 'cast: {path: %s, to: string}' in a pipeline", file, l.Path, strings.TrimSuffix(names, ">"), l.Path)
		}
	}
	return nil
}

// planBarrier plans the pass over the keys of the rows that come out of the stages before a barrier.
func (p *Plan) planBarrier(s Split, t transform.RowStep, step transform.Barrier, before []Stage) (*Barrier, error) {
	b := &Barrier{Step: t, keys: map[*program.Program]*transform.Keys{}}
	job := Job{Input: p.input, Facts: p.facts, Splits: []Split{s}, Limit: p.Job.Limit, PreserveLayout: p.Job.PreserveLayout, Workers: p.Job.Workers,
		Rules: judge.Rules{Env: p.Job.Rules.Env}, MaxReject: Tolerance{Percent: 100}, TrustStatistics: true} // the pass after it counts rejects and checks
	b.pass = newPlan(&job)
	b.pass.barrier = b
	if err := b.pass.compileSteps(s, rowSteps(before)); err != nil {
		return nil, err
	}
	for _, f := range s.Files {
		prog := b.pass.programs[s.Name][f]
		keys, err := step.Keys(prog.Judged())
		if err != nil {
			return nil, program.StepError(p.input.Files()[f].Name, t, err)
		}
		b.keys[prog], b.one = keys, keys
	}
	if b.one != nil && b.one.Order {
		var err error
		if b.order, err = p.planOrder(s, b, before); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// planOrder plans the passes of a barrier that orders rows, and returns the split as the steps after it read it.
func (p *Plan) planOrder(s Split, b *Barrier, before []Stage) (*Order, error) {
	job := *b.pass.Job
	job.Output = &Output{Codec: parquetio.Snappy}
	job.MaxReject = Tolerance{} // whose rejects nobody would write
	o := &Order{scatter: newPlan(&job), renumber: b.one.Arrange != nil, reason: b.one.Reason}
	o.scatter.order = o
	if err := o.scatter.compileSteps(s, rowSteps(before)); err != nil {
		return nil, err
	}
	in, ok := p.input.(*orderedInput)
	if !ok {
		in = &orderedInput{Input: p.input, facts: p.facts, files: slices.Clone(p.input.Files())}
		p.input, p.facts = in, in
	}
	file := *in.files[s.Files[0]]
	file.Index, file.Schema, file.Format, file.RowGroups, file.Metadata = len(in.files), o.scatter.Schemas[s.Name], "parquet", nil, nil
	o.file = file.Index
	in.files, in.orders = append(in.files, &file), append(in.orders, o)
	return o, nil
}
