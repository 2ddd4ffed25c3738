package pipeline

import (
	"os"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/internal/spill"
	"github.com/rlprep/rlprep/schema"
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

// A Stage is a part of the steps of a split: RowSteps, a Derived column or a Barrier.
type Stage interface {
	// steps are what the stage does to rows that come one by one.
	steps() []transform.RowStep
}

// RowSteps take rows one by one.
type RowSteps []transform.RowStep

func (s RowSteps) steps() []transform.RowStep { return s }

// Derived is a column for the stages after it and for the rules.
type Derived struct{ Column transform.RowStep }

func (d Derived) steps() []transform.RowStep { return []transform.RowStep{d.Column} }

// A Barrier sees a key of every row of the split before any row passes it. Prepare runs the pass over the keys.
type Barrier struct {
	Step transform.RowStep // a transform.Barrier

	pass      *Plan                                // over the keys: the steps before the barrier, of a job that only checks
	keys      map[*program.Program]*transform.Keys // by program of pass
	one       *transform.Keys                      // any of them: only their Reads and Bind differ
	selection *Selection                           // nil before the pass
	order     *Order                               // nil: it leaves rows out
}

// steps is what the barrier's Selection leaves out, and what it does to the columns.
func (b *Barrier) steps() []transform.RowStep {
	if b.order != nil {
		return []transform.RowStep{b.Step}
	}
	if ranked, ok := transform.Bare(b.Step).(transform.Ranked); ok {
		counting := ranked.Counting(b.goneIn)
		if l, ok := b.Step.(transform.Located); ok {
			counting = transform.Located{RowStep: counting, Where: l.Where, Verb: l.Verb}
		}
		return []transform.RowStep{counting}
	}
	leftOut := func(first, end int64) ([]int64, error) { return b.selection.dropped.Between(first, end) }
	return []transform.RowStep{program.Choice{LeftOut: leftOut, Reason: b.one.Reason}, b.Step}
}

// fault is an error of the step.
func (b *Barrier) fault(err error) error {
	return program.StepError("split "+b.pass.splits[0].Name, b.Step, err)
}

// goneIn returns how many rows below first did not reach the barrier, and the numbers of those in [first, end) that did not.
func (b *Barrier) goneIn(first, end int64) (before int64, numbers []int64, err error) {
	if before, err = b.selection.gone.Count(0, first); err != nil {
		return 0, nil, err
	}
	numbers, err = b.selection.gone.Between(first, end)
	return before, numbers, err
}

// A Selection is the rows of a split that pass a Barrier, by number. It is in files, so its memory is bounded.
type Selection struct {
	dropped *spill.Numbers // rows that reached the barrier and do not pass
	gone    *spill.Numbers // rows that did not reach it
}

// passing returns how many rows of [first, first+rows) pass.
func (s *Selection) passing(first, rows int64) (int64, error) {
	dropped, err := s.dropped.Count(first, first+rows)
	if err != nil {
		return 0, err
	}
	gone, err := s.gone.Count(first, first+rows)
	return rows - dropped - gone, err
}

func (s *Selection) close() {
	for _, n := range []*spill.Numbers{s.dropped, s.gone} {
		if n != nil {
			n.Close()
		}
	}
}

// An Order puts the rows of a split into the order of their keys. Two passes make it: one over the keys, which gives each row its position, and
// one that writes the rows that come out of the steps before the barrier into buckets, each of which holds consecutive positions. The
// steps after it then read the buckets as one file. What is held in memory is one bucket a worker.
type Order struct {
	scatter   *Plan          // the steps before the barrier, of a job that writes
	file      int            // number of the file that the buckets are
	gone      *spill.Numbers // rows that do not reach the barrier, whose numbers the others close up over
	positions *spill.Numbers // by the rank of a row among those that reach it; -1 of one that is left out
	renumber  bool           // rows are numbered by their positions
	rows      int64          // that have a position
	size      int64          // rows of a bucket
	buckets   []*bucket
	records   []*Record // of the pass that fills the buckets: what became of the rows before
	reason    string    // of rows that are left out
}

// A bucket is a Parquet file of some rows in the order of the input, with their positions and where they are from.
type bucket struct {
	rows   int64
	bytes  int64 // uncompressed
	file   *os.File
	writer *parquetio.Writer
	from   *parquetio.File
}

func (o *Order) close() {
	if o.positions != nil {
		o.positions.Close()
	}
	for _, k := range o.buckets {
		k.file.Close()
	}
}

func ordered(s Stage) bool {
	b, ok := s.(*Barrier)
	return ok && b.order != nil
}

// rowSteps are all that stages do to rows that come one by one.
func rowSteps(stages []Stage) (out []transform.RowStep) {
	for _, s := range stages {
		out = append(out, s.steps()...)
	}
	return out
}

// Close removes the files of the barriers.
func (p *Plan) Close() {
	for _, stages := range p.Stages {
		for _, stage := range stages {
			if b, ok := stage.(*Barrier); ok && b.selection != nil {
				b.selection.close()
				if b.order != nil {
					b.order.close()
				}
			}
		}
	}
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

// raw returns the chunks of a range that are copied undecoded if no row is left out. Bytes, such as images, keep their codec, because they are
// compressed already. A chunk that goes to two places may be decoded for one of them only.
func (p *Plan) raw(r ReadRange, prog *program.Resolved) program.Raw {
	leaves := prog.Leaves()
	out := make(program.Raw, len(leaves))
	if !r.Whole || p.order != nil || r.passing < r.Rows || p.Job.Output == nil || p.facts == nil {
		return out
	}
	for i, l := range leaves {
		if in := prog.Input(i); in >= 0 {
			c := p.facts.Raw(r, in)
			if c != nil && parquetio.CanMove(c, l, p.Job.Output.Codec, p.Job.Output.KeepCodec || l.Type.Kind == schema.Binary) {
				out[i] = c
			}
		}
	}
	return out
}

// rawOf is raw of a range that is planned.
func (p *Plan) rawOf(split string, r ReadRange) program.Raw { return p.raw(r, p.resolve(split, r)) }
