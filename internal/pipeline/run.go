package pipeline

import (
	"context"

	"github.com/rlprep/rlprep/internal/judge"
)

// Run does the tasks, then the checks over all rows. Nothing becomes visible: that is up to the sink, once the report is good.
func (p *Plan) Run(ctx context.Context) (*Report, error) {
	if err := p.Prepare(ctx); err != nil {
		return nil, err
	}
	r := p.newRunner(ctx)
	defer r.close()
	found := judge.NewFindings()
	r.rules.Files(p.outFiles(), found)
	if p.Job.FootersOnly || (p.failing(found) && p.Job.Output != nil) {
		return r.finish(found)
	}
	tasks := p.Tasks
	if r.caching != nil {
		var err error
		if tasks, err = r.loadCached(found); err != nil {
			return nil, err
		}
	}
	if err := r.do(tasks); err != nil {
		return nil, err
	}
	if err := r.tooMany(); err != nil { // of tasks that other processes did, too
		return nil, err
	}
	for _, rec := range r.report.Records {
		found.Merge(rec.Findings)
		r.report.RowsIn += rec.RowsIn
		r.report.RowsOut += rec.RowsOut
		for k, n := range rec.Dropped {
			r.report.Dropped[k] += n
		}
	}
	p.addOrders(r.report)
	if err := r.rules.Groups(r.keys, p.input.Files(), found); err != nil {
		return nil, err
	}
	return r.finish(found)
}

// RunTask does one task, or returns its record where it is done. The checks over all rows are Run's, which resumes the tasks.
func (p *Plan) RunTask(ctx context.Context, task int) (*Record, error) {
	if err := p.Prepare(ctx); err != nil {
		return nil, err
	}
	r := p.newRunner(ctx)
	defer r.close()
	if err := r.do(p.Tasks[task : task+1]); err != nil {
		return nil, err
	}
	return r.report.Records[0], nil
}
