package verl

import (
	"iter"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL211", Name: "scorers-mixed", Cites: []string{"verl@b178a3cd5 agent_loop.py:774-777"}, Rows: rule.RL,
	Title: "a split mixes a scorer that returns a dict with others that return a number",
	Doc: `
math_dapo (math, math_dapo, math_dapo_reasoning, aime…) returns {score, acc, pred}, every other scorer a number. The older trainer takes the
keys of the first sample of a worker's chunk for all its samples (agent_loop.py, _postprocess). If that sample has a dict and a later one
has a number, it fails with KeyError 'score'. In the other order it loses columns. The shuffle decides which of the two happens (executed on
verl 0.9.1; pull request 7151). 0.5 counts the scores after a validation and finds too few (issue 1031). The V1 trainer has no problem with
it.

Keep such sources in separate datasets, or score all of them with a function of your own.
`,
	Applies: []rule.Severity{
		{Trainer: trainerV1, Level: rule.Off},
		{Versions: "<=0.5", Level: rule.Error, Consequence: "validation fails with AssertionError: score: len(lst)"},
		{Level: rule.Error, Consequence: "a batch that mixes them fails with KeyError 'score'"},
	},
	Reads:   reads(dataSource),
	New:     func(p *rule.Pass) rule.Checker { return &mixed{Pass: p} },
	Unfixed: "the data does not show which rows to remove",
	Examples: []rule.Example{
		{Title: "gsm8k and a few of DAPO", Target: "verl@0.9-v0", Files: []string{`{"data_source":"math_dapo"}
{"data_source":"openai/gsm8k"}
{"data_source":"openai/gsm8k"}
{"data_source":"openai/gsm8k"}`, `{"data_source":"openai/gsm8k"}`}, Want: []string{"0 0 data_source"}},
		{Title: "in two files", Target: "verl@0.8", Files: []string{`{"data_source":"aime2024"}
{"data_source":"aime2024"}`, `{"data_source":"lighteval/MATH"}`}, Want: []string{"1 0 data_source"}},
		{Title: "the default trainer", Files: []string{`{"data_source":"openai/gsm8k"}
{"data_source":"math_dapo"}`}},
		{Title: "two that return numbers", Target: "verl@0.9-v0", Files: []string{`{"data_source":"openai/gsm8k"}
{"data_source":"lighteval/MATH"}`}},
		{Title: "validation apart", Target: "verl@0.9-v0", Files: []string{`{"data_source":"openai/gsm8k"}`}, Val: []string{`{"data_source":"aime2024"}`}},
	},
})

type mixed struct {
	*rule.Pass
	pure bool  // the row group has one kind: its first row stands for all
	rows int64 // of it, 0 once emitted
}

// scorersKey joins all rows: which dataset they are of shows in their hits.
var scorersKey = rule.NewKey("scorers")

// kindsOf returns how many bits of which kinds of scorer the values have: 1 numbers, 2 dicts.
func (c *mixed) kindsOf(dict []schema.Value) (kinds int) {
	for _, v := range dict {
		kinds |= c.kind(v)
	}
	return kinds
}

func (c *mixed) kind(v schema.Value) int {
	if v.Kind() != schema.Text || rule.Known(v.Text(), nil, c.Env.KnownSources) {
		return 0
	}
	switch s := ScorerFor(v.Text()); {
	case s == nil:
		return 0
	case s.Dict:
		return 2
	}
	return 1
}

// Prejudge implements rule.Checker.
func (c *mixed) Prejudge(k *rule.RowGroupFacts) bool {
	if k.Slice {
		return false // a hit stands for a row group
	}
	at := k.At(0)
	c.pure, c.rows = false, 0
	if at.Missing {
		return true
	}
	if at.Dict != nil {
		kinds := c.kindsOf(at.Dict)
		c.pure, c.rows = kinds != 3, k.Rows
		return kinds == 0
	}
	return false
}

// Row implements rule.Checker.
func (c *mixed) Row(r schema.Row) {
	if c.pure && c.rows == 0 {
		return
	}
	kind := c.kind(r.At(0))
	if kind == 0 {
		return
	}
	weight := int64(1)
	if c.pure {
		weight, c.rows = c.rows, 0
	}
	c.Emit(scorersKey, r, uint64(kind)|uint64(weight)<<weightBit)
}

// Group implements rule.Checker: the rows of the rarer kind, in each dataset.
func (c *mixed) Group(_ rule.Key, hits iter.Seq[rule.Hit]) {
	type tally struct {
		file  *rule.File
		count [3]uint64
	}
	var all []*tally
	find := func(f *rule.File) *tally {
		for _, t := range all {
			if rule.SameDataset(t.file, f) {
				return t
			}
		}
		t := &tally{file: f}
		all = append(all, t)
		return t
	}
	for h := range hits {
		find(h.File).count[h.Value&3] += h.Value >> weightBit
	}
	names := [...]string{1: "a number", 2: "a dict"}
	for h := range hits {
		n, kind := find(h.File).count, h.Value&3
		if other := 3 - kind; n[other] > 0 && (n[kind] < n[other] || n[kind] == n[other] && kind == 2) {
			c.Reportf(h.Pos().At(dataSource), schema.Value{}, "its scorer returns %s, those of other rows %s: %s", names[kind], names[other], c.Consequence)
		}
	}
}
