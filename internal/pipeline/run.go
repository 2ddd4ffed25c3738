package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/rlprep/rlprep/internal/killpoint"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/spill"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Record is what became of a task. It is stored beside its shard, so a later attempt takes it up.
type Record struct {
	Task      int
	Name      string
	RowsIn    int64
	RowsOut   int64
	Dropped   map[string]int64
	Rejects   int64
	First     []Rejected `json:",omitempty"` // the first rejects
	Findings  []Entry    `json:",omitempty"`
	Hits      int64      `json:",omitempty"` // bytes of the spill file
	RowGroups int
	Copied    int // column chunks
	Encoded   int
	Bytes     int64
	SHA256    string
}

// A Report is what became of a job.
type Report struct {
	Records  []*Record
	Entries  []Entry
	RowsIn   int64
	RowsOut  int64
	Dropped  map[string]int64
	Rejected []Rejected // the first
	Rejects  int64
	Resumed  int
	Kept     int     // files whose rows were not read, since a Cache had what they give
	Failed   bool    // a finding at the failing level
	Errors   []error // of a job without a sink: files that turned out to be damaged, once each
}

// A RejectError says that more rows could not be taken than are tolerated.
type RejectError struct {
	First Rejected
	Count int64
}

func (e *RejectError) Error() string {
	msg := fmt.Sprintf("%s: %s", e.First.Pos, e.First.Message)
	if e.First.Where != "" { // in code of the user's: that comes first, as editors want it
		msg = fmt.Sprintf("%s: row %d: %s (%s)", e.First.Where, e.First.Number, e.First.Message, e.First.Pos)
	}
	if e.First.Value != "" {
		msg += ": " + e.First.Value
	}
	msg += " [" + e.First.Reason + "]"
	if e.Count > 1 {
		msg += fmt.Sprintf(" (%d rows cannot be taken)", e.Count)
	}
	return msg
}

// ExitCode makes it a finding about the data.
func (e *RejectError) ExitCode() int { return 1 }

// maxFirst is how many rejects a record keeps whole.
const maxFirst = 10

// Run does the tasks, then the checks over all rows. Nothing is made visible: that is the sink's, once the report is good.
func (p *Plan) Run(ctx context.Context) (*Report, error) {
	p, asked := p.recorded()
	fs := newFindings()
	p.footers(fs.add)
	rep := &Report{Dropped: map[string]int64{}}
	if p.Job.FootersOnly || (p.failing(fs.entries) && p.Job.Sink != nil) {
		return p.close(rep, fs)
	}
	r := &runner{plan: p, report: rep, ctx: ctx, bad: map[int]bool{}, asked: asked, sieve: spill.NewSieve(p.Rows)}
	r.adder, r.lone = r.sieve.Adder(), p.lone()
	defer r.closeSpills()
	if err := r.takeKept(fs); err != nil {
		return nil, err
	}
	if err := r.run(); err != nil {
		return nil, err
	}
	for _, rec := range rep.Records {
		fs.merge(rec.Findings)
		rep.RowsIn += rec.RowsIn
		rep.RowsOut += rec.RowsOut
		for k, n := range rec.Dropped {
			rep.Dropped[k] += n
		}
	}
	if len(r.spilled) > 0 {
		r.adder.Flush()
		r.sieve.Seal()
		if err := p.judge(r.spilled, r.sieve, fs.add); err != nil {
			return nil, err
		}
	}
	return p.close(rep, fs)
}

func (p *Plan) close(rep *Report, fs *findings) (*Report, error) {
	rep.Entries = fs.entries
	order(rep.Entries, p.Job.Source.Files())
	rep.Failed = p.failing(rep.Entries)
	return rep, nil
}

func (p *Plan) failing(entries []Entry) bool {
	return p.Job.FailLevel != rule.Off && worst(entries) >= p.Job.FailLevel
}

// footers shows all files to every rule, split by split's columns.
func (p *Plan) footers(sink func(rule.Finding)) {
	files := p.outFiles()
	for _, pass := range p.Job.passes(nil, sink) {
		if pass != nil {
			pass.Rule.New(pass).Files(files)
		}
	}
}

// A runner feeds the workers and takes their results in order.
type runner struct {
	plan   *Plan
	report *Report
	ctx    context.Context

	spilled []emitted    // what the rules emitted
	sieve   *spill.Sieve // of it
	adder   *spill.Adder // to the sieve, of the goroutine that takes results
	lone    []bool       // by rule: what it emits is judged even where no other has its key
	spills  []*os.File
	spillAt int // in spilled: what a job that writes nothing emits

	asked  *answers // of Env.Lookup; nil: it is not kept
	kept   []Kept   // that are open
	keeper *keeping // of the file at hand

	rec   *Record // of the task at hand
	shard Shard
	out   *parquetio.Writer
	bad   map[int]bool // files that turned out to be damaged
}

// An assignment is a unit of a task.
type assignment struct {
	task *Task
	unit int
}

