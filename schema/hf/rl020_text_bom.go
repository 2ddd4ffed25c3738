package hf

import (
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL020", Name: "text-bom",
	Title: "a text begins with a byte order mark",
	Doc: `
U+FEFF at the beginning of a text comes from a file that was saved as 'UTF-8 with BOM' and read as UTF-8. It is invisible and costs a
token. A data_source, an agent_name or a role with it is another name, and a ground truth with it is another answer. Read such files with encoding="utf-8-sig".
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "it is invisible, and makes the text differ from the same text without it"}},
	Reads:   textPaths,
	New: newTextRule(textJudge{beyondASCII, func(s string) string {
		if strings.HasPrefix(s, "\uFEFF") {
			return "begins with U+FEFF, a byte order mark"
		}
		return ""
	}}),
	Fixes: []rule.Fix{fixes.Unsafe(fixes.EachText("removes the mark", func(s string) string { return strings.TrimLeft(s, "\uFEFF") }))},
	Examples: []rule.Example{
		{Title: "the first cell of a CSV from Excel", Files: []string{"{\"data_source\":\"openai/gsm8k\",\"question\":\"What is 6 times 12?\"}\n{\"data_source\":\"\uFEFFopenai/gsm8k\",\"question\":\"And 7?\"}"}, Want: []string{"0 1 data_source"}},
		{Title: "in a message", Files: []string{"{\"prompt\":[{\"role\":\"user\",\"content\":\"\uFEFFWhat is 6 times 12?\"}]}"}, Want: []string{"0 0 prompt[].content"}},
		{Title: "no mark", Files: []string{`{"question":"How much is a café crème?"}`}},
	},
})
