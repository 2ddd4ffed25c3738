package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL205", Name: "reward-model-null", Rows: rule.RL,
	Title: "reward_model is null in some rows",
	Doc: `
A null reward_model fails in the reward manager with TypeError: 'NoneType' object is not subscriptable. V1 trains without the sample, the
step of the older trainer fails, and validation fails with AttributeError (executed on verl 0.9.1).

Give the row its ground truth, or leave the row out.
`,
	Applies: byTrainer("TypeError: 'NoneType' object is not subscriptable"),
	Reads: func(p *rule.Pass) []schema.Path {
		if has(p, groundTruth) && kindOf(p.Schema, groundTruth) == schema.Text {
			return []schema.Path{groundTruth} // others read it as well
		}
		if leaf := firstLeaf(p.Schema, rewardModel); leaf != "" {
			return []schema.Path{leaf}
		}
		return []schema.Path{rewardModel}
	},
	New:   func(p *rule.Pass) rule.Checker { return &rewardNull{p} },
	Fixes: []rule.Fix{dropFound},
	Examples: []rule.Example{
		{Title: "null in a row", Files: []string{`{"reward_model":{"style":"rule","ground_truth":"72"}}
{"reward_model":{"style":"rule","ground_truth":"7"}}
{"reward_model":null}`}, Want: []string{"0 2 reward_model"}},
		{Title: "null in every row", Files: []string{`{"reward_model":null}`}, Want: []string{"0 0 reward_model"}},
		{Title: "a null inside: another rule reports it", Files: []string{`{"reward_model":{"style":"rule","ground_truth":"72"}}
{"reward_model":{"style":"rule","ground_truth":null}}`}},
		{Title: "other ground truths", Files: []string{`{"reward_model":{"ground_truth":{"target":["Ann"]}}}`}},
	},
})

type rewardNull struct{ *rule.Pass }

// Prejudge implements rule.Checker.
func (c *rewardNull) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	return at.Missing || at.Nulls == 0
}

// Row implements rule.Checker.
func (c *rewardNull) Row(r schema.Row) {
	if v := r.At(0); v.IsNull() && v.Depth() == 0 {
		c.Reportf(r.Pos().At(rewardModel), schema.Value{}, "null: %s", c.Consequence)
	}
}
