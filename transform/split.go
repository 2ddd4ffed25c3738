package transform

import (
	"fmt"
	"math"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "split",
	Title: "cut a split into several",
	Doc: `
Cuts the rows of a split into several splits, in the shares given, which add up to 1, or in equal shares where only names are given.
Which rows go where says 'how'; it is the same in every run, with any number of workers:

  hash    (when not given) by a hash of 'seed' and the row's number within its split, or with 'key' of that column's value: then rows with
          the same value stay together, which keeps near-copies of a training problem out of the validation set
  draw    as HF datasets' train_test_split(seed) draws them: the rows are put into the order of numpy's default_rng(seed).permutation, and
          each part but the last takes its share of them, rounded up; so HF's test part must be named first. The steps after
          it number rows by their new order. With 'by' the rows are first put into the order of a column of numbers. Steps before it may leave rows out, but not reject or repeat them
  blocks  as HF datasets' shard cuts them: rows that follow each other stay together

In a pipeline each part is a split of its own, written into files of its name; the steps after it see that name in ${split}, and
'splits:' beside a step means it too. extra_info.index keeps counting the source rows, so it stays unique over all parts.
`,
	Args: []Arg{
		{Name: "into", Type: "mapping of names to shares", Doc: "{train: 0.9, test: 0.1}, or names for equal shares: [a, b, c]", Required: true},
		{Name: "how", Type: "string", Values: []string{"hash", "draw", "blocks"}, Doc: "hash (when not given), draw or blocks"},
		{Name: "key", Type: "path", Doc: "of hash: rows with the same value here go together"},
		{Name: "by", Type: "path", Doc: "of draw: a column of numbers that orders the rows first"},
		{Name: "seed", Type: "int", Doc: "of hash and draw: another one cuts otherwise; 0 when not given"},
		{Name: "take", Type: "string", Doc: "go on with the rows of this part alone"},
	},
	New: newSplit,
	Examples: []Example{
		{
			Title: "a quarter for validation",
			Args:  `{"into":{"test":0.25,"train":0.75},"take":"test"}`,
			In:    rows10,
			Out:   `{"q":"b"}` + "\n" + `{"q":"e"}` + "\n" + `{"q":"f"}`,
		},
		{
			Title: "by the question, so that copies of it stay on one side",
			Args:  `{"into":{"test":0.5,"train":0.5},"key":"q","take":"test"}`,
			In:    `{"q":"a","n":1}` + "\n" + `{"q":"b","n":2}` + "\n" + `{"q":"a","n":3}` + "\n" + `{"q":"c","n":4}`,
			Out:   `{"q":"a","n":1}` + "\n" + `{"q":"a","n":3}` + "\n" + `{"q":"c","n":4}`,
		},
		{
			Title: "as train_test_split(test_size=0.25, seed=42)",
			Args:  `{"into":{"test":0.25,"train":0.75},"how":"draw","seed":42,"take":"test"}`,
			In:    rows10,
			Out:   `{"q":"d"}` + "\n" + `{"q":"e"}`,
		},
		{
			Title: "as shard(3, 1)",
			Args:  `{"into":["a","b","c"],"how":"blocks","take":"b"}`,
			In:    rows10,
			Out:   `{"q":"d"}` + "\n" + `{"q":"e"}` + "\n" + `{"q":"f"}`,
		},
		{
			Title: "shares that are no whole",
			Args:  `{"into":{"train":0.9,"test":0.2}}`,
			In:    `{"q":"a"}`,
			Error: `argument into: the shares add up to 1.1, expected 1`,
		},
	},
})

// A Share is one part of a Split.
type Share struct {
	Name string
	Of   float64 // of the rows
}

// Split keeps the rows of one of several parts, which a hash puts them into.
type Split struct {
	Into []Share
	Key  schema.Path // "": the row's number
	Seed int64
	Take string // the part that goes on
}

// Names are the names of the parts, in order; nil where one of them is taken.
func (s Split) Names() []string {
	if s.Take != "" {
		return nil
	}
	out := make([]string, len(s.Into))
	for i, p := range s.Into {
		out[i] = p.Name
	}
	return out
}

// Part takes the rows of one part.
func (s Split) Part(name string) RowStep {
	s.Take = name
	return s
}

// Plan returns a Func that reads the key, or nothing. It fails where no part is taken.
func (s Split) Plan(in *schema.Schema) (*Plan, error) {
	from, to := -1.0, -1.0
	sum := 0.0
	for _, p := range s.Into {
		if p.Name == s.Take {
			from, to = sum, sum+p.Of
		}
		sum += p.Of
	}
	if from < 0 {
		return nil, fmt.Errorf("no part %q to take", s.Take)
	}
	if s.Into[len(s.Into)-1].Name == s.Take {
		to = 1 // what rounding leaves is the last part's
	}
	return choose(in, s.Seed, s.Key, func(at float64) string {
		if at >= from && at < to {
			return ""
		}
		return "other-split"
	})
}

func newSplit(args Args) (RowStep, error) {
	r := newArgs("split", args)
	into := r.shares("into")
	how, take := r.text("how", "hash"), r.text("take", "")
	r.onlyFor(how, []string{"hash"}, "key")
	r.onlyFor(how, []string{"draw"}, "by")
	r.onlyFor(how, []string{"hash", "draw"}, "seed")
	seed := r.int("seed", 0)
	switch how {
	case "hash":
		return r.done(Split{Into: into, Key: r.path("key", ""), Seed: seed, Take: take})
	case "draw", "blocks":
		if seed < 0 {
			r.failAt("seed", "argument seed: %d, expected at least 0", seed)
		}
		parts := Parts{Into: into, Draw: how == "draw", Seed: seed, By: r.path("by", ""), Take: take}
		if take == "" {
			return r.done(parts)
		}
		return r.done(parts.Part(take))
	}
	r.failAt("how", "unknown value %q of argument how (hash, draw, blocks)", how)
	return r.done(nil)
}

// shares reads a mapping of names to shares that add up to 1, or a list of names.
func (r *argReader) shares(name string) (out []Share) {
	if list, ok := r.args[name].([]any); ok && len(list) > 0 {
		for _, e := range list {
			part, ok := e.(string)
			if !ok || part == "" {
				r.failAt(name, "argument %s holds %s, expected a name", name, jsonKind(e))
			}
			out = append(out, Share{part, 1 / float64(len(list))})
		}
		return out
	}
	into, ok := mapping(r.args[name])
	if !ok || len(into) == 0 {
		r.failAt(name, "argument %s is %s, expected a mapping of names to shares", name, jsonKind(r.args[name]))
	}
	sum := 0.0
	for _, m := range into {
		f, err := argFloat(m.Value)
		if err != nil || !(f > 0 && f <= 1) {
			r.failAt(name, "argument %s: the share of %s is %s, expected more than 0 and at most 1", name, m.Name, jsonKind(m.Value))
		}
		out = append(out, Share{m.Name, f})
		sum += f
	}
	if math.Abs(sum-1) > 1e-9 {
		r.failAt(name, "argument %s: the shares add up to %v, expected 1", name, math.Round(sum*1e9)/1e9)
	}
	return out
}