func (r *runner) run() error {
	var todo []assignment
	for _, t := range r.plan.Tasks {
		rec, err := r.resume(t)
		if err != nil {
			return err
		}
		r.report.Records = append(r.report.Records, rec)
		if rec != nil {
			r.report.Resumed++
			continue
		}
		if len(t.Units) == 0 { // all that it would read was kept
			r.report.Records[t.Index] = &Record{Task: t.Index, Name: t.Name}
		}
		for u := range t.Units {
			todo = append(todo, assignment{t, u})
		}
	}
	err := r.work(todo)
	if err != nil && r.shard != nil {
		r.shard.Discard()
	}
	return err
}

// resume returns the record of a task that is done.
func (r *runner) resume(t *Task) (*Record, error) {
	if r.plan.Job.Sink == nil {
		return nil, nil
	}
	b, err := r.plan.Job.Sink.Record(t.Index)
	if err != nil || b == nil {
		return nil, err
	}
	rec := &Record{}
	if err := json.Unmarshal(b, rec); err != nil {
		return nil, nil // not whole: the task is done again
	}
	if r.plan.Job.Progress != nil {
		r.plan.Job.Progress(rec.RowsIn, t.Name)
	}
	if err := r.openSpill(rec); err != nil || rec.Hits == 0 {
		return rec, err
	}
	all, err := r.spilled[len(r.spilled)-1].pieces()
	var hits []byte
	for _, p := range all {
		if hits, err = p.hits(hits); err != nil {
			return nil, err
		}
		sift(r.adder, hits, r.lone)
	}
	return rec, err
}

// workers is how many work at a time.
func (p *Plan) workers() int {
	if p.Job.Workers > 0 {
		return p.Job.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// work does the units in parallel and takes their results in order, with a bounded number under way.
func (r *runner) work(todo []assignment) error {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	workers := r.plan.workers()
	next := make(chan int)
	window := make(chan struct{}, workers+1)
	results := make([]chan *result, cap(window)) // of the units under way, of which no two have one place
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
			w := newWorker(r.plan)
			w.busy = busy
			for i := range next {
				results[i%len(results)] <- w.unit(ctx, todo[i].task, todo[i].task.Units[todo[i].unit])
			}
		})
	}
	for i, o := range todo {
		select {
		case res := <-results[i%len(results)]:
			if err := r.take(o, res); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(r.ctx)
		}
		<-window
	}
	return nil
}

// take writes a unit's row group and adds what it found to the record of its task.
func (r *runner) take(o assignment, res *result) error {
	if res.err != nil {
		if !r.damaged(o, res.err) {
			return res.err
		}
		res = &result{err: res.err, findings: newFindings()}
	}
	r.keep(o, res)
	if o.unit == 0 {
		if err := r.begin(o.task); err != nil {
			return err
		}
	}
	rec := r.rec
	rec.RowsIn += res.rowsIn
	rec.RowsOut += res.rowsOut
	for k, n := range res.dropped {
		rec.Dropped[k] += n
	}
	rec.Rejects += int64(len(res.rejects))
	for _, x := range res.rejects {
		if len(rec.First) < maxFirst {
			x.Row = nil
			rec.First = append(rec.First, x)
		}
	}
	fs := newFindings()
	fs.merge(rec.Findings)
	fs.merge(res.findings.entries)
	rec.Findings = fs.entries
	if err := r.write(o.task, res); err != nil {
		return err
	}
	if r.plan.Job.Progress != nil {
		r.plan.Job.Progress(res.rowsIn, o.task.Name)
	}
	if err := r.tolerate(); err != nil {
		return err
	}
	if o.unit == len(o.task.Units)-1 {
		return r.end(o.task)
	}
	return nil
}

// damaged notes a file that cannot be read where nothing is written, so that the others are still looked at.
func (r *runner) damaged(o assignment, err error) bool {
	file := o.task.Units[o.unit].Parts[0].File
	if r.plan.Job.Sink != nil || !r.plan.Job.Unreadable(err) {
		return false
	}
	if !r.bad[file] {
		r.bad[file] = true
		r.report.Errors = append(r.report.Errors, err)
	}
	return true
}

func (r *runner) begin(t *Task) error {
	r.rec = &Record{Task: t.Index, Name: t.Name, Dropped: map[string]int64{}}
	r.report.Records[t.Index] = r.rec
	if r.plan.Job.Sink == nil {
		return nil
	}
	var err error
	r.shard, err = r.plan.Job.Sink.Create(t.Index)
	return err
}

func (r *runner) write(t *Task, res *result) error {
	j := r.plan.Job
	defer freeHits(res.hits)
	sift(r.adder, res.hits, r.lone)
	if j.Sink == nil {
		return r.keepHits(res.hits)
	}
	if res.group != nil {
		if r.out == nil {
			o := j.Writer(t.Split, j.Source.Files()[t.Units[0].Parts[0].File])
			var err error
			if r.out, err = parquetio.NewWriter(r.shard.Out(), r.plan.Schemas[t.Split], o); err != nil {
				return err
			}
		}
		if err := r.out.Write(res.group); err != nil {
			return err
		}
		res.group.Release()
		if f, ok := r.shard.(Follower); ok {
			f.Written(r.out.Offset())
		}
		killpoint.At("mid-page")
	}
	if len(res.hits) > 0 {
		f, err := r.shard.Spill()
		if err != nil {
			return err
		}
		n, err := f.Write(res.hits)
		if err != nil {
			return fmt.Errorf("write spill file: %w", err)
		}
		r.rec.Hits += int64(n)
	}
	return r.writeRejects(res.rejects)
}

