package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL206", Name: "ground-truth-missing", Cites: []string{"verl@b178a3cd5 reward_manager/naive.py:43"}, Rows: rule.RL,
	Title: "reward_model has no field ground_truth",
	Doc: `
The naive, dapo and remote reward managers read reward_model["ground_truth"]. Without the field every sample fails with KeyError
'ground_truth' (executed on verl 0.9.1). verl reads the field even if your own scorer does not use it.
`,
	Applies: byTrainer("KeyError 'ground_truth'"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		if kindOf(f.Schema, rewardModel) == schema.Struct && kindOf(f.Schema, groundTruth) == schema.Missing {
			p.Reportf(schema.FilePos(f.Name).At(groundTruth), schema.Value{}, "no such field: %s", p.Consequence)
		}
	}),
	Fixes:   []rule.Fix{fixes.Unsafe(fixes.EachValue("takes the ground truth from the solution in extra_info.answer", allFromSolutions))},
	Unfixed: "the data has no solution to take it from",
	Examples: []rule.Example{
		{Title: "only style", Files: []string{`{"reward_model":{"style":"rule"}}`}, Want: []string{"0 -1 reward_model.ground_truth"}, Unfixed: "the row has no solution in extra_info.answer"},
		{Title: "under another name", Files: []string{`{"reward_model":{"style":"rule","answer":"72"}}`}, Want: []string{"0 -1 reward_model.ground_truth"}, Unfixed: "the row has no solution in extra_info.answer"},
		{Title: "lost, and the solution is there", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"style":"rule"},"extra_info":{"answer":"It is 12 times 6.\n#### 72"}}`}, Want: []string{"0 -1 reward_model.ground_truth"}},
		{Title: "there", Files: []string{`{"reward_model":{"style":"rule","ground_truth":"72"}}`}},
		{Title: "style is not needed", Files: []string{`{"reward_model":{"ground_truth":"72"}}`}},
	},
})
