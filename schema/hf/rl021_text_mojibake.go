package hf

import (
	"fmt"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL021", Name: "text-mojibake",
	Title: "a text is UTF-8 that was read as Latin-1",
	Doc: `
UTF-8 that a script read as Latin-1 or Windows-1252 has 'Ã©' for 'é' and 'â€™' for '’'. The model learns these characters, and no
answer matches a ground truth with them. Read the source as UTF-8. Existing texts can often be repaired by
text.encode("cp1252").decode("utf-8").

Only sequences that are the bytes of one UTF-8 character, and that are hardly intended, are reported.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "the model is trained on garbled text"}},
	Reads:   textPaths,
	New: newTextRule(textJudge{beyondASCII, func(s string) string {
		if there, was := mojibake(s); there != "" {
			return fmt.Sprintf("%q is %q read in the wrong encoding", there, was)
		}
		return ""
	}}),
	Unfixed: "the original text is unknown",
	Examples: []rule.Example{
		{Title: "an apostrophe", Files: []string{`{"question":"What is 6 times 12?"}
{"question":"Annâ€™s clips"}`}, Want: []string{"0 1 question"}},
		{Title: "accents", Files: []string{`{"prompt":[{"role":"user","content":"How much is a cafÃ© crÃ¨me?"}]}`}, Want: []string{"0 0 prompt[].content"}},
		{Title: "a pound sign, degrees", Files: []string{`{"question":"It costs Â£5"}`, `{"question":"At 20 Â°C"}`}, Want: []string{"0 0 question", "1 0 question"}},
		{Title: "Cyrillic, Chinese, an emoji", Files: []string{`{"question":"ÐŸÑ€Ð¸Ð²ÐµÑ‚"}`, `{"question":"æ•°å\u00ad¦"}`, `{"question":"ðŸ˜€"}`}, Want: []string{"0 0 question", "1 0 question", "2 0 question"}},
		{Title: "the same as they should be", Files: []string{`{"question":"Ann’s café crème: £5 at 20 °C, Привет, 数学 😀"}`}},
		{Title: "intended letters", Files: []string{`{"question":"«CAFÉ» «ÇA» São João, Ãæ, Åland, ½ × ¾ ÷ 2, Ð and Þ, NAÏVE®"}`}},
	},
})
