package verl

import (
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL203", Name: "data-source-unknown", Cites: []string{"verl@b178a3cd5 reward_score/__init__.py:107", "verl@b178a3cd5 reward_manager/naive.py:42"}, Rows: rule.RL,
	Title: "data_source names no scorer of verl",
	Doc: `
default_compute_score knows openai/gsm8k; lighteval/MATH, DigitalLearningGmbH/MATH-lighteval, HuggingFaceH4/MATH-500; math, math_dapo,
math_dapo_reasoning and every name that begins with aime; six numina_ sources; codecontests, apps, codeforces, taco; hiyouga/geometry3k;
seven searchR1_ sources (reward_score/__init__.py, the same from 0.6.1 to 0.9.1). The name must be exact, case included. For any other name
it raises NotImplementedError in the first validation or step, after all workers have started (verl issues 3450, 5558).

Write the name of the scorer that fits. Put your own sources, which need custom_reward_function, into --known-sources. If lint gets the
launch (--config) and the launch sets custom_reward_function, every source is known.
`,
	Applies: byTrainer("NotImplementedError: Reward function is not implemented for data_source"),
	Reads:   reads(dataSource),
	New:     func(p *rule.Pass) rule.Checker { return &sourceUnknown{p, scoresAll(p)} },
	Advise:  func(_ *rule.Env, values []string) rule.Advice { return scoredElsewhere(values) },
	Unfixed: "the data does not show which scorer is the right one",
	Examples: []rule.Example{
		{Title: "the name without its owner", Files: []string{`{"data_source":"gsm8k"}`}, Want: []string{"0 0 data_source"}},
		{Title: "another case, in one row", Files: []string{`{"data_source":"openai/gsm8k"}
{"data_source":"openai/gsm8k"}
{"data_source":"OpenAI/GSM8K"}`}, Want: []string{"0 2 data_source"}},
		{Title: "empty, as in a quickstart", Files: []string{`{"data_source":""}`}, Want: []string{"0 0 data_source"}},
		{Title: "a space behind it", Files: []string{`{"data_source":"openai/gsm8k "}`}, Want: []string{"0 0 data_source"}},
		{Title: "a number", Files: []string{`{"data_source":3}`}, Want: []string{"0 0 data_source"}},
		{Title: "scorers of verl", Files: []string{`{"data_source":"openai/gsm8k"}
{"data_source":"lighteval/MATH"}
{"data_source":"aime_2025"}
{"data_source":"searchR1_nq"}`}},
		{Title: "a pandas categorical", Files: []string{`{"data_source":"openai/gsm8k"}`}, Schema: "data_source: dictionary<values=string, indices=int32, ordered=0>"},
		{Title: "a custom reward function", Files: []string{`{"data_source":"char_count"}`}, Launch: "custom_reward_function.path=reward.py"},
		{Title: "null: another rule reports it", Files: []string{`{"data_source":null}`}},
	},
})

// scoredElsewhere advises to name sources that a reward function of the user's own scores.
func scoredElsewhere(values []string) rule.Advice {
	a := rule.Advice{Note: "where your own reward function scores it: --known-sources NAME, or --config LAUNCH with the launch that sets custom_reward_function"}
	for _, v := range values {
		if v == "" || v != strings.TrimSpace(v) || strings.ContainsAny(v, ",\"\n\r") {
			a.Flags = nil
			break
		}
		a.Flags = append(a.Flags, "--known-sources", v)
	}
	return a
}

type sourceUnknown struct {
	*rule.Pass
	custom bool // a reward function of the user's scores every source
}

// Prejudge implements rule.Checker.
func (c *sourceUnknown) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	if at.Missing || c.custom {
		return true
	}
	for _, v := range at.Dict {
		if !c.known(v) {
			return false
		}
	}
	return at.Dict != nil
}

// Row implements rule.Checker.
func (c *sourceUnknown) Row(r schema.Row) {
	v := r.At(0)
	if v.IsMissing() || v.IsNull() || v.Kind() == schema.Binary || c.known(v) || !utf8.ValidString(v.Text()) {
		return // RL201, RL202, RL015, RL006
	}
	c.Reportf(r.Pos().At(dataSource), v, "%s: %s", v.Excerpt(40), c.Consequence)
}

func (c *sourceUnknown) known(v schema.Value) bool {
	return v.Kind() == schema.Text && (c.custom || ScorerFor(v.Text()) != nil || rule.Known(v.Text(), nil, c.Env.KnownSources))
}
