package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL803", Name: "messages-empty", Rows: rule.SFT,
	Title: "messages is null or empty",
	Doc: `
A null fails when MultiTurnSFTDataset iterates over the messages. An empty list leaves torch.cat without tensors (multiturn_sft_dataset.py,
__getitem__). In both cases the step whose batch contains the row fails. Leave such rows out.
`,
	Applies: always("the step whose batch holds the row dies"),
	Reads: func(p *rule.Pass) []schema.Path {
		if leaf := firstLeaf(p.Schema, messages); leaf != "" {
			return []schema.Path{leaf}
		}
		return []schema.Path{messages}
	},
	New:   func(p *rule.Pass) rule.Checker { return &messagesEmpty{p} },
	Fixes: []rule.Fix{dropFound},
	Examples: []rule.Example{
		{Title: "an empty list", Files: []string{`{"messages":[{"role":"assistant","content":"72"}]}
{"messages":[]}`}, Want: []string{"0 1 messages"}},
		{Title: "null", Files: []string{`{"messages":[{"role":"assistant","content":"72"}]}
{"messages":[{"role":"assistant","content":"72"}]}
{"messages":null}`}, Want: []string{"0 2 messages"}},
		{Title: "messages", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}`}},
	},
})

type messagesEmpty struct{ *rule.Pass }

// Prejudge implements rule.Checker.
func (c *messagesEmpty) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	return at.Missing || at.Nulls == 0
}

// Row implements rule.Checker.
func (c *messagesEmpty) Row(r schema.Row) {
	switch v := r.At(0); {
	case v.IsNull() && v.Depth() == 0:
		c.Reportf(r.Pos().At(messages), schema.Value{}, "null: %s", c.Consequence)
	case v.Kind() == schema.List && v.Len() == 0:
		c.Reportf(r.Pos().At(messages), schema.Value{}, "no messages: %s", c.Consequence)
	}
}
