package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL806", Name: "last-not-assistant", Rows: rule.SFT,
	Title: "an SFT sample does not end with the assistant",
	Doc: `
MultiTurnSFTDataset computes the loss only on the tokens of assistant messages (multiturn_sft_dataset.py, _process_single_message). Messages
after the last of them cost tokens and teach nothing. A sample without any assistant message has no loss at all (an error here). Usually the
answer was lost: a maximum of turns cut it, or it is in a separate column.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "the model learns nothing from the messages after the last answer"}},
	Reads:   reads("messages[].role"),
	New:     func(p *rule.Pass) rule.Checker { return &lastTurn{p} },
	Unfixed: "rlprep neither cuts nor adds turns",
	Examples: []rule.Example{
		{Title: "the user has the last message", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"},{"role":"user","content":"Bye"}]}`}, Want: []string{"0 0 messages"}},
		{Title: "no answer at all", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
{"messages":[{"role":"user","content":"Hi"}]}`}, Want: []string{"0 1 messages"}},
		{Title: "question and answer", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}`}},
		{Title: "an unknown role: another rule reports it", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"gpt","content":"Hello"}]}`}},
	},
})

type lastTurn struct{ *rule.Pass }

// Row implements rule.Checker.
func (c *lastTurn) Row(r schema.Row) {
	v := r.At(0)
	if v.Kind() != schema.List || v.Len() == 0 {
		return // RL803
	}
	last := v.Elem(v.Len() - 1)
	if last.Text() == "assistant" || !knownRole(last.Text()) {
		return // RL804 has unknown roles
	}
	at := r.Pos().At(messages)
	for i := range v.Len() {
		if v.Elem(i).Text() == "assistant" {
			c.Reportf(at, schema.Value{}, "the last message is of %q: %s", last.Text(), c.Consequence)
			return
		}
	}
	c.Report(rule.Finding{Level: rule.Error, Pos: at, Message: "no message is of \"assistant\": the sample has no loss"})
}
