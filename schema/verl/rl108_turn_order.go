package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL108", Name: "turn-order", Rows: rule.RL,
	Title: "a prompt does not end with the user, or has a system message that is not the first",
	Doc: `
verl adds the assistant's generation prompt after the last message. A prompt that ends with the assistant therefore has two assistant turns
in a row. On verl 0.9.1 this had no other effect (executed), so this is a note. Chat templates of some models refuse a system message that
is not the first.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "chat templates handle it differently"}},
	Reads:   reads(promptRole),
	New:     func(p *rule.Pass) rule.Checker { return &turnOrder{p} },
	Unfixed: "rlprep does not reorder turns",
	Examples: []rule.Example{
		{Title: "the answer was left in", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"},{"role":"assistant","content":"72"}]}`}, Want: []string{"0 0 prompt"}},
		{Title: "a system message behind the question", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[{"role":"user","content":"What is 6 times 12?"},{"role":"system","content":"Think."},{"role":"user","content":"Go on."}]}`}, Want: []string{"0 1 prompt"}},
		{Title: "system, then user", Files: []string{`{"prompt":[{"role":"system","content":"Think."},{"role":"user","content":"What is 6 times 12?"}]}`}},
		{Title: "the answer of a tool", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"},{"role":"assistant","content":"<tool_call>"},{"role":"tool","content":"72"}]}`}},
	},
})

type turnOrder struct{ *rule.Pass }

// Prejudge implements rule.Checker: where all messages are of users, the order is right.
func (c *turnOrder) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	return at.Missing || at.Dict != nil && allIn(at.Dict, []string{"user"}, nil)
}

// Row implements rule.Checker.
func (c *turnOrder) Row(r schema.Row) {
	v := r.At(0)
	n := v.Len()
	if n == 0 {
		return
	}
	for i := 1; i < n; i++ {
		if v.Elem(i).Text() == "system" {
			c.Reportf(r.Pos().At(prompt), schema.Value{}, "message %d is of the system: %s", i, c.Consequence)
			return
		}
	}
	if last := v.Elem(n - 1).Text(); last == "assistant" || last == "system" {
		c.Reportf(r.Pos().At(prompt), schema.Value{}, "the last message is of the %s: %s", last, c.Consequence)
	}
}
