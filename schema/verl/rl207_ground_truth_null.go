package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL207", Name: "ground-truth-null", Cites: []string{"verl@b178a3cd5 reward_manager/naive.py:43"}, Rows: rule.RL,
	Title: "ground_truth is null in some rows",
	Doc: `
No answer equals None, so most scorers give a low score to every response. gsm8k, MATH, prime_math and the code scorers give 0, without an
error. geo3k gives at most 0.1. math_dapo (aime…) fails with AttributeError. search-R1's scorer fails with TypeError as soon as a model
writes <answer> (all executed on verl 0.9.1). Rows whose source has no scorer in verl are not judged.

Give the row its ground truth, or leave the row out.
`,
	Applies: always("no answer can score"),
	Reads:   reads(dataSource, groundTruth),
	New: func(p *rule.Pass) rule.Checker {
		return &sources{Pass: p,
			clean: func(_ *Scorer, truth rule.ColumnFacts) bool { return truth.Nulls == 0 },
			row: func(c *sources, r schema.Row, s *Scorer) {
				if v := r.At(1); v.IsNull() && v.Depth() == 1 {
					c.Reportf(r.Pos().At(groundTruth), schema.Value{}, "null: %s", s.Null)
				}
			}}
	},
	Fixes: []rule.Fix{
		fixes.Unsafe(fixes.EachValue("takes the ground truth from the solution in extra_info.answer", truthValue(fromSolution))),
		dropFound,
	},
	Examples: []rule.Example{
		{Title: "null in a row", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":null}}
{"data_source":"math_dapo","reward_model":{"ground_truth":null}}`}, Want: []string{"0 1 reward_model.ground_truth", "0 2 reward_model.ground_truth"}},
		{Title: "null in every row", Files: []string{`{"data_source":"lighteval/MATH","reward_model":{"ground_truth":null}}`}, Want: []string{"0 0 reward_model.ground_truth"}},
		{Title: "text", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"}}`}},
		{Title: "a custom source may need none", Files: []string{`{"data_source":"my/judge","reward_model":{"ground_truth":null}}`}},
		{Title: "a null reward_model: another rule reports it", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"}}
{"data_source":"openai/gsm8k","reward_model":null}`}},
	},
})
