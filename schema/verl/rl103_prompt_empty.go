package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL103", Name: "prompt-empty", Rows: rule.RL,
	Title: "prompt is null or holds no messages",
	Doc: `
A null prompt ends the dataloader with TypeError 'NoneType' object is not iterable (rl_dataset.py, _build_messages). An empty list fails
only in the chat template: one of Qwen2.5's style raises "can only concatenate str". A template of Qwen3's style raises nothing, and the
model answers a question that nobody asked. With filter_overlong_prompts=True verl drops the row and logs one line (executed on verl 0.9.1).

Leave such rows out. Look for the step that made them (a filter over messages, a join, a failed map).
`,
	Applies: always("the row crashes the run, is dropped, or trains without a question"),
	Reads: func(p *rule.Pass) []schema.Path {
		if leaf := firstLeaf(p.Schema, prompt); leaf != "" {
			return []schema.Path{leaf}
		}
		return []schema.Path{prompt}
	},
	New:   func(p *rule.Pass) rule.Checker { return &promptEmpty{p} },
	Fixes: []rule.Fix{dropFound},
	Examples: []rule.Example{
		{Title: "an empty list", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[]}`}, Want: []string{"0 1 prompt"}},
		{Title: "null", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[{"role":"user","content":"What is 6 plus 12?"}]}
{"prompt":null}`}, Want: []string{"0 2 prompt"}},
		{Title: "null in every row, as in a published set", Files: []string{`{"prompt":null}`}, Want: []string{"0 0 prompt"}},
		{Title: "one message", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}`}},
		{Title: "a null content: another rule reports it", Files: []string{`{"prompt":[{"role":"user","content":null}]}`}},
	},
})

type promptEmpty struct{ *rule.Pass }

// Prejudge implements rule.Checker: empty lists count as nulls of a leaf below them.
func (c *promptEmpty) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	return at.Missing || at.Nulls == 0
}

// Row implements rule.Checker.
func (c *promptEmpty) Row(r schema.Row) {
	switch v := r.At(0); {
	case v.IsNull() && v.Depth() == 0:
		c.Reportf(r.Pos().At(prompt), schema.Value{}, "null: %s", c.Consequence)
	case v.Kind() == schema.List && v.Len() == 0:
		c.Reportf(r.Pos().At(prompt), schema.Value{}, "no messages: %s", c.Consequence)
	}
}
