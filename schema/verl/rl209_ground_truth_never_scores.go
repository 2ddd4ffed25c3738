package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL209", Name: "ground-truth-never-scores", Rows: rule.RL,
	Title: "no answer can score with this ground truth",
	Doc: `
Each scorer finds the answer in the response in its own way and compares it with the unchanged ground truth, so some ground truths can never be matched, and every response scores 0 without an error (executed on verl 0.9.1):

gsm8k finds '#### (\-?[0-9\.\,]+)' and removes the commas: '1,000', '72 ', '$72', '#### 72', a whole solution, ''.
MATH takes the inside of the last \boxed{}: '\boxed{72}', braces that do not match ('' is a warning: '\boxed{}' scores).
math_dapo (math, aime…) takes one line behind 'Answer:': two lines, more than 300 characters ('' is a warning).
code: JSON that cannot be read, no tests, more inputs than outputs. search-R1: a null or empty target.

Clean the ground truth as the scorer cleans an answer: gt.replace(",", "").strip(), the inside of \boxed{}.
`,
	Applies: always("every answer scores 0"),
	Reads:   reads(dataSource, groundTruth),
	New: func(p *rule.Pass) rule.Checker {
		var t schema.Type
		if p.Schema != nil {
			f, _ := p.Schema.Lookup(groundTruth)
			t = f.Type
		}
		return &neverScores{sources: sources{Pass: p,
			clean: func(s *Scorer, truth rule.ColumnFacts) bool {
				return !s.Takes(t) || truth.Dict != nil && !slices.ContainsFunc(truth.Dict, func(v schema.Value) bool { return s.Unreachable(v) != "" })
			},
			row: func(c *sources, r schema.Row, s *Scorer) {
				v := r.At(1)
				if !s.Takes(t) || v.IsNull() || v.IsMissing() {
					return // RL208, RL207, RL206
				}
				switch why := s.Unreachable(v); {
				case why == "":
				case why == emptyTruth: // '\boxed{}' would score: odd, but no fault of the type
					c.Report(rule.Finding{Level: min(c.Level, rule.Warning), Pos: r.Pos().At(groundTruth), Message: "the ground truth is empty, and so must an answer be"})
				case strings.HasPrefix(why, "every "):
					c.Reportf(r.Pos().At(groundTruth), v, "with %s %s", v.Excerpt(40), why)
				default:
					c.Reportf(r.Pos().At(groundTruth), v, "no answer can score with %s: %s", v.Excerpt(40), why)
				}
			}}}
	},
	Fixes: []rule.Fix{
		fixes.Unsafe(fixes.EachValue("writes the ground truth as the scorer cleans an answer", truthValue(cleaned))),
		dropFound,
	},
	Examples: []rule.Example{
		{Title: "gsm8k: commas, spaces, signs, the whole solution", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"1,000"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72 "}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"$72"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"She sold 72.\n#### 72"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":""}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72\n"}}`}, Want: []string{"0 0 reward_model.ground_truth", "0 1 reward_model.ground_truth", "0 2 reward_model.ground_truth", "0 3 reward_model.ground_truth", "0 4 reward_model.ground_truth", "0 5 reward_model.ground_truth"}},
		{Title: "MATH: \\boxed kept", Files: []string{`{"data_source":"lighteval/MATH","reward_model":{"ground_truth":"\\frac{1}{2}"}}
{"data_source":"lighteval/MATH","reward_model":{"ground_truth":"\\boxed{72}"}}
{"data_source":"lighteval/MATH","reward_model":{"ground_truth":"\\frac{1}{2"}}`}, Want: []string{"0 1 reward_model.ground_truth", "0 2 reward_model.ground_truth"}},
		{Title: "math_dapo: two lines", Files: []string{`{"data_source":"aime2024","reward_model":{"ground_truth":"34\n35"}}`}, Want: []string{"0 0 reward_model.ground_truth"}},
		{Title: "code: not JSON, too few outputs", Files: []string{`{"data_source":"taco","reward_model":{"ground_truth":"{'inputs': ['1'], 'outputs': ['2']}"}}
{"data_source":"taco","reward_model":{"ground_truth":"{\"inputs\": [\"1\", \"2\"], \"outputs\": [\"2\"]}"}}`}, Want: []string{"0 0 reward_model.ground_truth", "0 1 reward_model.ground_truth"}},
		{Title: "search-R1: an empty target", Files: []string{`{"data_source":"searchR1_nq","reward_model":{"ground_truth":{"target":["Ann"]}}}
{"data_source":"searchR1_nq","reward_model":{"ground_truth":{"target":[]}}}`}, Want: []string{"0 1 reward_model.ground_truth"}},
		{Title: "numbers", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"-7"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"0.5"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"1000"}}`}},
		{Title: "each in its own way", Files: []string{`{"data_source":"lighteval/MATH","reward_model":{"ground_truth":"1,\\!000"}}
{"data_source":"math_dapo","reward_model":{"ground_truth":"\\boxed{72}"}}
{"data_source":"my/judge","reward_model":{"ground_truth":"a whole essay"}}
{"data_source":"codecontests","reward_model":{"ground_truth":"{\"inputs\": [\"1\"], \"outputs\": [\"2\"]}"}}`}},
	},
})

type neverScores struct {
	sources
	scorers []*Scorer // of the sources in the row group; nil: not known
}

// Prejudge implements rule.Checker.
func (c *neverScores) Prejudge(k *rule.RowGroupFacts) bool {
	c.scorers = nil
	for _, v := range k.At(0).Dict {
		if s := c.known(v); s != nil {
			c.scorers = append(c.scorers, s)
		}
	}
	return c.sources.Prejudge(k)
}

// Scans implements rule.Scanner.
func (c *neverScores) Scans(i int) bool { return i == 1 }

// Scan implements rule.Scanner.
func (c *neverScores) Scan(_ int, t schema.Texts, hits []int) []int {
	for i := range t.Len() {
		v := schema.TextValue(t.At(i))
		if c.scorers == nil || slices.ContainsFunc(c.scorers, func(s *Scorer) bool { return s.Unreachable(v) != "" }) {
			hits = append(hits, i)
		}
	}
	return hits
}
