package verl

import (
	"fmt"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL104", Name: "role-unknown", Rows: rule.RL,
	Title: "a message has a role that chat templates do not know",
	Doc: `
Chat templates know the roles system, user, assistant and tool, in lower case. A template of Qwen2.5's style silently skips a message that
has another role or none. For 'human', 'User' or null the model gets no question at all and is rewarded for its answer (executed on verl
0.9.1). Other templates raise an error, which drops the sample or ends the step.

Write 'user' for 'human', 'assistant' for 'gpt'.
`,
	Applies: always("a chat template passes over the message, and the model never sees it"),
	Reads:   reads(promptRole),
	New:     func(p *rule.Pass) rule.Checker { return &roleUnknown{Pass: p, path: promptRole} },
	Fixes:   fixRoles,
	Unfixed: unknownRole,
	Examples: []rule.Example{
		{Title: "ShareGPT's name of the role", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[{"role":"human","content":"What is 6 times 12?"}]}`}, Want: []string{"0 1 prompt[].role"}},
		{Title: "upper case", Files: []string{`{"prompt":[{"role":"system","content":"Think."},{"role":"User","content":"What is 6 times 12?"}]}`}, Want: []string{"0 0 prompt[].role"}},
		{Title: "null", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[{"role":null,"content":"What is 6 times 12?"}]}`}, Want: []string{"0 1 prompt[].role"}, Unfixed: "unrecognised roles cannot be mapped"},
		{Title: "a message that is null (info)", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"},null]}`}, Want: []string{"0 0 prompt[].role"}, Unfixed: "unrecognised roles cannot be mapped"},
		{Title: "the four roles", Files: []string{`{"prompt":[{"role":"system","content":"Think."},{"role":"user","content":"Go."},{"role":"assistant","content":"Yes."},{"role":"tool","content":"ok"},{"role":"user","content":"What is 6 times 12?"}]}`}},
		{Title: "an empty prompt: another rule reports it", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[]}
{"prompt":null}`}},
	},
})

type roleUnknown struct {
	*rule.Pass
	path schema.Path
}

// Prejudge implements rule.Checker.
func (c *roleUnknown) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	return at.Missing || at.Nulls == 0 && at.Dict != nil && allIn(at.Dict, roles, nil)
}

// Row implements rule.Checker: one finding a row, for its first such message.
func (c *roleUnknown) Row(r schema.Row) {
	v := r.At(0)
	if v.Kind() != schema.List {
		return
	}
	for i := range v.Len() {
		e := v.Elem(i)
		switch {
		case e.Kind() == schema.Text && (knownRole(e.Text()) || !utf8.ValidString(e.Text())):
			continue // RL006 has what is no text
		case e.IsNull() && e.Depth() < len(c.path.Steps())-1: // the message itself is null: most templates pass over it, none needs it
			c.Report(rule.Finding{Level: rule.Info, Pos: r.Pos().At(c.path), Message: fmt.Sprintf("message %d is null: a chat template passes over it, or fails", i)})
		case e.IsNull():
			c.Reportf(r.Pos().At(c.path), schema.Value{}, "message %d has none: %s", i, c.Consequence)
		default:
			c.Reportf(r.Pos().At(c.path), e, "message %d is of %s: %s", i, e.Excerpt(40), c.Consequence)
		}
		return
	}
}

func knownRole(s string) bool {
	switch s {
	case "system", "user", "assistant", "tool":
		return true
	}
	return false
}
