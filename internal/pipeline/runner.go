package pipeline

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/schema/rule"
)

// A runner feeds the workers and takes their results in order.
type runner struct {
	plan    *Plan
	ctx     context.Context
	rules   *judge.Rules
	keys    *judge.Keys
	caching *judge.Caching // nil: none
	out     output
	report  *Report
	rec     *Record      // of the current task
	bad     map[int]bool // files that turned out to be damaged
}

func (p *Plan) newRunner(ctx context.Context) *runner {
	rules := p.Job.Rules
	r := &runner{plan: p, ctx: ctx, rules: &rules, bad: map[int]bool{}, report: &Report{Dropped: map[string]int64{}}}
	r.keys = judge.NewKeys(p.Rows, rules.Singletons(), p.workers(), p.Job.TempDir)
	if p.Job.Output != nil {
		r.out = &shards{Plan: p, keys: r.keys}
		return r
	}
	r.out = noOutput{r.keys}
	if p.Job.Cache != nil {
		r.caching = judge.NewCaching(p.Job.Cache, r.rules, r.keys)
	}
	return r
}

func (r *runner) close() {
	r.out.discard() // of a run that ended within a task
	if r.caching != nil {
		r.caching.Discard()
	}
	r.keys.Close()
}

func (r *runner) finish(found *judge.Findings) (*Report, error) {
	found.Sort(r.plan.input.Files())
	r.report.Entries, r.report.Failed = found.Entries, r.plan.failing(found)
	return r.report, nil
}

// loadCached takes what is cached of files and returns the tasks without them.
func (r *runner) loadCached(found *judge.Findings) ([]*Task, error) {
	var files []int
	for _, t := range r.plan.Tasks {
		for _, g := range t.RowGroups {
			if f := g.Ranges[0].File; len(files) == 0 || files[len(files)-1] != f { // row groups come file by file
				files = append(files, f)
			}
		}
	}
	done, err := r.caching.Load(files, func(rows int64, entries []judge.Entry) {
		found.Merge(entries)
		r.report.Cached++
		r.report.RowsIn += rows
		r.report.RowsOut += rows
		r.progress(rows, "")
	})
	out := make([]*Task, len(r.plan.Tasks))
	for i, t := range r.plan.Tasks {
		left := *t
		left.RowGroups = slices.DeleteFunc(slices.Clone(t.RowGroups), func(g RowGroupPlan) bool { return done[g.Ranges[0].File] })
		out[i] = &left
	}
	return out, err
}

func (r *runner) progress(rows int64, shard string) {
	if r.plan.Job.Progress != nil {
		r.plan.Job.Progress(rows, shard)
	}
}

// An assignment is a row group of a task. task is its index in the list of those that are done.
type assignment struct {
	*Task
	task, group int
}

// do does tasks: those that are not resumed.
func (r *runner) do(tasks []*Task) error {
	r.report.Records = make([]*Record, len(tasks))
	var todo []assignment
	for i, t := range tasks {
		rec, err := r.out.resume(t)
		if err != nil {
			return err
		}
		if rec != nil {
			r.report.Records[i] = rec
			r.report.Resumed++
			r.progress(rec.RowsIn, t.Name)
			continue
		}
		if len(t.RowGroups) == 0 { // all that it would read was cached
			r.report.Records[i] = &Record{Task: t.Index, Name: t.Name}
		}
		for g := range t.RowGroups {
			todo = append(todo, assignment{t, i, g})
		}
	}
	return r.work(todo)
}

