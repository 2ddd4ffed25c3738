package transform

import (
	"errors"
	"fmt"
	"math"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform/draw"
)

// Parts is what the verb split makes to cut rows by their number: it needs to know how many there are. Part takes one part.
type Parts struct {
	Into []Share
	Draw bool // the rows are put into a drawn order first; else they are cut as they come
	Seed int64
	By   schema.Path // with Draw: a column of numbers that orders the rows before
	Take string      // the part that goes on
}

// Names are the names of the parts, in order.
func (s Parts) Names() []string { return Split{Into: s.Into}.Names() }

// Part returns the Barrier that takes the rows of one part.
func (s Parts) Part(name string) RowStep {
	s.Take = name
	return onePart{s}
}

// Plan fails: a part must be taken.
func (s Parts) Plan(*schema.Schema) (*Plan, error) { return nil, errors.New("no part to take") }

// onePart is a Barrier that takes one of Parts.
type onePart struct{ of Parts }

// Plan changes no column.
func (p onePart) Plan(*schema.Schema) (*Plan, error) { return &Plan{}, nil }

// Keys returns the choice of a part. It fails where there is no such part, and where By is missing or no number.
func (p onePart) Keys(in *schema.Schema) (*Keys, error) {
	s := p.of
	keys := &Keys{Order: s.Draw, Reason: "other-split", Arrange: func(rows int64) ([]uint32, error) {
		first, end, err := s.bounds(rows)
		if err != nil {
			return nil, err
		}
		if s.Draw {
			return draw.NewGenerator(uint64(s.Seed)).Permutation(uint32(rows))[first:end], nil
		}
		out := make([]uint32, 0, end-first)
		for rank := first; rank < end; rank++ {
			out = append(out, uint32(rank))
		}
		return out, nil
	}}
	return keys, orderBy(keys, in, s.By)
}

// bounds returns which of so many rows the part that is taken has. Shares are rounded up, the last part has the rest
// (datasets 5.2.0, arrow_dataset.py: train_test_split); blocks of equal shares differ by at most one row, the first ones being the larger
// (shard).
func (s Parts) bounds(rows int64) (first, end int64, err error) {
	n := int64(len(s.Into))
	for i, part := range s.Into {
		switch i := int64(i); {
		case !s.Draw && s.equal():
			first, end = rows/n*i+min(i, rows%n), rows/n*(i+1)+min(i+1, rows%n)
		case i == n-1:
			first, end = end, rows
		default:
			first, end = end, min(rows, end+int64(math.Ceil(part.Of*float64(rows))))
		}
		if part.Name == s.Take {
			if s.Draw && first == end { // train_test_split raises ValueError
				return 0, 0, fmt.Errorf("part %s is empty: there are %d rows", part.Name, rows)
			}
			return first, end, nil
		}
	}
	return 0, 0, fmt.Errorf("no part %q to take", s.Take)
}

func (s Parts) equal() bool {
	for _, p := range s.Into {
		if p.Of != s.Into[0].Of {
			return false
		}
	}
	return true
}
