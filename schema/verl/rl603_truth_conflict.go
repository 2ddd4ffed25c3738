package verl

import (
	"iter"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL603", Name: "truth-conflict", SharesKeysAs: "samples", Rows: rule.RL,
	Title: "the same prompt has different ground truths",
	Doc: `
Some rows have the same messages and media, but different ground truths. They reward different answers to one question, and verl does not
report it. One of the ground truths is wrong, or part of the question was lost (a table, a picture, a list of choices). '72' and '72.0'
count as different, since a scorer that compares texts treats them as different.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "an answer to one scores 0 for the other"}},
	Reads:   sampleReads,
	New:     func(p *rule.Pass) rule.Checker { return &truthConflict{newSamples(p)} },
	Unfixed: "the data does not show which of the ground truths is right",
	Examples: []rule.Example{
		{Title: "two sources that disagree", Files: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"72"}}`, `{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"7"}}`},
			Want: []string{"0 0 reward_model.ground_truth", "1 0 reward_model.ground_truth"}},
		{Title: "train and validation disagree", Files: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"72"}}`}, Val: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"72.0"}}`},
			Want: []string{"0 0 reward_model.ground_truth", "1 0 reward_model.ground_truth"}},
		{Title: "they agree", Files: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"72"}}
{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"72"}}`}},
		{Title: "one of them has none", Files: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"72"}}
{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":null}}`}},
		{Title: "a target of search-R1", Files: []string{`{"prompt":[{"role":"user","content":"Who?"}],"reward_model":{"ground_truth":{"target":["Ann"]}}}
{"prompt":[{"role":"user","content":"What?"}],"reward_model":{"ground_truth":{"target":["Bob"]}}}`}},
	},
})

type truthConflict struct{ samples }

// Group implements rule.Checker: the rows that differ from the first, and the first.
func (c *truthConflict) Group(_ rule.Key, hits iter.Seq[rule.Hit]) {
	var first rule.Hit
	told := false
	for h := range hits {
		switch {
		case h.Value == 0:
		case first.File == nil:
			first = h
		case h.Value != first.Value:
			if !told {
				told = true
				c.differs(first, h)
			}
			c.differs(h, first)
		}
	}
}

func (c *truthConflict) differs(h, other rule.Hit) {
	c.Report(rule.Finding{Pos: h.Pos().At(groundTruth), Related: []schema.Pos{other.Pos().At(groundTruth)}, Message: "another row with the same prompt has another ground truth: " + c.Consequence})
}