// work does row groups in parallel and collects their results in order, with a bounded number under way.
func (r *runner) work(todo []assignment) error {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	workers := r.plan.workers()
	next := make(chan int)
	window := make(chan struct{}, workers+1)
	results := make([]chan *result, cap(window)) // of the row groups under way, of which no two have one place
	for i := range results {
		results[i] = make(chan *result, 1)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(next)
		for i := range todo {
			select {
			case window <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	busy := make(chan struct{}, workers)
	for range workers {
		wg.Go(func() {
			w := newWorker(r.plan, r.rules)
			w.busy = busy
			for i := range next {
				results[i%len(results)] <- w.rowGroup(ctx, todo[i].Task, todo[i].RowGroups[todo[i].group])
			}
		})
	}
	for i, o := range todo {
		select {
		case res := <-results[i%len(results)]:
			if err := r.collect(o, res); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(r.ctx)
		}
		<-window
	}
	return nil
}

// collect writes a row group and adds what it gave to the record of its task.
func (r *runner) collect(o assignment, res *result) error {
	damaged := res.err != nil
	if damaged {
		if !r.damaged(o, res.err) {
			return res.err
		}
		res = newResult(0)
	}
	defer res.found.Release()
	r.cache(o, res, damaged)
	if o.group == 0 {
		r.rec = &Record{Task: o.Index, Name: o.Name, Dropped: map[string]int64{}}
		r.report.Records[o.task] = r.rec
		if err := r.out.begin(o.Task); err != nil {
			return err
		}
	}
	r.rec.add(res)
	if err := r.out.write(o.Task, res, r.rec); err != nil {
		return err
	}
	r.progress(res.rowsIn, o.Name)
	if err := r.tolerate(); err != nil {
		return err
	}
	if o.group == len(o.RowGroups)-1 {
		return r.out.end(o.Task, r.rec)
	}
	return nil
}

// cache adds what a row group gave to the entry of its file. Row groups come file by file, in order.
func (r *runner) cache(o assignment, res *result, damaged bool) {
	if r.caching == nil {
		return
	}
	file := o.RowGroups[o.group].Ranges[0].File
	found := res.found
	if damaged || len(res.Rejects) > 0 { // these are not cached
		found = nil
	}
	r.caching.Add(file, res.rowsIn, found)
	if next := o.group + 1; next < len(o.RowGroups) && o.RowGroups[next].Ranges[0].File == file {
		return
	}
	r.caching.Commit(r.plan.input.Unchanged)
}

// damaged notes a file that cannot be read where nothing is written, so that the others are still checked.
func (r *runner) damaged(o assignment, err error) bool {
	file := o.RowGroups[o.group].Ranges[0].File
	if r.plan.Job.Output != nil || r.plan.Job.IsDamaged == nil || !r.plan.Job.IsDamaged(err) {
		return false
	}
	if !r.bad[file] {
		r.bad[file] = true
		r.report.Errors = append(r.report.Errors, err)
	}
	return true
}

// tolerate stops the run as soon as too many rows were rejected.
func (r *runner) tolerate() error {
	if r.rec.Rejects == 0 {
		return nil
	}
	return r.tooMany()
}

// tooMany returns a *RejectError where more rows were rejected than are tolerated.
func (r *runner) tooMany() error {
	e := &RejectError{}
	for _, rec := range r.report.Records {
		if rec == nil {
			continue
		}
		if e.Count == 0 && len(rec.FirstRejects) > 0 {
			e.First = rec.FirstRejects[0]
		}
		e.Count += rec.Rejects
	}
	if e.Count == 0 || r.plan.Job.MaxReject.Allows(e.Count, r.plan.Rows) {
		return nil
	}
	return e
}

func (p *Plan) failing(fs *judge.Findings) bool {
	return p.Job.FailLevel != rule.Off && fs.Worst() >= p.Job.FailLevel
}

// workers is how many work at a time: fewer than asked for where rows are so large that a page of each worker would not fit into pageBytes.
func (p *Plan) workers() int {
	workers := runtime.GOMAXPROCS(0)
	if p.Job.Workers > 0 {
		workers = p.Job.Workers
	}
	return int(max(1, min(int64(workers), pageBytes/max(1, p.largestPage()))))
}

const (
	// pageBytes is how much all workers may hold of pages with large values, as they are in the file and decompressed.
	pageBytes = 160 << 20
	// largeRow is the average size of rows that are large: writers cut pages by bytes, but pyarrow looks at them only every pageRows rows.
	largeRow = 32 << 10
	pageRows = 1024
)

// largestPage is about how large a page with large values may be, twice; 0 where rows are small.
func (p *Plan) largestPage() (bytes int64) {
	for _, t := range p.Tasks {
		for _, g := range t.RowGroups {
			for _, r := range g.Ranges {
				if r.RowGroup >= 0 && r.Rows > 0 && r.Bytes/r.Rows >= largeRow {
					bytes = max(bytes, 2*min(r.Rows, pageRows)*(r.Bytes/r.Rows))
				}
			}
		}
	}
	return bytes
}
