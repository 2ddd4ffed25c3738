package verl

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL212", Name: "ground-truth-unlikely", Rows: rule.RL,
	Title: "the answer that a model usually writes does not score with this ground truth",
	Doc: `
gsm8k and math_dapo compare texts. A number with a point at its end ('72.'), with zeros in front ('033') or without a zero before the point
('.5') scores only if the answer is written the same way. '#### 72' scores 0 against '72.', and 'Answer: 33' scores -1 against '033'
(executed on verl 0.9.1).

Write the number as a model writes it: 72, 33, 0.5.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "an answer scores only if it is written the same way"}},
	Reads:   reads(dataSource, groundTruth),
	New: func(p *rule.Pass) rule.Checker {
		return &sources{Pass: p,
			clean: func(s *Scorer, truth rule.ColumnFacts) bool {
				return s != gsm8kScorer && s != dapoScorer || truth.Dict != nil && !slices.ContainsFunc(truth.Dict, func(v schema.Value) bool { return usual(v) != "" })
			},
			row: func(c *sources, r schema.Row, s *Scorer) {
				if s != gsm8kScorer && s != dapoScorer {
					return
				}
				if v := r.At(1); usual(v) != "" {
					c.Reportf(r.Pos().At(groundTruth), v, "a model writes %s, not %s: %s", usual(v), v.Excerpt(40), c.Consequence)
				}
			}}
	},
	Unfixed: "the data does not show how the model writes its answers",
	Examples: []rule.Example{
		{Title: "a point at the end, zeros in front", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72."}}
{"data_source":"aime2024","reward_model":{"ground_truth":"033"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":".5"}}`}, Want: []string{"0 0 reward_model.ground_truth", "0 1 reward_model.ground_truth", "0 2 reward_model.ground_truth"}},
		{Title: "as models write", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"}}
{"data_source":"aime2024","reward_model":{"ground_truth":"33"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"0.5"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"0"}}`}},
		{Title: "MATH ignores the zeros", Files: []string{`{"data_source":"lighteval/MATH","reward_model":{"ground_truth":"033"}}`}},
	},
})

var oddNumber = regexp.MustCompile(`^-?(?:0+\d+(?:\.\d*)?|\d+\.|\.\d+)$`)

// usual returns how a model writes a number that is written otherwise, "" where it is not.
func usual(v schema.Value) string {
	if v.Kind() != schema.Text || !oddNumber.MatchString(v.Text()) {
		return ""
	}
	rest, negative := strings.CutPrefix(v.Text(), "-")
	rest = strings.TrimSuffix(strings.TrimLeft(rest, "0"), ".")
	if rest == "" || rest[0] == '.' {
		rest = "0" + rest
	}
	if negative {
		rest = "-" + rest
	}
	return rest
}