// writeRejects keeps the rows left out, one a line: {"reason", "file", "row", "line", "column", "message", "value", "data"}.
func (r *runner) writeRejects(rejects []Rejected) error {
	if !r.plan.Job.KeepRejects || len(rejects) == 0 {
		return nil
	}
	f, err := r.shard.Rejects()
	if err != nil {
		return err
	}
	var b []byte
	for _, x := range rejects {
		line, err := json.Marshal(rejectLine(x))
		if err != nil {
			return err
		}
		b = append(append(b, line...), '\n')
	}
	_, err = f.Write(b)
	return err
}

func rejectLine(x Rejected) any {
	out := struct {
		Reason  string          `json:"reason"`
		File    string          `json:"file"`
		Row     int64           `json:"row"`
		Line    int64           `json:"line,omitempty"`
		Column  schema.Path     `json:"column,omitempty"`
		Message string          `json:"message"`
		Value   string          `json:"value,omitempty"`
		Data    json.RawMessage `json:"data,omitempty"`
	}{x.Reason, x.Pos.File, x.Pos.Row, max(x.Pos.Line, 0), x.Pos.Path, x.Message, x.Value, nil}
	if json.Valid(x.Row) {
		out.Data = x.Row
	}
	return out
}

// tolerate stops the run as soon as too many rows were rejected.
func (r *runner) tolerate() error {
	if r.rec.Rejects == 0 {
		return nil
	}
	var n int64
	var first *Rejected
	for _, rec := range r.report.Records {
		if rec == nil {
			continue
		}
		n += rec.Rejects
		if first == nil && len(rec.First) > 0 {
			first = &rec.First[0]
		}
	}
	if first == nil || r.plan.Job.MaxReject.Allows(n, r.plan.Rows) {
		return nil
	}
	return &RejectError{First: *first, Count: n}
}

// end closes the task's shard and stores its record.
func (r *runner) end(t *Task) error {
	if r.plan.Job.Sink == nil {
		return nil
	}
	empty := r.out == nil
	if err := r.unchanged(t); err != nil {
		return err
	}
	if !empty {
		w, err := r.out.Close()
		if err != nil {
			return err
		}
		r.rec.RowGroups, r.rec.Copied, r.rec.Encoded = w.RowGroups, w.Copied, w.Encoded
		if w.Rows != r.rec.RowsOut {
			return fmt.Errorf("%s: wrote %d rows, expected %d", t.Name, w.Rows, r.rec.RowsOut)
		}
	}
	rec := r.rec
	err := r.shard.Publish(empty, func(bytes int64, sha256 string) ([]byte, error) {
		rec.Bytes, rec.SHA256 = bytes, sha256
		return json.Marshal(rec)
	})
	r.out, r.shard = nil, nil
	if err != nil {
		return err
	}
	return r.openSpill(rec)
}

// unchanged sees that the files of a task are still what was planned: chunks are copied without a look at them.
func (r *runner) unchanged(t *Task) error {
	last := -1
	for _, u := range t.Units {
		for _, p := range u.Parts {
			if p.File == last {
				continue
			}
			last = p.File
			if err := r.plan.Job.Source.Unchanged(p.File); err != nil {
				return err
			}
		}
	}
	return nil
}

// openSpill adds what a task spilled to what is to be judged.
func (r *runner) openSpill(rec *Record) error {
	if rec.Hits == 0 {
		return nil
	}
	f, err := r.plan.Job.Sink.OpenSpill(rec.Task)
	if err != nil {
		return err
	}
	r.spills = append(r.spills, f)
	r.spilled = append(r.spilled, emitted{Run: spill.Run{From: f, Len: rec.Hits}})
	return nil
}

// keepHits spills the hits of a job that writes nothing.
func (r *runner) keepHits(hits []byte) error {
	if len(hits) == 0 {
		return nil
	}
	if len(r.spills) == 0 {
		f, err := nameless("")
		if err != nil {
			return err
		}
		r.spills = append(r.spills, f)
		r.spilled = append(r.spilled, emitted{Run: spill.Run{From: f}})
		r.spillAt = len(r.spilled) - 1
	}
	n, err := r.spills[0].Write(hits)
	if err != nil {
		return fmt.Errorf("write spill file: %w", err)
	}
	r.spilled[r.spillAt].Len += int64(n)
	return nil
}

func (r *runner) closeSpills() {
	for _, f := range r.spills {
		f.Close()
	}
	for _, k := range r.kept {
		k.Close()
	}
	if r.keeper != nil && r.keeper.to != nil { // the run has ended within a file
		r.keeper.to.Discard()
	}
}
