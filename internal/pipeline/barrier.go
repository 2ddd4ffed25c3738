package pipeline

import (
	"context"
	"math"
	"os"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/spill"
	"github.com/rlprep/rlprep/transform"
)

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
