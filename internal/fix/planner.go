package fix

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A planner makes a plan.
type planner struct {
	job     *Job
	files   []*rule.File       // as the steps leave them
	steps   [][]step           // by file
	tried   map[Finding]int    // how many fixes of its rule have been tried
	why     map[Finding]string // it is left
	touched [][]schema.Path    // by file: what steps of this round write
	asked   map[int]request    // of this round, by group
	counts  map[Finding]int64  // rows, of what this round sets out from
	group   int                // number of the last group of steps
}

// A step is a transform of one file, with what it is for.
type step struct {
	transform.RowStep
	done  Done
	group int  // steps of one group are taken back together
	strip bool // the metadata of HF datasets goes
}

// A request asks for what a rule found in a column of a file to be fixed. It is the rule.FixRequest of the fix that is being tried.
type request struct {
	Finding
	planner *planner
	count   int64
	file    int   // number of the file
	dataset []int // all files that a trainer loads together with it
	fix     *rule.Fix
	group   int
}

// split is the name of the pipeline's split that is one file: files are planned alone, so that each has steps of its own and row numbers
// from 0.
func split(file int) string { return strconv.Itoa(file) }

// newPlan plans steps over these files; rules judge what comes out.
func (p *planner) newPlan(rules []*rule.Rule, files []int, more ...transform.RowStep) (*pipeline.Plan, error) {
	j := &pipeline.Job{Input: p.job.Input, Facts: p.job.Facts, Rules: judge.Rules{List: rules, Env: p.job.Env}, Workers: p.job.Workers,
		PreserveLayout: true, MaxReject: pipeline.Tolerance{Percent: 100},
		TreatAsRewritten: func(i int) bool { return len(p.steps[i]) > 0 }}
	for _, i := range files {
		j.Splits = append(j.Splits, pipeline.Split{Name: split(i), Files: []int{i}})
	}
	j.Steps = func(name string) (out []transform.RowStep) {
		i, _ := strconv.Atoi(name)
		for _, s := range p.steps[i] {
			out = append(out, s.RowStep)
		}
		return append(out, more...)
	}
	return pipeline.NewPlan(j)
}

func (p *planner) all() []int {
	out := make([]int, len(p.files))
	for i := range out {
		out[i] = i
	}
	return out
}

// judge runs the rules over these files as they would be. bad are the groups of steps that could not take a row or would take all
// rows of a file, with the reason.
func (p *planner) judge(ctx context.Context, files []int) (found []judge.Entry, bad map[int]string, err error) {
	plan, err := p.newPlan(p.job.Rules, files)
	if err != nil {
		return nil, nil, err
	}
	rep, err := plan.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	bad = map[int]string{}
	for i, t := range plan.Tasks {
		file, _ := strconv.Atoi(t.Split)
		p.refused(rep.Records[i], file, bad)
	}
	for _, i := range files {
		p.files[i].Schema = plan.Schemas[split(i)]
	}
	return rep.Entries, bad, nil
}

// refused adds to bad the groups of a file's steps that could not take a row.
func (p *planner) refused(rec *pipeline.Record, file int, bad map[int]string) {
	for _, r := range rec.FirstRejects {
		if group, err := strconv.Atoi(r.Reason); err == nil {
			bad[group] = cmp.Or(bad[group], fmt.Sprintf("row %d of %s: %s", r.Pos.Row, p.files[file].Name, r.Message))
		}
	}
	if rec.RowsOut > 0 || rec.RowsIn == 0 {
		return
	}
	for _, s := range p.steps[file] {
		if s.done.Fix.DropsRows {
			bad[s.group] = "every row of " + p.files[file].Name + " would go"
		}
	}
}

// scan shows the rows of a file, as the steps leave them, in their order. Their numbers count from 0 in the file.
func (p *planner) scan(ctx context.Context, file int, reads []schema.Path, see func(schema.Row)) error {
	plan, err := p.newPlan(nil, []int{file}, tap{reads, see})
	if err != nil {
		return err
	}
	return plan.RunUntil(ctx, split(file), func() bool { return false })
}

// A tap is a transform that changes nothing and shows each row.
type tap struct {
	reads []schema.Path
	see   func(schema.Row)
}

// Plan implements transform.RowStep.
func (t tap) Plan(*schema.Schema) (*transform.Plan, error) {
	return &transform.Plan{Reads: t.reads, Bind: func() transform.Func {
		return func(in schema.Row, out *transform.Emitter) error {
			t.see(in)
			out.Emit()
			return nil
		}
	}}, nil
}
