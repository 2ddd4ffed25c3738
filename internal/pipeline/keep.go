package pipeline

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Cache keeps, between runs that only check, what the rows of a file gave. What it hands out must have been kept of the same rows, by the same rules
// in the same order, with an Env that differs in Lookup at most: what Lookup answers is looked after here. It has no say in what a run
// finds: it may forget what it likes.
type Cache interface {
	// Load returns what is kept of a file, records of size bytes; nil for nothing. On the way it shows each the marks of the records, 8 bytes each
	// in little-endian order, many at a time, also where nil is returned in the end.
	Load(file, size int, each func(marks []byte)) Kept
	// Create begins to keep what the rows of a file give; nil: it is not to be kept.
	Create(file int) Keeper
}

// Kept is what is kept of a file: blocks of records, each with a mark, and a head. Its methods may be called from several goroutines at once.
type Kept interface {
	io.Closer
	Head() []byte
	Blocks() int
	// Marks and Records read those of a block into b, which is made longer if need be.
	Marks(block int, b []byte) ([]byte, error)
	Records(block int, b []byte) ([]byte, error)
}

// A Keeper takes records, and then a head or nothing.
type Keeper interface {
	Write(record []byte, mark uint64)
	Commit(head []byte)
	Discard()
}

// ErrKept says that what a Cache handed out turned out to be damaged: the run is to be done without it.
var ErrKept = errors.New("kept by an earlier run")

// A keptHead is what is kept of a file beside the hits.
type keptHead struct {
	Rows     int64
	Answers  map[string]string // of Env.Lookup
	Findings []keptEntry
}

// bytes writes the head: the number of rows, and the rest where there is any.
func (h *keptHead) bytes() ([]byte, error) {
	b := bytes.NewBuffer(binary.AppendVarint(nil, h.Rows))
	if len(h.Answers)+len(h.Findings) == 0 {
		return b.Bytes(), nil
	}
	err := gob.NewEncoder(b).Encode(h)
	return b.Bytes(), err
}

// read reads what bytes wrote.
func (h *keptHead) read(text []byte) error {
	in := bytes.NewReader(text)
	rows, err := binary.ReadVarint(in)
	if err == nil && in.Len() > 0 {
		err = gob.NewDecoder(in).Decode(h)
	}
	h.Rows = rows
	return err
}

// A keptEntry is an Entry. It is not written as JSON, which would mend text that is no UTF-8.
type keptEntry struct {
	Findings []savedFinding
	Count    int64
	Rows     []int64
}

// answers notes what the launch was asked and answered.
type answers struct {
	ask func(string) (schema.Value, schema.Pos)

	mu    sync.Mutex
	given map[string]string
}

func (a *answers) lookup(key string) (schema.Value, schema.Pos) {
	v, pos := a.ask(key)
	text := answer(v, pos)
	a.mu.Lock()
	a.given[key] = text
	a.mu.Unlock()
	return v, pos
}

func answer(v schema.Value, pos schema.Pos) string {
	if v.IsMissing() {
		return fmt.Sprintf("%+v", pos)
	}
	return fmt.Sprintf("%+v %d %s", pos, v.Kind(), v.AppendJSON(nil))
}

// same reports whether the launch would still answer so.
func (a *answers) same(given map[string]string) bool {
	if a == nil {
		return len(given) == 0
	}
	for key, text := range given {
		if answer(a.ask(key)) != text {
			return false
		}
	}
	return true
}

func (a *answers) clone() map[string]string {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.given)
}

// recorded returns p with a note taken of what the launch is asked, where that is to be kept.
func (p *Plan) recorded() (*Plan, *answers) {
	if p.Job.Cache == nil || p.Job.Env.Lookup == nil {
		return p, nil
	}
	a := &answers{ask: p.Job.Env.Lookup, given: map[string]string{}}
	out, job, env := *p, *p.Job, *p.Job.Env
	env.Lookup = a.lookup
	out.Job, job.Env = &job, &env
	return &out, a
}

// maxKept is how many files of a Cache are held open; the hits of others are copied.
const maxKept = 256

