package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// gsm8kTool is the one tool of verl that scores against an argument of its own (gsm8k_tool.py, up to 0.7.1; its path for the
// rows of users who kept it).
const gsm8kTool schema.Path = "extra_info.tools_kwargs.calc_gsm8k_reward"

const gsm8kToolTruth = gsm8kTool + ".create_kwargs.ground_truth"

var _ = framework.Add(rule.Rule{
	ID: "RL310", Name: "tool-truth-differs", Rows: rule.RL,
	Title: "the tool calc_gsm8k_reward checks against another ground truth than the reward",
	Doc: `
calc_gsm8k_reward compares the model's answer with its create_kwargs.ground_truth; the reward compares it with
reward_model.ground_truth. If they differ, the tool rejects the right answer, and the model learns to distrust one of them. There is no
error (executed on verl 0.9.1). They differ when only one of the two was cleaned or corrected.
`,
	Applies: always("the tool calls the right answer wrong"),
	Reads:   reads(groundTruth, gsm8kToolTruth),
	New:     func(p *rule.Pass) rule.Checker { return &toolTruth{p} },
	Unfixed: "the data does not show which of the two answers is right",
	Examples: []rule.Example{
		{Title: "one of them corrected", Files: []string{`{"reward_model":{"ground_truth":"72"},"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}
{"reward_model":{"ground_truth":"10"},"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"12"}}}}}`}, Want: []string{"0 1 " + string(gsm8kToolTruth)}},
		{Title: "a number in the one, text in the other", Files: []string{`{"reward_model":{"ground_truth":"72"},"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":72}}}}}`}, Want: []string{"0 0 " + string(gsm8kToolTruth)}},
		{Title: "the same", Files: []string{`{"reward_model":{"ground_truth":"72"},"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}},
		{Title: "other tools have other arguments", Files: []string{`{"reward_model":{"ground_truth":"72"},"extra_info":{"tools_kwargs":{"search":{"create_kwargs":{"ground_truth":"7"}}}}}`}},
		{Title: "no ground truth: RL311 reports it", Files: []string{`{"reward_model":{"ground_truth":"72"},"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":null}}}}}`}},
	},
})

type toolTruth struct{ *rule.Pass }

// Prejudge implements rule.Checker.
func (c *toolTruth) Prejudge(k *rule.RowGroupFacts) bool {
	return k.At(0).Missing || k.At(1).Missing || k.At(1).Nulls == k.Rows
}

// Row implements rule.Checker.
func (c *toolTruth) Row(r schema.Row) {
	truth, tool := r.At(0), r.At(1)
	if truth.IsNull() || tool.IsNull() || truth.IsMissing() || tool.IsMissing() || truth.Equal(tool) {
		return
	}
	c.Reportf(r.Pos().At(gsm8kToolTruth), tool, "%s here, %s in %s: %s", tool.Excerpt(40), truth.Excerpt(40), groundTruth, c.Consequence)
}
