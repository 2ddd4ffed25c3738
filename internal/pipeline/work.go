package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// sliceRows is how many rows are decoded at a time, which bounds memory whatever the size of a row group: of text about as much as a core's own
// cache holds, as steps, checks and encoder look at it one after the other (measured on gsm8k: 4096 take 5 % longer, 512 no less).
const sliceRows = 1024

// aheadRows is of how many rows a part must be for slices of it to be read ahead where a core is spare: smaller ones keep all cores
// busy by their number, and need less memory.
const aheadRows = 32 * sliceRows

// A Rejected is a row that was left out because it could not be taken.
type Rejected struct {
	Pos     schema.Pos
	Reason  string
	Message string
	Value   string
	Row     []byte // JSON of the row as read, where it was asked for
	Where   string `json:",omitempty"` // in code of the user's that could not take it
	Number  int64  `json:",omitempty"` // of the row within its split
}

// A result is what became of a unit.
type result struct {
	group    *parquetio.EncodedRowGroup
	rowsIn   int64
	rowsOut  int64
	dropped  map[string]int64
	rejects  []Rejected
	findings *findings
	hits     []byte // spilled as they are
	err      error
}

// errDecode says that rows of the unit were left out or moved, so that nothing of it can stay undecoded.
var errDecode = errors.New("unit must be decoded")

// errRepeat says that a row came out more than once, so that its number tells it apart no longer.
var errRepeat = errors.New("rows are repeated")

// A worker does units, one at a time.
type worker struct {
	plan     *Plan
	encoders map[string]*parquetio.Encoder // by split
	builders map[*step][]*record.Builder   // kept for the memory that they hold
	buildsOf *program                      // whose steps they are: one file's, of which there may be hundreds
	readsOf  *program                      // of the part before
	readings map[int]*reading              // of its rules, by number
	busy     chan struct{}                 // of all workers: one place a unit, the others are for those who compress pages
}

// newWorker returns a worker that works alone.
func newWorker(p *Plan) *worker {
	return &worker{plan: p, busy: make(chan struct{}, 1), encoders: map[string]*parquetio.Encoder{}, builders: map[*step][]*record.Builder{}}
}

func (w *worker) unit(ctx context.Context, t *Task, u Unit) *result {
	w.busy <- struct{}{}
	defer func() { <-w.busy }()
	r, err := w.attempt(ctx, t, u, true, false)
	if errors.Is(err, errDecode) {
		r, err = w.attempt(ctx, t, u, false, false)
	}
	if errors.Is(err, errRepeat) {
		r, err = w.attempt(ctx, t, u, false, true)
	}
	if err != nil {
		return &result{err: err}
	}
	return r
}

// attempt does the unit; with raw, chunks that can be copied stay undecoded; repeats allows for rows that come out more than once.
func (w *worker) attempt(ctx context.Context, t *Task, u Unit, raw, repeats bool) (*result, error) {
	r := &result{rowsIn: u.Rows, dropped: map[string]int64{}, findings: newFindings()}
	var enc *parquetio.Encoder
	if w.plan.Job.Sink != nil {
		enc = w.encoder(t.Split)
	}
	number := u.Number
	mixed := w.mixed(t, u)
	for _, part := range u.Parts {
		m := w.newMachine(t, u, part, r, raw)
		m.repeats, m.mixed = repeats, mixed
		if err := m.open(ctx); err != nil {
			return nil, err
		}
		err := m.run(ctx, number, enc)
		m.close()
		if err != nil {
			if enc != nil {
				delete(w.encoders, t.Split) // it holds half a row group
			}
			return nil, err
		}
		number += part.Rows
	}
	if enc != nil && r.rowsOut > 0 {
		var err error
		if r.group, err = enc.Finish(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.rejects, func(a, b Rejected) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Row, b.Pos.Row))
	})
	return r, nil
}

func (w *worker) encoder(split string) *parquetio.Encoder {
	e := w.encoders[split]
	if e == nil {
		e = parquetio.NewEncoder(w.plan.Schemas[split], parquetio.EncoderOptions{Codec: w.plan.Job.Codec, Spare: w.busy})
		w.encoders[split] = e
	}
	return e
}

