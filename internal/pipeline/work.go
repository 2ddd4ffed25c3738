package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// sliceRows is how many rows are decoded at a time, which bounds memory whatever the size of a row group: of text about as much as a core's own
// cache holds, as steps, checks and encoder look at it one after the other (measured on gsm8k: 4096 take 5 % longer, 512 no less).
const sliceRows = 1024

// sliceBytes is how large a slice may be, uncompressed: rows with images are so large that sliceRows of them are more than a worker may hold.
const sliceBytes = 8 << 20

// sliceOf is how many rows of a range are decoded at a time.
func sliceOf(r ReadRange) int {
	if r.Bytes <= 0 || r.Rows <= 0 {
		return sliceRows
	}
	return int(max(1, min(sliceRows, sliceBytes/max(1, r.Bytes/r.Rows))))
}

// aheadRows is how many rows a range has at least for slices of it to be read ahead where a core is spare: smaller ones keep all cores
// busy by their number, and need less memory.
const aheadRows = 32 * sliceRows

// newWorker returns a worker that works alone.
func newWorker(p *Plan, rules *judge.Rules) *worker {
	return &worker{plan: p, rules: rules, busy: make(chan struct{}, 1), encoders: map[string]*parquetio.Encoder{}}
}

func (w *worker) rowGroup(ctx context.Context, t *Task, g RowGroupPlan) *result {
	w.busy <- struct{}{}
	defer func() { <-w.busy }()
	rejects := w.plan.Job.Output != nil && w.plan.Job.Output.KeepRejects
	how := way{raw: true}
	for {
		r, err := w.attempt(ctx, t, g, how)
		switch {
		case err == nil:
			return r
		case errors.Is(err, program.ErrDecode) && how.raw:
			how.raw, how.all = false, rejects
		case errors.Is(err, program.ErrRepeat) && !how.repeats:
			how.raw, how.all, how.repeats = false, rejects, true
		case errors.Is(err, errDoubt) && !how.doubt:
			how.doubt = true
		default:
			return &result{err: err}
		}
	}
}

func (w *worker) attempt(ctx context.Context, t *Task, g RowGroupPlan, how way) (r *result, err error) {
	r = newResult(g.Rows)
	var enc *parquetio.Encoder
	var scatter *scatterer
	if o := w.plan.order; o != nil {
		scatter = o.newScatterer(t.Split)
	} else if w.plan.Job.Output != nil {
		enc = w.encoder(t.Split)
		defer func() {
			if err != nil {
				delete(w.encoders, t.Split) // it holds half a row group
			}
		}()
	}
	how.raw = how.raw && len(g.Ranges) == 1
	expand := w.mustExpand(t, g)
	for _, rng := range g.Ranges {
		p := w.newPartRun(t.Split, rng, r, how)
		p.scatter = scatter
		err := p.open(ctx, expand)
		if err == nil {
			err = p.do(ctx, enc)
			p.close()
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case scatter != nil:
		r.buckets, err = scatter.finish()
	case enc != nil && r.rowsOut > 0:
		r.group, err = enc.Finish()
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.Rejects, func(a, b program.Rejected) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Row, b.Pos.Row))
	})
	return r, nil
}

func (w *worker) encoder(split string) *parquetio.Encoder {
	e := w.encoders[split]
	if e == nil {
		e = parquetio.NewEncoder(w.plan.Schemas[split], parquetio.EncoderOptions{Codec: w.plan.Job.Output.Codec, Spare: w.busy})
		w.encoders[split] = e
	}
	return e
}

// mustExpand returns the leaves of the output that are constant, or numbers of rows, in some ranges of a row group alone; nil where there
// are none. Rows that are put into order have a value each.
func (w *worker) mustExpand(t *Task, g RowGroupPlan) []bool {
	var out []bool
	if w.plan.order != nil {
		return slices.Repeat([]bool{true}, len(w.plan.resolve(t.Split, g.Ranges[0]).Leaves()))
	}
	var first *program.Resolved
	for _, rng := range g.Ranges {
		p := w.plan.resolve(t.Split, rng)
		if first == nil {
			first = p
			continue
		}
		for i := range p.Leaves() {
			if first.SameForm(p, i) {
				continue
			}
			if out == nil {
				out = make([]bool, len(p.Leaves()))
			}
			out[i] = true
		}
	}
	return out
}

