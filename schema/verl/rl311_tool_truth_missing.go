package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL311", Name: "tool-truth-missing", Rows: rule.RL,
	Title: "the tool calc_gsm8k_reward gets no ground truth",
	Doc: `
calc_gsm8k_reward takes its ground truth from create_kwargs["ground_truth"] (gsm8k_tool.py). Without create_kwargs, or with the arguments
beside it, the tool compares with None. It then rewards 0 for every answer of the model, and there is no error (executed on verl 0.9.1).

Write {"calc_gsm8k_reward": {"create_kwargs": {"ground_truth": "72"}}}.
`,
	Applies: always("the tool rewards 0 whatever the model says"),
	Reads:   reads(gsm8kToolTruth),
	New:     func(p *rule.Pass) rule.Checker { return &toolTruthMissing{p} },
	Unfixed: "the data does not show whether the tool should check the answer",
	Examples: []rule.Example{
		{Title: "no create_kwargs", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"ground_truth":"72"}}}}`}, Want: []string{"0 -1 " + string(gsm8kToolTruth)}},
		{Title: "another name", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"answer":"72"}}}}}`}, Want: []string{"0 -1 " + string(gsm8kToolTruth)}},
		{Title: "null in a row", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}
{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":null}}}}}`}, Want: []string{"0 1 " + string(gsm8kToolTruth)}},
		{Title: "there", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}},
		{Title: "another tool", Files: []string{`{"extra_info":{"tools_kwargs":{"search":{"create_kwargs":{"question":"Who?"}}}}}`}},
	},
})

type toolTruthMissing struct{ *rule.Pass }

// Files implements rule.Checker.
func (c *toolTruthMissing) Files(files []*rule.File) {
	for _, f := range files {
		create := kindOf(f.Schema, gsm8kTool.Field("create_kwargs"))
		if kindOf(f.Schema, gsm8kTool) == schema.Struct && kindOf(f.Schema, gsm8kToolTruth) == schema.Missing && (create == schema.Missing || create == schema.Struct) {
			c.Reportf(schema.FilePos(f.Name).At(gsm8kToolTruth), schema.Value{}, "no such field: %s", c.Consequence)
		}
	}
}

// Prejudge implements rule.Checker.
func (c *toolTruthMissing) Prejudge(k *rule.RowGroupFacts) bool {
	return k.At(0).Missing || k.At(0).Nulls == 0
}

// Row implements rule.Checker: nulls further up are RL306's and RL308's.
func (c *toolTruthMissing) Row(r schema.Row) {
	if v := r.At(0); v.IsNull() && v.Depth() == toolsDepth+2 {
		c.Reportf(r.Pos().At(gsm8kToolTruth), schema.Value{}, "null: %s", c.Consequence)
	}
}
