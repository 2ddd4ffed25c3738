package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL802", Name: "messages-not-messages", Rows: rule.SFT,
	Title: "messages is not a list of {role, content}",
	Doc: `
MultiTurnSFTDataset iterates over the messages and reads message["content"] and message["role"] (multiturn_sft_dataset.py, _build_messages).
A string, JSON in a string, and messages with the keys 'from' and 'value' fail with TypeError or KeyError on the first sample.
`,
	Applies: always("verl fails with TypeError or KeyError on the first sample"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		field, ok := f.Schema.Lookup(messages)
		if !ok || field.Type.Kind == schema.Null {
			return // RL801, RL803
		}
		if at, what := notMessages(messages, field.Type); what != "" {
			p.Reportf(schema.FilePos(f.Name).At(at), schema.Value{}, "%s: %s", what, p.Consequence)
		}
	}),
	Fixes:   []rule.Fix{shareGPT, readJSON},
	Unfixed: "the role of a plain text is unknown",
	Examples: []rule.Example{
		{Title: "written with json.dumps", Files: []string{`{"messages":"[{\"role\": \"user\", \"content\": \"Hi\"}]"}`}, Want: []string{"0 -1 messages"}},
		{Title: "ShareGPT's keys", Files: []string{`{"messages":[{"from":"human","value":"Hi"}]}`}, Want: []string{"0 -1 messages[]"}},
		{Title: "messages", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}`}},
		{Title: "with the calls of tools", Files: []string{`{"messages":[{"role":"user","content":"Hi","tool_calls":null},{"role":"assistant","content":"","tool_calls":[{"type":"function","function":{"name":"add","arguments":"{}"}}]}]}`}},
	},
})
