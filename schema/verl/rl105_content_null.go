package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL105", Name: "content-null", Cites: []string{"verl@b178a3cd5 rl_dataset.py:308"}, Rows: rule.RL,
	Title: "a message has no content",
	Doc: `
A null content makes a chat template of Qwen2.5's style raise TypeError "can only concatenate str". Then V1 drops the sample from its batch,
the step of V0 fails, or filter_overlong_prompts drops the row. A template of Qwen3's style renders nothing for the message: there is no
error, and the question is lost (executed on verl 0.9.1).

A null content is fine in an assistant message that has tool_calls.
`,
	Applies: []rule.Severity{
		{Trainer: trainerV1, Level: rule.Error, Consequence: "the chat template fails and the sample silently drops out of its batch, or the question is gone"},
		{Level: rule.Error, Consequence: "the chat template fails and the step dies, or the question is gone"},
	},
	Reads: func(p *rule.Pass) []schema.Path {
		if kindOf(p.Schema, promptContent) == schema.List {
			return nil // parts: RL106
		}
		paths := []schema.Path{promptContent}
		if calls := firstLeaf(p.Schema, promptCalls); calls != "" {
			paths = append(paths, calls)
		}
		return paths
	},
	New: func(p *rule.Pass) rule.Checker {
		return &contentNull{Pass: p, path: promptContent, off: kindOf(p.Schema, promptContent) == schema.List, calls: firstLeaf(p.Schema, promptCalls) != ""}
	},
	Fixes: []rule.Fix{dropFound},
	Examples: []rule.Example{
		{Title: "null", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[{"role":"user","content":"What is 6 plus 12?"}]}
{"prompt":[{"role":"system","content":"Think."},{"role":"user","content":null}]}`}, Want: []string{"0 2 prompt[].content"}},
		{Title: "null in every row", Files: []string{`{"prompt":[{"role":"user","content":null}]}`}, Want: []string{"0 0 prompt[].content"}},
		{Title: "null beside another message's tool_calls", Files: []string{`{"prompt":[{"role":"user","content":null,"tool_calls":null},{"role":"assistant","content":"","tool_calls":[{"id":"a"}]}]}`}, Want: []string{"0 0 prompt[].content"}},
		{Title: "text", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}`}},
		{Title: "a call of a tool has no content", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?","tool_calls":null},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"calc","arguments":"{}"}}]}]}`}},
		{Title: "an empty prompt: another rule reports it", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[]}
{"prompt":null}`}},
	},
})

type contentNull struct {
	*rule.Pass
	path       schema.Path
	off, calls bool
}

// Prejudge implements rule.Checker.
func (c *contentNull) Prejudge(k *rule.RowGroupFacts) bool {
	if c.off {
		return true
	}
	at := k.At(0)
	return at.Missing || at.Nulls == 0
}

// Row implements rule.Checker: one finding a row, for its first such message.
func (c *contentNull) Row(r schema.Row) {
	if c.off {
		return
	}
	v := r.At(0)
	if v.Kind() != schema.List {
		return
	}
	for i := range v.Len() {
		if e := v.Elem(i); !e.IsNull() || e.Depth() < contentDepth || c.callsTools(r, i) {
			continue
		}
		c.Reportf(r.Pos().At(c.path), schema.Value{}, "message %d is null: %s", i, c.Consequence)
		return
	}
}

// contentDepth is how many steps of prompt[].content are not null where the content alone is.
const contentDepth = 2

// callsTools reports whether message i of the row has tool_calls.
func (c *contentNull) callsTools(r schema.Row, i int) bool {
	if !c.calls {
		return false
	}
	v := r.At(1)
	if v.Kind() != schema.List || i >= v.Len() {
		return false
	}
	e := v.Elem(i)
	return !e.IsNull() && (e.Kind() != schema.List || e.Len() > 0)
}