// A machine runs the program over one part.
type machine struct {
	job    *Job
	task   *Task
	part   Part
	prog   *program
	res    *result
	raw    []*record.Raw // by leaf of the output; nil: made of what is decoded
	whole  bool          // all input leaves are decoded
	reader Reader
	checks *checks

	mixed   []bool // by leaf of the output: one value for all rows here and not elsewhere in the unit, or the other way round; nil: none
	told    bool   // a rule was told that values made from row numbers are distinct
	repeats bool   // they are not: rows come out more than once

	worker   *worker
	funcs    []transform.Func
	bulks    []transform.Bulk // nil: only one by one
	cursors  []*record.Cursor
	builders [][]*record.Builder
	at       []int            // by slot: the one to take in its place, where an edit has nothing to do in this part
	vals     []*record.Vector // by slot
	rows     []int32          // scratch of step
	fault    error            // met where no error can be returned
}

func (w *worker) newMachine(t *Task, u Unit, p Part, r *result, raw bool) *machine {
	m := &machine{worker: w, job: w.plan.Job, task: t, part: p, prog: w.plan.programs[t.Split][p.File], res: r}
	m.raw = newRaw(m.prog)
	m.whole = !raw && m.job.KeepRejects
	m.resolve()
	if raw && p.Whole && len(u.Parts) == 1 && m.job.Sink != nil {
		m.takeRaw()
	}
	m.checks = w.plan.newChecks(t, m)
	return m
}

func newRaw(p *program) []*record.Raw { return make([]*record.Raw, len(p.leaf)) }

// newBuilders returns builders for the puts of a step of prog: those of the unit before, where that was of the same file.
func (w *worker) newBuilders(prog *program, s *step) ([]*record.Builder, error) {
	if w.buildsOf != prog {
		w.buildsOf = prog
		clear(w.builders)
	}
	if bs, ok := w.builders[s]; ok {
		return bs, nil
	}
	bs := make([]*record.Builder, len(s.puts))
	for i, p := range s.puts {
		var err error
		if bs[i], err = record.NewBuilder(p.field, p.base); err != nil {
			return nil, err
		}
	}
	w.builders[s] = bs
	return bs, nil
}

func notNil(r *record.Raw) bool { return r != nil }

// takeRaw keeps the chunks that can go out as they came. One that goes to two places may be decoded for one of them only.
func (m *machine) takeRaw() {
	for i, s := range m.prog.from {
		in := m.prog.slots[m.at[s]].input
		if in < 0 {
			continue
		}
		c := m.job.Source.Raw(m.part, in)
		if c != nil && parquetio.CanMove(c, m.prog.leaf[i], m.job.Codec, m.job.AnyCodec) {
			m.raw[i] = c
		}
	}
}

func (m *machine) open(ctx context.Context) error {
	if m.fault != nil {
		return fmt.Errorf("%s: row group %d: %w", m.fileName(), m.part.RowGroup, m.fault)
	}
	for _, s := range m.prog.steps {
		m.funcs = append(m.funcs, s.plan.Bind())
		bulk := transform.Bulk(nil)
		if s.plan.Bulk != nil && len(s.puts) == len(s.plan.Puts) {
			bulk = s.plan.Bulk()
		}
		m.bulks = append(m.bulks, bulk)
		m.cursors = append(m.cursors, s.bind.Cursor())
		bs, err := m.worker.newBuilders(m.prog, s)
		if err != nil {
			return err
		}
		m.builders = append(m.builders, bs)
	}
	if err := m.checks.chunks(); err != nil {
		return err
	}
	decode := m.decode()
	if len(decode) == 0 {
		return nil
	}
	r, err := m.job.Source.Open(ctx, m.part, decode)
	if err != nil {
		return err
	}
	m.reader = r
	if a, ok := r.(interface {
		Ahead(rows int, spare chan struct{})
	}); ok && m.part.Rows >= aheadRows {
		a.Ahead(sliceRows, m.worker.busy)
	}
	return nil
}

// decode lists the input leaves that must be decoded.
func (m *machine) decode() []int {
	need := make([]bool, len(m.prog.in.Leaves()))
	for _, s := range m.prog.steps {
		for _, l := range s.bind.Leaves() {
			m.need(s.from[l], need)
		}
	}
	for _, l := range m.checks.leaves() {
		m.need(m.prog.from[l], need)
	}
	if m.job.Sink != nil {
		for i, s := range m.prog.from {
			if m.raw[i] == nil {
				m.need(s, need)
			}
		}
	}
	var out []int
	for i, n := range need {
		if n || m.whole {
			out = append(out, i)
		}
	}
	return out
}

