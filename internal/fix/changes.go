package fix

import (
	"context"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

// A Change is what becomes of one column of one row.
type Change struct {
	Row           int64 // of the file
	Path          schema.Path
	Before, After string // as JSON, cut; "" where there is no such column
	Gone          bool   // the row is left out; Path is ""
}

// excerpt is how much of a value a Change has.
const excerpt = 160

// Changes returns the first changes of so many rows of a file.
func (p *Plan) Changes(ctx context.Context, file, rows int) ([]Change, error) {
	c := &changes{rows: rows}
	for _, d := range p.Files[file].Done {
		if d.Path != "" && !slices.Contains(c.paths, d.Path) {
			c.paths = append(c.paths, d.Path)
		}
	}
	if len(c.paths) == 0 {
		return nil, nil
	}
	pl := p.planner
	pl.steps[file] = slices.Insert(slices.Clone(pl.steps[file]), 0, step{RowStep: tap{c.paths, c.before}})
	defer func() { pl.steps[file] = pl.steps[file][1:] }()
	plan, err := pl.newPlan(nil, []int{file}, tap{c.paths, c.after})
	if err != nil {
		return nil, err
	}
	if err := plan.RunUntil(ctx, split(file), func() bool { return c.seen >= rows }); err != nil {
		return nil, err
	}
	c.gone(-1)
	slices.SortStableFunc(c.found, func(a, b Change) int { return int(a.Row - b.Row) })
	return c.found, nil
}

// changes compares rows before and after the steps. The steps take rows by the slice: those that were seen before and not after, once
// the next slice begins, are gone.
type changes struct {
	paths []schema.Path
	rows  int
	seen  int // rows that change
	was   []image
	next  int // of was, to be seen after
	found []Change
}

// An image is a row before the steps.
type image struct {
	row    int64
	values []string
}

func (c *changes) before(row schema.Row) {
	if c.next > 0 { // a new slice
		c.gone(-1)
		c.was, c.next = c.was[:0], 0
	}
	c.was = append(c.was, image{row.Pos().Row, c.values(row)})
}

func (c *changes) values(row schema.Row) []string {
	out := make([]string, len(c.paths))
	for i := range c.paths {
		if v := row.At(i); !v.IsMissing() {
			out[i] = v.Excerpt(excerpt)
		}
	}
	return out
}

// gone notes the rows of the slice before row (-1: all) that did not come out.
func (c *changes) gone(row int64) {
	for ; c.next < len(c.was) && (row < 0 || c.was[c.next].row < row); c.next++ {
		if c.seen < c.rows {
			c.found = append(c.found, Change{Row: c.was[c.next].row, Gone: true})
			c.seen++
		}
	}
}

func (c *changes) after(row schema.Row) {
	at := row.Pos().Row
	c.gone(at)
	if c.next >= len(c.was) || c.seen >= c.rows {
		c.next++
		return
	}
	was, now := c.was[c.next], c.values(row)
	c.next++
	if slices.Equal(was.values, now) {
		return
	}
	c.seen++
	for i, p := range c.paths {
		if was.values[i] != now[i] {
			c.found = append(c.found, Change{Row: at, Path: p, Before: was.values[i], After: now[i]})
		}
	}
}
