package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL208", Name: "ground-truth-type", Rows: rule.RL,
	Title: "ground_truth is of a type that its scorer cannot compare",
	Doc: `
gsm8k and MATH compare texts with ==, so 72, 72.0 and ["72"] equal no answer: every response scores 0, without a message. math_dapo and
geo3k fail with AttributeError ('split', 'strip'). prime_math takes str() of plain values. The code scorers take JSON, or a struct with
inputs and outputs. search-R1 takes a struct with target. It fails on anything else with TypeError, but only when a model writes <answer>,
so at a random step (executed on verl 0.9.1). verl's own dataset README shows ["72"], which never scores.

pandas turns digits into integers: write str(answer).
`,
	Applies: always("no answer can score"),
	Reads:   reads(dataSource, groundTruth),
	New: func(p *rule.Pass) rule.Checker {
		var t schema.Type
		if p.Schema != nil {
			f, _ := p.Schema.Lookup(groundTruth)
			t = f.Type
		}
		return &sources{Pass: p,
			clean: func(s *Scorer, _ rule.ColumnFacts) bool { return t.Kind == schema.Binary || s.Takes(t) },
			row: func(c *sources, r schema.Row, s *Scorer) {
				if v := r.At(1); t.Kind != schema.Binary && !s.Takes(t) && !v.IsNull() && !v.IsMissing() {
					c.Reportf(r.Pos().At(groundTruth), v, "%s, which the scorer %s cannot compare: %s", t, s.Name, s.Wrong)
				}
			}}
	},
	Fixes:   []rule.Fix{fixes.Unsafe(fixes.EachValue("writes numbers, and lists of one, as text", truthAsText))},
	Unfixed: "it is neither a number nor a list of one number",
	Examples: []rule.Example{
		{Title: "an integer (pandas)", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":72}}`}, Want: []string{"0 0 reward_model.ground_truth"}},
		{Title: "a list, as a README of verl shows", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":["72"]}}`}, Want: []string{"0 0 reward_model.ground_truth"}},
		{Title: "a float, for math_dapo", Files: []string{`{"data_source":"math_dapo","reward_model":{"ground_truth":34.0}}`}, Want: []string{"0 0 reward_model.ground_truth"}},
		{Title: "a plain text for search-R1", Files: []string{`{"data_source":"searchR1_nq","reward_model":{"ground_truth":"Ann"}}`}, Want: []string{"0 0 reward_model.ground_truth"}, Unfixed: "it is neither a number nor a list of one number"},
		{Title: "integers beside a source that takes them", Files: []string{`{"data_source":"numina_cn_k12","reward_model":{"ground_truth":72}}
{"data_source":"my/judge","reward_model":{"ground_truth":72}}
{"data_source":"lighteval/MATH","reward_model":{"ground_truth":72}}`}, Want: []string{"0 2 reward_model.ground_truth"}},
		{Title: "the types that each scorer takes", Files: []string{
			`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"}}`,
			`{"data_source":"searchR1_nq","reward_model":{"ground_truth":{"target":["Ann"]}}}`,
			`{"data_source":"codecontests","reward_model":{"ground_truth":{"inputs":["1"],"outputs":["2"]}}}`}},
		{Title: "large_string", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"}}`}, Schema: "reward_model.ground_truth: large_string"},
	},
})
