package verl

import (
	"iter"

	"github.com/rlprep/rlprep/schema/rule"
)

// repeats calls report for each hit that shares its dataset with another: first is the first of that dataset (for the first
// itself, the second). Most keys have one hit, so this costs nothing until a second comes.
func repeats(hits iter.Seq[rule.Hit], report func(h, first rule.Hit)) {
	type head struct {
		first    rule.Hit
		reported bool
	}
	var few [2]head // train and validation, in nearly all runs
	heads := few[:0]
	for h := range hits {
		i := 0
		for i < len(heads) && !rule.SameDataset(heads[i].first.File, h.File) {
			i++
		}
		if i == len(heads) {
			heads = append(heads, head{first: h})
			continue
		}
		if !heads[i].reported {
			heads[i].reported = true
			report(heads[i].first, h)
		}
		report(h, heads[i].first)
	}
}
