package verl

import (
	"iter"

	"github.com/rlprep/rlprep/schema/rule"
)

// together groups the files that the trainer loads as one dataset: those of a split, training and validation apart.
func together(files []*rule.File) [][]*rule.File {
	type key struct {
		val   bool
		split string
	}
	at := map[key]int{}
	var out [][]*rule.File
	for _, f := range files {
		if f.Schema == nil {
			continue
		}
		k := key{f.Val, f.Split}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

// same reports whether two hits are of one dataset.
func same(a, b *rule.File) bool { return a == b || a.Val == b.Val && a.Split == b.Split }

// repeats calls report for each hit that shares its dataset with another: first is the first of that dataset (for the first
// itself, the second). Most keys have one hit, so this costs nothing until a second comes.
func repeats(hits iter.Seq[rule.Hit], report func(h, first rule.Hit)) {
	type head struct {
		first rule.Hit
		told  bool
	}
	var few [2]head // train and validation, in nearly all runs
	heads := few[:0]
	for h := range hits {
		i := 0
		for i < len(heads) && !same(heads[i].first.File, h.File) {
			i++
		}
		if i == len(heads) {
			heads = append(heads, head{first: h})
			continue
		}
		if !heads[i].told {
			heads[i].told = true
			report(heads[i].first, h)
		}
		report(h, heads[i].first)
	}
}