// newPartRun plans a range: nothing is read before open.
func (w *worker) newPartRun(split string, rng ReadRange, r *result, how way) *partRun {
	p := &partRun{worker: w, rng: rng, prog: w.plan.resolve(split, rng), way: how, res: r}
	p.prog.Repeats = how.repeats
	if how.raw {
		p.chunks = w.plan.raw(rng, p.prog)
	}
	if w.plan.barrier != nil {
		p.keyer = w.plan.barrier.newKeyer(p.prog.Program)
	}
	p.checks = w.rules.Check(judge.Range{File: rng.File, Name: p.fileName(), RowGroup: rng.RowGroup, Rows: rng.Rows, Known: p.known}, p.prog.Judged(), &w.readings, r.found)
	return p
}

func (p *partRun) fileName() string { return p.worker.plan.input.Files()[p.rng.File].Name }

// known says what is known of a leaf of the output without reading rows.
func (p *partRun) known(leaf int) (rule.ColumnFacts, error) {
	c, in, facts := p.prog.Constant(leaf), p.prog.Input(leaf), p.worker.plan.facts
	switch {
	case c != nil && c.IsNull():
		return rule.ColumnFacts{Nulls: p.rng.Rows, Dict: []schema.Value{}}, nil
	case c != nil:
		return rule.ColumnFacts{Dict: []schema.Value{*c}}, nil
	case p.prog.RowNumbers(leaf):
		return rule.ColumnFacts{Distinct: p.prog.PromiseDistinct(leaf)}, nil
	case in < 0 || facts == nil:
		return rule.ColumnFacts{Nulls: -1}, nil
	}
	ch, ok, err := facts.Chunk(p.rng, in)
	if ok && p.doubt && err == nil {
		ch.Nulls, err = facts.Nulls(p.rng, in)
	}
	if err != nil || !ok {
		return rule.ColumnFacts{Nulls: -1}, err
	}
	p.claimed(in, ch)
	return asText(ch, p.prog.Leaves()[leaf].Type), nil
}

// asText makes the values texts where a step has declared bytes to be text.
func asText(ch rule.ColumnFacts, t schema.Type) rule.ColumnFacts {
	if t.Kind != schema.Text || len(ch.Dict) == 0 || ch.Dict[0].Kind() != schema.Binary {
		return ch
	}
	dict := make([]schema.Value, len(ch.Dict))
	for i, v := range ch.Dict {
		dict[i] = schema.TextValue(v.Text())
	}
	ch.Dict = dict
	return ch
}

// open begins to read what the steps, the remaining checks and the encoder need.
func (p *partRun) open(ctx context.Context, mustExpand []bool) error {
	if err := p.prog.Err(); err != nil {
		return fmt.Errorf("%s: row group %d: %w", p.fileName(), p.rng.RowGroup, err)
	}
	o := program.RunOptions{Scratch: &p.worker.scratch, Outcome: &p.res.Outcome, Raw: p.chunks, MustExpand: mustExpand}
	out := p.worker.plan.Job.Output
	o.KeepRejects = out != nil && out.KeepRejects
	var err error
	if p.run, err = p.prog.NewRun(o); err != nil {
		return err
	}
	if err := p.checks.Prejudge(); err != nil {
		return err
	}
	decode := p.decode()
	if err := p.verify(decode); err != nil || len(decode) == 0 {
		return err
	}
	if p.reader, err = p.worker.plan.input.Open(ctx, p.rng, decode); err != nil {
		return err
	}
	if a, ok := p.reader.(Prefetcher); ok && p.rng.Rows >= aheadRows {
		a.Ahead(sliceOf(p.rng), p.worker.busy)
	}
	return nil
}