// takeKept takes what is kept of files in place of their rows.
func (r *runner) takeKept(fs *findings) error {
	if r.plan.Job.Cache == nil {
		return nil
	}
	var files []int
	for _, t := range r.plan.Tasks {
		for _, u := range t.Units {
			if f := u.Parts[0].File; len(files) == 0 || files[len(files)-1] != f { // units come file by file
				files = append(files, f)
			}
		}
	}
	done := map[int]bool{}
	for some := range slices.Chunk(files, maxKept) { // so that no more are open at once than are held
		for i, k := range r.loadKept(some) {
			ok, err := r.takeFile(some[i], k, fs)
			if err != nil {
				return err
			}
			done[some[i]] = ok
		}
	}
	for _, t := range r.plan.Tasks {
		t.Units = slices.DeleteFunc(t.Units, func(u Unit) bool { return done[u.Parts[0].File] })
	}
	return nil
}

// loadKept loads what is kept of files, several at a time.
func (r *runner) loadKept(files []int) []Kept {
	out := make([]Kept, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(r.plan.workers(), len(files)) {
		wg.Go(func() {
			adder := r.sieve.Adder()
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				out[i] = r.plan.Job.Cache.Load(files[i], hitSize, func(marks []byte) {
					for ; len(marks) > 0; marks = marks[8:] {
						if m := binary.LittleEndian.Uint64(marks); m != always {
							adder.Add(m) // what is added in vain is only looked at more closely
						}
					}
				})
			}
			adder.Flush()
		})
	}
	wg.Wait()
	return out
}

// takeFile takes what is kept of a file (nil: nothing); false where it is not to be had.
func (r *runner) takeFile(file int, k Kept, fs *findings) (bool, error) {
	if k == nil {
		return false, nil
	}
	var head keptHead
	if err := head.read(k.Head()); err != nil || !r.asked.same(head.Answers) {
		return false, k.Close()
	}
	entries := make([]Entry, len(head.Findings))
	for i, e := range head.Findings {
		entries[i] = Entry{Count: e.Count, Rows: e.Rows}
		for _, f := range e.Findings {
			ru := rule.Find(f.Rule)
			if ru == nil {
				return false, k.Close()
			}
			entries[i].Findings = append(entries[i].Findings, f.finding(ru))
		}
	}
	fs.merge(entries)
	r.report.Kept++
	r.report.RowsIn += head.Rows
	r.report.RowsOut += head.Rows
	if r.plan.Job.Progress != nil {
		r.plan.Job.Progress(head.Rows, "")
	}
	run := emitted{kept: k, file: file}
	if len(r.kept) == maxKept {
		defer k.Close()
		return true, r.copyHits(run)
	}
	r.kept = append(r.kept, k)
	r.spilled = append(r.spilled, run)
	return true, nil
}

// copyHits spills what is kept of a file.
func (r *runner) copyHits(e emitted) error {
	all, err := e.pieces()
	var b []byte
	for _, p := range all {
		if b, err = p.hits(b); err != nil {
			return err
		}
		if err = r.keepHits(b); err != nil {
			return err
		}
	}
	return err
}

// A keeping is what is being kept of a file.
type keeping struct {
	file     int
	to       Keeper
	rows     int64
	findings *findings
}

// keep keeps what a unit gave. Units come file by file, in order.
func (r *runner) keep(o assignment, res *result) {
	if r.plan.Job.Cache == nil {
		return
	}
	file := o.task.Units[o.unit].Parts[0].File
	if r.keeper == nil || r.keeper.file != file {
		r.keeper = &keeping{file: file, to: r.plan.Job.Cache.Create(file), findings: newFindings()}
	}
	k := r.keeper
	if k.to == nil {
		return
	}
	if res.err != nil || len(res.rejects) > 0 { // what is told of these is not kept
		k.to.Discard()
		k.to = nil
		return
	}
	k.rows += res.rowsIn
	k.findings.merge(res.findings.entries)
	for b := range slices.Chunk(res.hits, hitSize) {
		k.to.Write(b, mark(b, r.lone))
	}
	if next := o.unit + 1; next < len(o.task.Units) && o.task.Units[next].Parts[0].File == file {
		return
	}
	head := keptHead{Rows: k.rows, Answers: r.asked.clone()}
	for _, e := range k.findings.entries {
		kept := keptEntry{Count: e.Count, Rows: e.Rows}
		for _, f := range e.Findings {
			kept.Findings = append(kept.Findings, savedFinding{f.Rule.ID, f.Level, f.Pos, f.Related, f.Message, f.Value})
		}
		head.Findings = append(head.Findings, kept)
	}
	if text, err := head.bytes(); err != nil || r.plan.Job.Source.Unchanged(file) != nil {
		k.to.Discard()
	} else {
		k.to.Commit(text)
	}
	k.to = nil
}
