package verl

import (
	"iter"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL602", Name: "split-overlap", SharesKeysAs: "samples",
	Title: "a validation sample is in the training data",
	Doc: `
verl trains and validates on the same prompt without a message (executed on verl 0.9.1), so the validation score includes questions seen in
training. Prompts are equal if their messages and media are the same bytes; the ground truth does not count. This is a warning, since some
users validate on a few training rows on purpose, to see whether a run learns at all.

Leave the rows out of the training data.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "the validation score includes questions seen in training"}},
	Reads:   sampleReads,
	New:     func(p *rule.Pass) rule.Checker { return &splitOverlap{newSamples(p)} },
	Unfixed: "the data does not show which split should lose the row",
	Examples: []rule.Example{
		{Title: "one of two", Files: []string{`{"prompt":[{"role":"user","content":"6 plus 12?"}]}
{"prompt":[{"role":"user","content":"6 times 12?"}]}`}, Val: []string{`{"prompt":[{"role":"user","content":"7 times 12?"}]}
{"prompt":[{"role":"user","content":"6 times 12?"}]}`}, Want: []string{"1 1 prompt"}},
		{Title: "SFT", Rows: rule.SFT, Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}`}, Val: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}`}, Want: []string{"1 0 messages"}},
		{Title: "apart", Files: []string{`{"prompt":[{"role":"user","content":"6 plus 12?"}]}`}, Val: []string{`{"prompt":[{"role":"user","content":"7 times 12?"}]}`}},
		{Title: "twice in train: RL601 reports it", Files: []string{`{"prompt":[{"role":"user","content":"6 plus 12?"}]}
{"prompt":[{"role":"user","content":"6 plus 12?"}]}`}},
	},
})

type splitOverlap struct{ samples }

// Group implements rule.Checker: the rows of every dataset but the one that is trained on.
func (c *splitOverlap) Group(_ rule.Key, hits iter.Seq[rule.Hit]) {
	var first rule.Hit
	n := 0
	for h := range hits {
		if n++; n == 1 || trains(h.File) && !trains(first.File) {
			first = h
		}
	}
	if n < 2 {
		return
	}
	for h := range hits {
		if !rule.SameDataset(h.File, first.File) {
			c.Report(rule.Finding{Pos: h.Pos().At(samplePath(c.Env.Rows)), Related: []schema.Pos{first.Pos()}, Message: "the training data has the same: " + c.Consequence})
		}
	}
}

// trains reports whether the file is what is trained on, as far as its split tells.
func trains(f *rule.File) bool { return !f.Val && (f.Split == "" || f.Split == "train") }