// decode lists the leaves of the file that must be decoded, once the checks have been asked what they need.
func (p *partRun) decode() (out []int) {
	if p.all {
		for i := range p.prog.In().Leaves() {
			out = append(out, i)
		}
		return out
	}
	wanted := p.read()
	if p.worker.plan.Job.Output != nil {
		wanted = slices.Clone(wanted)
		for i := range p.prog.NumOut() {
			if p.chunks == nil || p.chunks[i] == nil {
				wanted = append(wanted, i)
			}
		}
	}
	return p.prog.Decode(wanted)
}

// read lists the leaves of the output that the remaining checks, or the keys, read.
func (p *partRun) read() []int {
	if p.keyer != nil {
		return p.keyer.bind.Leaves()
	}
	return p.checks.Leaves()
}

func (p *partRun) close() {
	if p.reader != nil {
		p.reader.Close()
	}
}

// do takes the rows of the range through steps, checks and encoder.
func (p *partRun) do(ctx context.Context, enc *parquetio.Encoder) error {
	seen, err := p.each(ctx, func() bool { return false }, func(out *record.Batch, read int) error {
		if bad := p.checks.Rows(out); len(bad) > 0 {
			var err error
			if out, err = p.reject(bad); err != nil {
				return err
			}
		}
		p.res.rowsOut += int64(out.Rows)
		if p.keyer != nil {
			return p.keyer.rows(out, read, p.res)
		}
		if p.scatter != nil {
			return p.scatter.rows(out, p.rng.File)
		}
		if enc != nil && out.Rows > 0 {
			written := *out
			written.Schema, written.Leaves = p.prog.Out(), out.Leaves[:p.prog.NumOut()]
			return enc.Append(&written) // its error says where
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case seen != p.rng.Rows:
		return fmt.Errorf("%s: row group %d: expected %d rows, read %d", p.fileName(), p.rng.RowGroup, p.rng.Rows, seen)
	}
	return p.held()
}

// reject leaves out rows that findings take out of the last slice.
func (p *partRun) reject(bad []judge.BadRow) (*record.Batch, error) {
	rows, why := make([]int, len(bad)), make([]program.Rejected, len(bad))
	for i, b := range bad {
		f := b.Finding
		rows[i] = b.Row
		why[i] = program.Rejected{Pos: f.Pos, Reason: f.Rule.ID, Message: f.Message, Value: f.Value}
	}
	return p.run.Reject(rows, why)
}

// each reads the range slice by slice, until enough, and visits the rows that the steps put out.
func (p *partRun) each(ctx context.Context, enough func() bool, visit func(out *record.Batch, read int) error) (seen int64, err error) {
	for seen < p.rng.Rows && !enough() {
		if err := ctx.Err(); err != nil {
			return seen, err
		}
		b, err := p.next(ctx, seen)
		if err == io.EOF {
			break
		}
		if err != nil {
			return seen, err
		}
		b.SplitRow = p.rng.number + seen
		seen += int64(b.Rows)
		out, err := p.slice(b)
		if err == nil {
			err = visit(out, b.Rows)
		}
		if err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// next reads a slice. Where nothing is decoded it returns the whole range.
func (p *partRun) next(ctx context.Context, seen int64) (*record.Batch, error) {
	if p.reader != nil {
		b, err := p.reader.Next(ctx, sliceOf(p.rng))
		if err == nil {
			p.count(b)
		}
		return b, err
	}
	rows := p.rng.Rows - seen
	if p.prog.Computes() { // what they compute is held until it is encoded
		rows = min(rows, sliceRows)
	}
	return &record.Batch{Rows: int(rows), File: p.fileName(), RowGroup: p.rng.RowGroup, FileRow: p.rng.FileRow + seen}, nil
}

// slice runs the steps. The batch that it returns is valid until the next call.
func (p *partRun) slice(in *record.Batch) (*record.Batch, error) {
	if p.worker.plan.Job.Output == nil && !p.all {
		return p.run.Slice(in, p.read())
	}
	return p.run.Slice(in, nil)
}