func (m *machine) close() {
	if m.reader != nil {
		m.reader.Close()
	}
}

// run takes the part's rows through steps, checks and encoder.
func (m *machine) run(ctx context.Context, number int64, enc *parquetio.Encoder) error {
	var seen int64
	for seen < m.part.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := m.next(ctx, seen)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		b.First = number + seen
		seen += int64(b.Rows)
		if err := m.slice(b, enc); err != nil {
			return err
		}
	}
	if seen != m.part.Rows {
		return fmt.Errorf("%s: row group %d: expected %d rows, read %d", m.fileName(), m.part.RowGroup, m.part.Rows, seen)
	}
	return nil
}

func (m *machine) fileName() string { return m.job.Source.Files()[m.part.File].Name }

// next reads a slice, or where nothing is decoded makes one of the whole part.
func (m *machine) next(ctx context.Context, seen int64) (*record.Batch, error) {
	if m.reader != nil {
		return m.reader.Next(ctx, sliceRows)
	}
	rows := m.part.Rows - seen
	if len(m.prog.steps) > 0 { // what they compute is held until it is encoded
		rows = min(rows, sliceRows)
	}
	return &record.Batch{Rows: int(rows), File: m.fileName(), RowGroup: m.part.RowGroup, FirstRow: m.part.First + seen}, nil
}

func (m *machine) slice(in *record.Batch, enc *parquetio.Encoder) error {
	out, err := m.apply(in)
	if err != nil {
		return err
	}
	m.res.rowsOut += int64(out.Rows)
	m.checks.rows(out)
	if enc != nil && out.Rows > 0 {
		if err := enc.Append(out); err != nil {
			return fmt.Errorf("%s: row group %d: %w", m.fileName(), m.part.RowGroup, err)
		}
	}
	return nil
}

// apply runs the steps. The batch that comes out is valid until the next call.
func (m *machine) apply(in *record.Batch) (*record.Batch, error) {
	for _, bs := range m.builders {
		for _, b := range bs {
			b.Reset()
		}
	}
	m.vals = make([]*record.Vector, len(m.prog.slots))
	for i := range in.Leaves {
		m.vals[i] = in.Leaves[i].Vec
	}
	state := &record.Batch{Rows: in.Rows, File: in.File, RowGroup: in.RowGroup, FirstRow: in.FirstRow, FirstLine: in.FirstLine,
		Lines: in.Lines, First: in.First}
	if err := m.faults(in, state); err != nil {
		return nil, err
	}
	for i, s := range m.prog.steps {
		if err := m.step(i, s, state); err != nil {
			return nil, err
		}
	}
	var only []int // nil: all leaves are wanted
	if m.job.Sink == nil && !m.whole {
		only = m.checks.leaves()
	}
	out := m.batch(state, m.prog.out, m.prog.leaf, m.prog.from, m.prog.own, only)
	for i, c := range m.raw {
		out.Leaves[i].Raw = c
	}
	if m.mixed != nil {
		m.spread(out, state)
	}
	if m.prog.relevel != nil {
		m.relevel(out)
	}
	return out, m.fault
}

// mixed returns the leaves of the output that are constant, or numbers of rows, in some parts of a unit alone; nil where there are none.
func (w *worker) mixed(t *Task, u Unit) []bool {
	var out []bool
	var first *machine
	for _, part := range u.Parts {
		m := &machine{job: w.plan.Job, part: part, prog: w.plan.programs[t.Split][part.File]}
		m.resolve()
		if first == nil {
			first = m
			continue
		}
		for i := range m.prog.leaf {
			if sameForm(first.form(i), m.form(i)) {
				continue
			}
			if out == nil {
				out = make([]bool, len(m.prog.leaf))
			}
			out[i] = true
		}
	}
	return out
}

