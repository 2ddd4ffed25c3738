// Package fix plans how 'lint --fix' fixes what rules find: for each file the transforms that the rules' own fixes (rule.Fix)
// ask for. It knows no framework and no column. Nothing is written here: internal/check has the transforms carried out by internal/edit.
//
// A plan is made in rounds. Each round fixes what the rules find in the files as the rounds before would leave them, so one fix may
// uncover what another one fixes. Where a fix does not help, the next one of its rule is tried. What the rules find after the last round is
// left.
package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A Job is what to fix.
type Job struct {
	Input   pipeline.Input // Parquet files
	Facts   pipeline.Facts
	Rules   []*rule.Rule
	Env     *rule.Env
	Unsafe  bool
	Workers int
	Passed  func(rule.Finding) bool // reports whether a finding is accepted, so it is not fixed; nil: none is
}

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

// A Done is one thing that is fixed in a file.
type Done struct {
	Rule *rule.Rule
	Path schema.Path // "": none
	Fix  *rule.Fix
	Rows int64 // in which it was found; 0: in the file as a whole
	// Change is what became of the types at Path, or of the order of the columns; "": nothing.
	Change string
}

// String says what is fixed: "agent_name: RL301 agent-name-null: fills the nulls (3 rows)".
func (d Done) String() string {
	s := fmt.Sprintf("%s %s: %s", d.Rule.ID, d.Rule.Name, cmp.Or(d.Change, d.Fix.Title))
	if d.Path != "" {
		s = string(d.Path) + ": " + s
	}
	if d.Rows > 0 {
		s += " (" + amount.Of(int(d.Rows), "row") + ")"
	}
	return s
}

// A Finding is what all findings of a rule in a column of a file have in common.
type Finding struct {
	Rule *rule.Rule
	File string
	Path schema.Path
}

// maxRounds bounds the rounds. Each fix of a finding is tried once, so they end by themselves.
const maxRounds = 12

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

// check asks the fixes whether what the user has said for them is right.
func (j *Job) check() error {
	for _, r := range rule.All() {
		pass, ok := rule.NewPass(r, j.Env)
		if !ok {
			continue
		}
		for _, f := range r.Fixes {
			if f.Check == nil {
				continue
			}
			if err := f.Check(pass); err != nil {
				return &misuse.Error{Err: err}
			}
		}
	}
	return nil
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
