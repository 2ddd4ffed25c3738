package transform

import (
	"fmt"
	"math"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "split",
	Title: "cut a split into several, by hash",
	Doc: `
Cuts the rows of a split into several splits, in the shares given, which add up to 1. Where a row goes is a hash of 'seed' and the
row's number within its split, or with 'key' of that column's value: then rows with the same value stay together, which keeps
near-copies of a training problem out of the validation set. It is the same in every run, with any number of workers.

In a pipeline each part is a split of its own, written into files of its name; the steps after it see that name in ${split}, and
'splits:' beside a step means it too. extra_info.index keeps counting the source rows, so it stays unique over all parts.
`,
	Args: []Arg{
		{Name: "into", Type: "mapping of names to shares", Doc: "{train: 0.9, test: 0.1}", Required: true},
		{Name: "key", Type: "path", Doc: "rows with the same value here go together"},
		{Name: "seed", Type: "int", Doc: "another one cuts otherwise; 0 when not given"},
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
	s := Split{Key: r.path("key", ""), Seed: r.int("seed", 0), Take: r.text("take", "")}
	into, ok := mapping(args["into"])
	if !ok || len(into) == 0 {
		r.failAt("into", "argument into is %s, expected a mapping of names to shares", jsonKind(args["into"]))
	}
	sum := 0.0
	for _, m := range into {
		f, err := argFloat(m.Value)
		if err != nil || !(f > 0 && f <= 1) {
			r.failAt("into", "argument into: the share of %s is %s, expected more than 0 and at most 1", m.Name, jsonKind(m.Value))
		}
		s.Into = append(s.Into, Share{m.Name, f})
		sum += f
	}
	if math.Abs(sum-1) > 1e-9 {
		r.failAt("into", "argument into: the shares add up to %v, expected 1", math.Round(sum*1e9)/1e9)
	}
	return r.done(s)
}