// sameForm reports whether neither slot is a constant or numbers of rows, or both are the same.
func sameForm(a, b *slot) bool {
	switch {
	case a.konst != nil && b.konst != nil:
		return a.konst.Equal(*b.konst)
	case a.seq != nil && b.seq != nil:
		return *a.seq == *b.seq
	}
	return a.konst == nil && b.konst == nil && a.seq == nil && b.seq == nil
}

// form is the slot that a leaf of the output is made of.
func (m *machine) form(leaf int) *slot { return &m.prog.slots[m.at[m.prog.from[leaf]]] }

// spread gives leaves that are constant in some parts of a unit alone a value a row.
func (m *machine) spread(b *record.Batch, state *record.Batch) {
	for i, mixed := range m.mixed {
		l := &b.Leaves[i]
		if !mixed || l.Const == nil && l.Seq == nil {
			continue
		}
		l.Const, l.Seq = nil, nil
		if v := m.vector(m.prog.from[i], state); v != nil {
			l.Vec = v.Lift(m.form(i).maxDef, m.prog.own[i])
		}
	}
}

// relevel brings the levels of a file's leaves to those of its split.
func (m *machine) relevel(b *record.Batch) {
	for i, levels := range m.prog.relevel {
		if v := b.Leaves[i].Vec; levels != nil && v != nil && v.Def != nil {
			out := *v
			out.Def = make([]uint8, len(v.Def))
			for e, d := range v.Def {
				out.Def[e] = levels[d]
			}
			b.Leaves[i].Vec = &out
		}
	}
}

// batch makes the batch of these leaves; levels are those of own where it is set, else of leaves, and only filters those that
// need values (nil: all).
func (m *machine) batch(state *record.Batch, s *schema.Schema, leaves []schema.Leaf, from []int, own []uint8, only []int) *record.Batch {
	b := *state
	b.Schema = s
	b.Leaves = make([]record.Leaf, len(leaves))
	fill := func(i int) {
		maxDef := leaves[i].MaxDef
		if own != nil {
			maxDef = own[i]
		}
		m.fill(&b.Leaves[i], from[i], maxDef, state)
	}
	for i, l := range leaves {
		b.Leaves[i].Leaf = l
		if only == nil {
			fill(i)
		}
	}
	for _, i := range only {
		fill(i)
	}
	return &b
}

// fill gives leaf the values of a slot, at levels up to maxDef.
func (m *machine) fill(l *record.Leaf, from int, maxDef uint8, state *record.Batch) {
	from = m.at[from]
	s := &m.prog.slots[from]
	switch {
	case s.konst != nil:
		l.Const = s.konst
	case s.seq != nil:
		l.Seq = s.seq
	default:
		if v := m.vector(from, state); v != nil {
			l.Vec = v.Lift(s.maxDef, maxDef)
		}
	}
}

// step runs one transform over the slice.
func (m *machine) step(i int, s *step, state *record.Batch) error {
	builders := m.builders[i]
	rows := m.rows[:0]
	row := int32(0)
	var failed error
	out := transform.NewEmitter(len(s.plan.Puts), func(values []schema.Value) {
		rows = append(rows, row)
		for k, p := range s.puts {
			if err := builders[k].Append(values[p.index]); err != nil && failed == nil {
				failed = err
			}
		}
	})
	in := m.batch(state, s.schema, s.leaf, s.from, nil, s.bind.Leaves())
	if m.fault != nil {
		return m.fault
	}
	if done, err := m.bulk(i, s, in); done || err != nil {
		return err
	}
	cur := m.cursors[i]
	cur.Reset(in)
	changed := false
	for cur.Next() {
		row = int32(cur.Row())
		n, reason, err := out.Run(m.funcs[i], cur)
		switch {
		case err != nil:
			if err := m.refused(err, n, cur, state); err != nil {
				return err
			}
		case failed != nil:
			return fmt.Errorf("%s: %w", cur.Origin(), failed)
		case n == 0:
			m.res.dropped[reason]++
		}
		changed = changed || n != 1
	}
	if m.rows = rows; changed {
		if err := m.keep(rows, state); err != nil {
			return err
		}
	}
	m.put(i, s)
	return nil
}

// put makes what the builders of a step hold the values of its slots.
func (m *machine) put(i int, s *step) {
	for k, p := range s.puts {
		for j, v := range m.builders[i][k].Vectors() {
			m.vals[p.slots[j]] = v
		}
	}
}

