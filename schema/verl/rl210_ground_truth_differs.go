package verl

import (
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL210", Name: "ground-truth-differs", Rows: rule.RL,
	Title: "the row's own solution does not score with its ground truth",
	Doc: `
This is the gold self-check. Some rows keep their solution in extra_info.answer, as verl's gsm8k scripts write them. The rule asks the
scorer for the score of that solution. gsm8k takes the number after the last #### and compares it as text, so '72.0' beside '#### 72' scores
0, and so does every right answer (executed on verl 0.9.1). For MATH the scorer compares the inside of the last \boxed{} of the solution. If
the numbers differ, the ground truth may have been corrected on purpose, so this is a warning then.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the solution itself scores 0"}},
	Reads: func(p *rule.Pass) []schema.Path {
		if kindOf(p.Schema, extraAnswer) != schema.Text || kindOf(p.Schema, groundTruth) != schema.Text {
			return nil
		}
		return []schema.Path{dataSource, groundTruth, extraAnswer}
	},
	New: func(p *rule.Pass) rule.Checker {
		on := kindOf(p.Schema, extraAnswer) == schema.Text && kindOf(p.Schema, groundTruth) == schema.Text
		return &sources{Pass: p,
			clean: func(s *Scorer, _ rule.ColumnFacts) bool { return !on || s != gsm8kScorer && s != mathScorer },
			row: func(c *sources, r schema.Row, s *Scorer) {
				if on {
					c.selfCheck(r, s)
				}
			}}
	},
	Fixes:   []rule.Fix{fixes.Unsafe(fixes.EachValue("writes the number as the solution does", truthValue(sameAsSolution)))},
	Unfixed: "the data does not show which of the two answers is right",
	Examples: []rule.Example{
		{Title: "a float made of an integer", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"},"extra_info":{"answer":"48+24 = 72\n#### 72"}}
{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72.0"},"extra_info":{"answer":"48+24 = 72\n#### 72"}}`}, Want: []string{"0 1 reward_model.ground_truth"}},
		{Title: "another row's ground truth", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"10"},"extra_info":{"answer":"48+24 = 72\n#### 72"}}`}, Want: []string{"0 0 reward_model.ground_truth"}, Unfixed: "which of the two answers"},
		{Title: "MATH", Files: []string{`{"data_source":"lighteval/MATH","reward_model":{"ground_truth":"0.25"},"extra_info":{"answer":"So it is $\\boxed{\\frac14}$."}}`}, Want: []string{"0 0 reward_model.ground_truth"}, Unfixed: "which of the two answers"},
		{Title: "the same", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"1000"},"extra_info":{"answer":"#### 1,000"}}
{"data_source":"lighteval/MATH","reward_model":{"ground_truth":"\\dfrac{1}{4}"},"extra_info":{"answer":"So it is $\\boxed{\\frac14}$."}}`}},
		{Title: "no solution in the row", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"},"extra_info":{"answer":"72"}}`}},
		{Title: "a ground truth that no answer can match: RL209 reports it", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"1,000"},"extra_info":{"answer":"#### 1,000"}}`}},
	},
})

// selfCheck compares the row's solution with its ground truth, as the scorer would.
func (c *sources) selfCheck(r schema.Row, s *Scorer) {
	truth, answer := r.At(1), r.At(2)
	if truth.Kind() != schema.Text || answer.Kind() != schema.Text {
		return
	}
	level, found := c.Level, ""
	switch s {
	case gsm8kScorer:
		found = answerGSM8K(answer.Text())
		if found == "" || found == truth.Text() {
			return
		}
		if !sameNumber(found, truth.Text()) {
			level = rule.Warning
		}
	case mathScorer:
		inside, ok := lastBoxed(answer.Text())
		if found = inside; !ok || sameMATH(found, truth.Text()) {
			return
		}
		level = rule.Warning
	default:
		return
	}
	if s.Unreachable(truth) != "" {
		return // RL209
	}
	c.Report(rule.Finding{Level: level, Pos: r.Pos().At(groundTruth), Value: truth.Excerpt(80),
		Message: truth.Excerpt(40) + ", but the solution in " + string(extraAnswer) + " ends in " + schema.TextValue(found).Excerpt(40) + ": " + c.Consequence})
}

// answerGSM8K is what the scorer takes from a solution (gsm8k.py, extract_solution, strict): the last match of
// '#### (\-?[0-9\.\,]+)' in its last 300 characters, commas removed.
func answerGSM8K(s string) string {
	if len(s) > 4*clip { // characters are of four bytes at most
		s = s[len(s)-4*clip:]
	}
	for end := len(s); ; {
		at := strings.LastIndex(s[:end], "#### ")
		if at < 0 || len(s)-at > clip && characters(s[at:]) > clip {
			return ""
		}
		rest := s[at+len("#### "):]
		n := 0
		if strings.HasPrefix(rest, "-") {
			n = 1
		}
		digits := n
		for n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.' || rest[n] == ',') {
			n++
		}
		if n > digits {
			return strings.ReplaceAll(rest[:n], ",", "")
		}
		end = at
	}
}

// characters counts them.
func characters(s string) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
