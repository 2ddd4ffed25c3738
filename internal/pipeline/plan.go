package pipeline

import (
	"context"
	"errors"
	"slices"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A Plan is a job cut into tasks, with what its columns will be.
type Plan struct {
	Job      *Job
	Tasks    []*Task
	Rows     int64
	Schemas  map[string]*schema.Schema           // of the output, by split
	Stages   map[string][]Stage                  // by split
	programs map[string]map[int]*program.Program // by split and file
	prepared bool                                // the passes of the barriers are done, and Tasks is known

	input   Input // the job's, and what orders make of it; so facts and splits
	facts   Facts
	splits  []Split
	barrier *Barrier // of a pass over keys: whose keys they are
	order   *Order   // of a pass that fills the buckets of one
}

func newPlan(j *Job) *Plan {
	return &Plan{Job: j, input: j.Input, facts: j.Facts, splits: slices.Clone(j.Splits), Schemas: map[string]*schema.Schema{}, Stages: map[string][]Stage{}, programs: map[string]map[int]*program.Program{}}
}

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

// limit takes Limiters out of the steps: they say how many rows of the split are read.
func (s *Split) limit(steps []transform.RowStep) (out []transform.RowStep, err error) {
	for i, t := range steps {
		l, ok := transform.Bare(t).(transform.Limiter)
		switch {
		case !ok:
			out = append(out, t)
		case slices.ContainsFunc(steps[:i], func(t transform.RowStep) bool { _, ok := transform.Bare(t).(transform.Barrier); return ok }):
			return nil, program.StepError("split "+s.Name, t, errors.New("it counts the rows that are read: put it before the step that sees all rows"))
		case s.Limit == 0 || l.FirstRows() < s.Limit:
			s.Limit = l.FirstRows()
		}
	}
	return out, nil
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
	if out != nil {
		p.Schemas[s.Name] = out
	}
	return nil
}

// resolve is the program of a range.
func (p *Plan) resolve(split string, r ReadRange) *program.Resolved {
	return p.programs[split][r.File].Resolve(func(leaf int) (nulls, bytes int64) {
		if p.facts == nil {
			return -1, 0
		}
		return p.facts.Counts(r, leaf)
	})
}

// raw returns the chunks of a range that go out undecoded where no row is left out. One that goes to two places may be decoded for one
// of them only.
func (p *Plan) raw(r ReadRange, prog *program.Resolved) program.Raw {
	leaves := prog.Leaves()
	out := make(program.Raw, len(leaves))
	if !r.Whole || p.order != nil || r.kept < r.Rows || p.Job.Output == nil || p.facts == nil {
		return out
	}
	for i, l := range leaves {
		if in := prog.Input(i); in >= 0 {
			c := p.facts.Raw(r, in)
			if c != nil && parquetio.CanMove(c, l, p.Job.Output.Codec, p.Job.Output.KeepCodec) {
				out[i] = c
			}
		}
	}
	return out
}

// rawOf is raw of a range that is planned.
func (p *Plan) rawOf(split string, r ReadRange) program.Raw { return p.raw(r, p.resolve(split, r)) }

// outFiles shows the rules the files as they will be: each input file with the columns that come out of it. A file that is not rewritten
// is shown as it is: its program has types in their plain form, but string beside large_string is a fault.
func (p *Plan) outFiles() []*rule.File {
	in := p.input.Files()
	var out []*rule.File
	for _, s := range p.splits {
		for _, f := range s.Files {
			g := *in[f]
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
