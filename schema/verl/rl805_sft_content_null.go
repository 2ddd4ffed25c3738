package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL805", Name: "sft-content-null", Rows: rule.SFT,
	Title: "a message of an SFT sample has no content",
	Doc: `
A null content makes a chat template of Qwen2.5's style raise an error, which ends the step. A template of Qwen3's style renders nothing. A
null content is fine in an assistant message that has tool_calls.
`,
	Applies: always("the chat template fails and the step dies, or the message is empty"),
	Reads: func(p *rule.Pass) []schema.Path {
		paths := []schema.Path{"messages[].content"}
		if calls := firstLeaf(p.Schema, "messages[].tool_calls"); calls != "" {
			paths = append(paths, calls)
		}
		return paths
	},
	New: func(p *rule.Pass) rule.Checker {
		return &contentNull{Pass: p, path: "messages[].content", off: kindOf(p.Schema, "messages[].content") == schema.List,
			calls: firstLeaf(p.Schema, "messages[].tool_calls") != ""}
	},
	Fixes: []rule.Fix{dropFound},
	Examples: []rule.Example{
		{Title: "null", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null}]}`}, Want: []string{"0 1 messages[].content"}},
		{Title: "text", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}`}},
		{Title: "a call of a tool has no content", Files: []string{`{"messages":[{"role":"user","content":"Hi","tool_calls":null},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"calc","arguments":"{}"}}]}]}`}},
	},
})
