package hf

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = rule.Add(rule.Rule{
	ID: "RL023", Name: "text-zero-width",
	Title: "a text holds characters of no width",
	Doc: `
Zero-width spaces (U+200B), word joiners (U+2060), soft hyphens (U+00AD) and byte order marks inside a text come from web pages and
PDFs. Nobody sees them, but they are tokens, they part a number from itself, and a text with one equals no text without. The
joiners of emoji and of Indic and Persian script (U+200C, U+200D) are left alone. GSM8K itself has two such rows.
`,
	Holds: []rule.Holding{{Level: rule.Info, Consequence: "it is a character of its own, which nobody sees"}},
	Reads: textPaths,
	New: newTextRule(textJudge{beyondASCII, func(s string) string {
		i := strings.IndexAny(s, "\u200B\u2060\u00AD\uFEFF")
		if i == 0 && strings.HasPrefix(s, "\uFEFF") { // RL020
			if i = strings.IndexAny(s[3:], "\u200B\u2060\u00AD\uFEFF"); i >= 0 {
				i += 3
			}
		}
		if i < 0 {
			return ""
		}
		r, _ := utf8.DecodeRuneInString(s[i:])
		return fmt.Sprintf("%U at offset %d", r, i)
	}}),
	Examples: []rule.Example{
		{Title: "a zero-width space from a web page", Files: []string{"{\"question\":\"What is 6 times 12?\"}\n{\"question\":\"What is 1\u200B000 times 12?\"}"}, Want: []string{"0 1 question"}},
		{Title: "a soft hyphen in a name", Files: []string{"{\"data_source\":\"openai/\u00ADgsm8k\"}"}, Want: []string{"0 0 data_source"}},
		{Title: "an emoji of several parts", Files: []string{`{"question":"👩‍🔬 می‌خواهم"}`}},
		{Title: "plain text", Files: []string{`{"question":"What is 6 times 12?"}`}},
	},
})
