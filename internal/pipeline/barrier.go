package pipeline

import (
	"context"
	"fmt"
	"math"
	"os"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/internal/spill"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

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
	leftOut := func(first, end int64) ([]int64, error) { return b.selection.dropped.Between(first, end) }
	return []transform.RowStep{program.Choice{LeftOut: leftOut, Reason: b.one.Reason}, b.Step}
}

// A Selection is the rows of a split that pass a Barrier, by number. It is in files, so its memory is bounded.
type Selection struct {
	dropped *spill.Numbers // rows that reached the barrier and do not pass
	gone    *spill.Numbers // rows that did not reach it
}

// kept returns how many rows of [first, first+rows) pass.
func (s *Selection) kept(first, rows int64) (int64, error) {
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

// planBarrier plans the pass over the keys of the rows that come out of the stages before a barrier.
func (p *Plan) planBarrier(s Split, t transform.RowStep, step transform.Barrier, before []Stage) (*Barrier, error) {
	b := &Barrier{Step: t, keys: map[*program.Program]*transform.Keys{}}
	job := Job{Input: p.input, Facts: p.facts, Splits: []Split{s}, Limit: p.Job.Limit, PreserveLayout: p.Job.PreserveLayout, Workers: p.Job.Workers,
		Rules: judge.Rules{Env: p.Job.Rules.Env}, MaxReject: Tolerance{Percent: 100}, TrustStatistics: true} // the pass after it counts rejects and checks
	b.pass = newPlan(&job)
	b.pass.barrier = b
	if err := b.pass.compileSteps(s, rowSteps(before)); err != nil {
		return nil, err
	}
	for _, f := range s.Files {
		prog := b.pass.programs[s.Name][f]
		keys, err := step.Keys(prog.Judged())
		if err != nil {
			return nil, program.StepError(p.input.Files()[f].Name, t, err)
		}
		b.keys[prog], b.one = keys, keys
	}
	if b.one != nil && b.one.Order {
		var err error
		if b.order, err = p.planOrder(s, b, before); err != nil {
			return nil, err
		}
	}
	return b, nil
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

// run does the pass over the keys.
func (b *Barrier) run(ctx context.Context, p *Plan) (err error) {
	s := b.pass.splits[0]
	create := func() (*os.File, error) { return spill.Nameless(p.Job.TempDir) }
	b.selection = &Selection{}
	if b.selection.gone, err = spill.NewNumbers(create); err != nil {
		return err
	}
	if b.selection.dropped, err = spill.NewNumbers(create); err != nil {
		return err
	}
	b.pass.Job.TempDir = p.Job.TempDir
	if err := b.pass.cut(s); err != nil {
		return err
	}
	r := b.pass.newRunner(ctx)
	r.keys = judge.NewKeys(b.pass.Rows, []bool{b.one != nil && (b.one.Singletons || b.one.Order && b.one.Bind != nil)}, p.workers(), p.Job.TempDir)
	r.out = keyOutput{noOutput{r.keys}, b.selection.gone}
	defer r.close()
	if err := r.do(b.pass.Tasks); err != nil {
		return err
	}
	if err := b.selection.gone.Seal(); err != nil {
		return err
	}
	var ranks []uint32
	if b.one != nil && b.one.Arrange != nil {
		if ranks, err = b.arrange(); err != nil {
			return err
		}
	}
	switch {
	case b.order != nil:
		return b.order.run(ctx, s, p, b, r.keys, ranks)
	case b.one != nil && b.one.Arrange != nil:
		return b.leaveOut(ranks)
	}
	return b.choose(r.keys, create)
}

// arrange asks the barrier which rows go on.
func (b *Barrier) arrange() ([]uint32, error) {
	reached := b.pass.Rows - b.selection.gone.Len()
	if reached > math.MaxUint32 {
		return nil, b.fault(misuse.Errorf("it draws among at most %d rows, and there are %d", int64(math.MaxUint32), reached))
	}
	ranks, err := b.one.Arrange(reached)
	if err != nil {
		return nil, b.fault(&misuse.Error{Err: err})
	}
	return ranks, nil
}

// fault is an error of the step.
func (b *Barrier) fault(err error) error {
	return program.StepError("split "+b.pass.splits[0].Name, b.Step, err)
}

// leaveOut stores the numbers of the rows that reached the barrier and whose ranks, which increase, are not among these.
func (b *Barrier) leaveOut(ranks []uint32) error {
	var gone []int64
	rank := uint32(0)
	const step = 1 << 16
	for number := range b.pass.Rows {
		if number%step == 0 {
			var err error
			if gone, err = b.selection.gone.Between(number, number+step); err != nil {
				return err
			}
		}
		if len(gone) > 0 && gone[0] == number {
			gone = gone[1:]
			continue
		}
		if len(ranks) > 0 && ranks[0] == rank {
			ranks = ranks[1:]
		} else if err := b.selection.dropped.Add(number); err != nil {
			return err
		}
		rank++
	}
	return b.selection.dropped.Seal()
}

// choose asks the barrier which rows it drops, and stores their numbers in order.
func (b *Barrier) choose(keys *judge.Keys, create func() (*os.File, error)) error {
	sorter := spill.NewSorter(8, 1<<18, 1<<10, create)
	defer sorter.Close()
	var failed error
	err := keys.Each(func(g *judge.Group) {
		b.one.Select(transform.Key(g.Key()), keyRows(g), func(number int64) {
			if failed == nil {
				failed = sorter.AddNumber(number)
			}
		})
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	return sorter.Numbers(b.selection.dropped)
}

// keyOutput is the output of a pass over keys.
type keyOutput struct {
	noOutput
	gone *spill.Numbers
}

func (o keyOutput) write(t *Task, res *result, rec *Record) error {
	for _, number := range res.gone {
		if err := o.gone.Add(number); err != nil {
			return err
		}
	}
	return o.noOutput.write(t, res, rec)
}

// A keyer emits the keys of the rows of a range.
type keyer struct {
	bind   *record.Binding
	cursor *record.Cursor
	key    func(schema.Row) (transform.Key, uint64) // nil: rows have none
}

func (b *Barrier) newKeyer(prog *program.Program) *keyer {
	keys := b.keys[prog]
	k := &keyer{bind: record.Bind(prog.Judged(), keys.Reads)}
	k.cursor = k.bind.Cursor()
	if keys.Bind != nil {
		k.key = keys.Bind()
	}
	return k
}

// rows emits the keys of out, and notes which of the rows that were read are not in it.
func (k *keyer) rows(out *record.Batch, read int, res *result) error {
	next := 0
	for i := range out.Rows {
		at := out.ReadIndex(i)
		if at < next {
			return fmt.Errorf("%s: a step repeats the row before a step that needs unique row numbers: put it after that step", out.Pos(at))
		}
		for ; next < at; next++ {
			res.gone = append(res.gone, out.SplitRow+int64(next))
		}
		next++
	}
	for ; next < read; next++ {
		res.gone = append(res.gone, out.SplitRow+int64(next))
	}
	if k.key == nil {
		return nil
	}
	k.cursor.Reset(out)
	for k.cursor.Next() {
		key, value := k.key(k.cursor)
		res.found.EmitKey(rule.Key(key), k.cursor.Number(), value)
	}
	return nil
}
