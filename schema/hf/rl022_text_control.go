package hf

import (
	"fmt"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL022", Name: "text-control-character",
	Title: "a text holds control characters",
	Doc: `
Bytes below 0x20 other than tab, line feed and carriage return, and 0x7f, are not text: NUL from fixed-width fields, escape
sequences of terminals, form feeds of PDFs, a backspace where '\b' of LaTeX ('\boxed', '\beta') went through a string literal.
A string that ends in NUL reaches the scorer without it (np.array of the value; executed on verl 0.9.1).

Clean the source; a LaTeX command that lost its backslash needs raw strings in the script that wrote it.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "the model is trained on it, and no answer will match it"}},
	Reads:   textPaths,
	New: newTextRule(textJudge{control, func(s string) string {
		for i := range len(s) {
			if c := s[i]; c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
				return fmt.Sprintf("control character 0x%02x at offset %d", c, i)
			}
		}
		return ""
	}}),
	Unfixed: "the original text is unknown",
	Examples: []rule.Example{
		{Title: "a backslash lost: \\boxed in a string literal", Files: []string{`{"question":"What is 6 times 12?"}
{"question":"Answer in \boxed{}"}`}, Want: []string{"0 1 question"}},
		{Title: "a NUL", Files: []string{`{"reward_model":{"ground_truth":"72\u0000"}}`}, Want: []string{"0 0 reward_model.ground_truth"}},
		{Title: "an escape sequence, in a long text", Files: []string{`{"question":"What is 6 times 12? \u001b[31mRed\u001b[0m"}`}, Want: []string{"0 0 question"}},
		{Title: "lines and tabs", Files: []string{`{"question":"What is\n\t6 times 12?\r\nThink step by step. \\boxed{}"}`}},
	},
})
