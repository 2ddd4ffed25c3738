package hf

import (
	"fmt"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL006", Name: "text-not-utf8",
	Title: "a text is not valid UTF-8",
	Doc: `
Arrow and Parquet do not check the bytes of a string column, so a file with an invalid byte loads without an error. The first access
to the row fails with UnicodeDecodeError: in the dataloader, at a random step, or in filter_overlong_prompts, which does not
catch it (executed on verl 0.9.1). Such bytes come from texts in Latin-1 or GBK that were written without conversion, and from
texts that were cut in the middle of a character.

Decode the source with its true encoding, or with errors="replace".
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the trainer fails with UnicodeDecodeError when it reads the row"}},
	Reads:   textPaths,
	New: newTextRule(textJudge{beyondASCII, func(s string) string {
		if utf8.ValidString(s) {
			return ""
		}
		at := 0
		for at < len(s) {
			r, n := utf8.DecodeRuneInString(s[at:])
			if r == utf8.RuneError && n <= 1 {
				break
			}
			at += n
		}
		return fmt.Sprintf("byte 0x%02x at offset %d is not UTF-8", s[at], at)
	}}),
	Fixes: []rule.Fix{fixes.Unsafe(fixes.DropRows("leaves the rows out"))},
	Examples: []rule.Example{
		{Title: "a byte of Latin-1 in data_source", Files: []string{"{\"data_source\":\"openai/gsm8k\"}\n{\"data_source\":\"openai/gsm8k\"}\n{\"data_source\":\"openai/gsm8k\xff\"}"}, Want: []string{"0 2 data_source"}},
		{Title: "in a message", Files: []string{"{\"prompt\":[{\"role\":\"system\",\"content\":\"Think.\"},{\"role\":\"user\",\"content\":\"How much is a caf\xe9 cr\xe8me?\"}]}"}, Want: []string{"0 0 prompt[].content"}},
		{Title: "a character cut in two", Files: []string{"{\"question\":\"7 \xe2\x82\"}"}, Want: []string{"0 0 question"}},
		{Title: "a surrogate half", Files: []string{"{\"question\":\"\xed\xa0\xbd\"}"}, Want: []string{"0 0 question"}},
		{Title: "text beyond ASCII", Files: []string{`{"question":"How much is a café crème? 7 € 数学 😀"}`}},
		{Title: "intended bytes", Files: []string{"{\"image\":\"\x89PNG\xff\"}"}, Schema: "image: binary"},
	},
})