// bulk runs a transform over all rows of the slice at once, where it can do that and all that it reads is text; it reports whether it did.
func (m *machine) bulk(i int, s *step, in *record.Batch) (bool, error) {
	if m.bulks[i] == nil || in.Rows == 0 {
		return false, nil
	}
	reads := make([]schema.Texts, len(s.plan.Reads))
	for r := range reads {
		leaf := s.bind.Leaf(r)
		if leaf < 0 || s.leaf[leaf].Type.Kind != schema.Text {
			return false, nil
		}
		texts, ok := in.Leaves[leaf].Vec.Texts()
		if !ok || texts.Len() != in.Rows { // some are null
			return false, nil
		}
		reads[r] = texts
	}
	var out []*schema.TextColumn
	for _, b := range m.builders[i] {
		texts := b.Texts()
		if texts == nil {
			return false, nil
		}
		out = append(out, texts...)
	}
	if !m.bulks[i](reads, in.Rows, out) {
		for _, b := range m.builders[i] {
			b.Reset()
		}
		return false, nil
	}
	for _, b := range m.builders[i] {
		if err := b.Filled(in.Rows); err != nil {
			return false, err
		}
	}
	m.put(i, s)
	return true, nil
}

// refused takes the error of a step at the row of cur: a rejection is noted, another is returned with its place. n rows had come out.
func (m *machine) refused(err error, n int, cur *record.Cursor, state *record.Batch) error {
	var reject *transform.Reject
	var fault *transform.Fault
	switch {
	case errors.As(err, &reject) && n > 0:
		return fmt.Errorf("%s: a row was put out and then rejected", cur.Origin())
	case errors.As(err, &reject):
		m.reject(Rejected{Pos: cur.Origin().At(reject.Path), Reason: reject.Reason, Message: reject.Message, Value: reject.Value,
			Where: reject.Where, Number: cur.Number()}, state, cur.Row())
		return nil
	case errors.As(err, &fault):
		fault.Pos = cur.Origin()
		return fault
	}
	return fmt.Errorf("%s: %w", cur.Origin(), err)
}

// keep leaves only rows in the slice, in that order.
func (m *machine) keep(rows []int32, state *record.Batch) error {
	if slices.ContainsFunc(m.raw, notNil) {
		return errDecode
	}
	for i := range len(rows) - 1 {
		if m.told && !m.repeats && rows[i] == rows[i+1] {
			return errRepeat
		}
	}
	for i, v := range m.vals {
		if v != nil {
			m.vals[i] = v.Take(rows, m.prog.slots[i].maxDef)
		}
	}
	source := make([]int32, len(rows))
	for i, r := range rows {
		source[i] = int32(state.Origin(int(r)))
	}
	state.Source, state.Rows = source, len(rows)
	return nil
}

// faults takes out the rows that the reader could not take.
func (m *machine) faults(in, state *record.Batch) error {
	if len(in.Faults) == 0 {
		return nil
	}
	bad := map[int32]bool{}
	for _, f := range in.Faults {
		if !bad[f.Row] {
			msg := strings.TrimPrefix(f.Message, string(f.Path)+": ") // the position says it
			m.reject(Rejected{Pos: in.Pos(int(f.Row)).At(f.Path), Reason: f.Reason, Message: msg, Value: f.Value}, state, int(f.Row))
		}
		bad[f.Row] = true
	}
	var rows []int32
	for i := range int32(in.Rows) {
		if !bad[i] {
			rows = append(rows, i)
		}
	}
	return m.keep(rows, state)
}

// reject notes a row that is left out; at is its place in the slice.
func (m *machine) reject(r Rejected, state *record.Batch, at int) {
	if m.job.KeepRejects {
		r.Row = m.rowJSON(state, at)
	}
	m.res.dropped[r.Reason]++
	m.res.rejects = append(m.res.rejects, r)
}

// rowJSON is the row as it was read, of its decoded columns.
func (m *machine) rowJSON(state *record.Batch, at int) []byte {
	b := *state
	b.Schema = m.prog.in
	for i, l := range m.prog.in.Leaves() {
		b.Leaves = append(b.Leaves, record.Leaf{Leaf: l, Vec: m.vals[i]})
	}
	return b.RowJSON(at)
}
