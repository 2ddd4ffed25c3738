package hf

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL023", Name: "text-zero-width",
	Title: "a text contains zero-width characters",
	Doc: `
Zero-width spaces (U+200B), word joiners (U+2060), soft hyphens (U+00AD) and byte order marks inside a text come from web pages and
PDFs. They are invisible, but they are tokens, they split numbers, and a text with one never equals the text without it. Not reported are the
joiners of emoji and of Indic and Persian script (U+200C, U+200D), and such a character beside a blank, where it splits
nothing: GSM8K itself has two such rows.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "it is invisible, and makes the text differ from the same text without it"}},
	Reads:   textPaths,
	New: newTextRule(textJudge{beyondASCII, func(s string) string {
		for at := 0; at < len(s); {
			if at += ascii(s[at:]); at == len(s) {
				break
			}
			r, n := utf8.DecodeRuneInString(s[at:])
			at += n
			switch r {
			case '\u200B', '\u2060', '\u00AD', '\uFEFF':
				if first := at == n && r == '\uFEFF'; !first && !besideBlank(s, at-n, at) { // RL020 says the first
					return fmt.Sprintf("%U at offset %d", r, at-n)
				}
			}
		}
		return ""
	}}),
	Unfixed: "the characters may be intended",
	Examples: []rule.Example{
		{Title: "a zero-width space from a web page", Files: []string{"{\"question\":\"What is 6 times 12?\"}\n{\"question\":\"What is 1\u200B000 times 12?\"}"}, Want: []string{"0 1 question"}},
		{Title: "a soft hyphen in a name", Files: []string{"{\"data_source\":\"openai/\u00ADgsm8k\"}"}, Want: []string{"0 0 data_source"}},
		{Title: "beside a blank, as in GSM8K", Files: []string{"{\"question\":\"How much less \u200Bis it?\"}"}},
		{Title: "at the end of a ground truth", Files: []string{"{\"reward_model\":{\"ground_truth\":\"72\u200B\"}}"}, Want: []string{"0 0 reward_model.ground_truth"}},
		{Title: "an emoji of several parts", Files: []string{`{"question":"👩\u200d🔬 می\u200cخواهم"}`}},
		{Title: "plain text", Files: []string{`{"question":"What is 6 times 12?"}`}},
	},
})

// besideBlank reports whether white space stands right before or behind s[from:to].
func besideBlank(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return from > 0 && unicode.IsSpace(before) || to < len(s) && unicode.IsSpace(after)
}
