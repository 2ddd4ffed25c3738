package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL102", Name: "prompt-not-messages", Rows: rule.RL,
	Title: "prompt is not a list of {role, content}",
	Doc: `
verl passes the prompt to the tokenizer's chat template. The template iterates over the messages and reads role and content of each. In a
plain string, a JSON string, a list of strings, or messages with the keys 'from' and 'value', a template of Qwen2.5's style finds no
message. It renders only the default system message, and the question never reaches the model. There is no error (executed on verl 0.9.1).
Other templates raise an error.

Make the column a list of structs with the fields role and content: [{"role": "user", "content": "…"}].
`,
	Applies: always("the question never reaches the model, or the chat template fails"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		field, ok := f.Schema.Lookup(prompt)
		if !ok || field.Type.Kind == schema.Null {
			return // RL101, RL103
		}
		if isBatch(field.Type) {
			p.Report(rule.Finding{Level: rule.Info, Pos: schema.FilePos(f.Name).At(prompt), Message: "a list of lists of messages: the tokenizer takes it for a batch of conversations, of which verl trains the first"})
			return
		}
		if at, what := notMessages(prompt, field.Type); what != "" {
			p.Reportf(schema.FilePos(f.Name).At(at), schema.Value{}, "%s: %s", what, p.Consequence)
		}
	}),
	Fixes:   []rule.Fix{shareGPT, readJSON},
	Unfixed: "the role of a plain text is unknown; step prompt of rlprep run makes messages",
	Examples: []rule.Example{
		{Title: "the question as a plain string", Files: []string{`{"prompt":"What is 6 times 12?"}`}, Want: []string{"0 -1 prompt"}, Unfixed: "no JSON"},
		{Title: "messages written with json.dumps", Files: []string{`{"prompt":"[{\"role\": \"user\", \"content\": \"What is 6 times 12?\"}]"}`}, Want: []string{"0 -1 prompt"}},
		{Title: "a list of strings", Files: []string{`{"prompt":["What is 6 times 12?"]}`}, Want: []string{"0 -1 prompt[]"}, Unfixed: "it holds no JSON objects"},
		{Title: "ShareGPT's keys", Files: []string{`{"prompt":[{"from":"human","value":"What is 6 times 12?"}]}`}, Want: []string{"0 -1 prompt[]"}},
		{Title: "messages without role", Files: []string{`{"prompt":[{"content":"What is 6 times 12?"}]}`}, Want: []string{"0 -1 prompt[]"}, Unfixed: "prompt[] is struct"},
		{Title: "one message, not in a list", Files: []string{`{"prompt":{"role":"user","content":"What is 6 times 12?"}}`}, Want: []string{"0 -1 prompt"}, Unfixed: "prompt is struct"},
		{Title: "messages in one list too many (info: transformers takes them for a batch)", Files: []string{`{"prompt":[[{"role":"user","content":"What is 6 times 12?"}]]}`}, Want: []string{"0 -1 prompt"}, Unfixed: "prompt is list"},
		{Title: "content is a struct", Files: []string{`{"prompt":[{"role":"user","content":{"text":"What is 6 times 12?"}}]}`}, Want: []string{"0 -1 prompt[].content"}, Unfixed: "prompt[].content is struct"},
		{Title: "a list of messages", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}`}},
		{Title: "large_list of large_string (Polars)", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}`}, Schema: "prompt: large_list<struct<role: large_string, content: large_string>>"},
		{Title: "parts, as vision models take them (RL106 judges these)", Files: []string{`{"prompt":[{"role":"user","content":[{"type":"text","text":"What is 6 times 12?"}]}]}`}},
	},
})

// isBatch reports whether t is a list of lists of messages, which apply_chat_template takes for a batch.
func isBatch(t schema.Type) bool {
	if t.Kind != schema.List || t.Fields[0].Type.Kind != schema.List {
		return false
	}
	_, what := notMessages("", t.Fields[0].Type)
	return what == "" && t.Fields[0].Type.Fields[0].Type.Kind == schema.Struct
}

// notMessages says why type t at path is no list of messages, and where; "" where it is one. Null types are left to the
// rules that look at rows.
func notMessages(path schema.Path, t schema.Type) (schema.Path, string) {
	if t.Kind != schema.List {
		return path, t.String() + " instead of a list of {role, content}"
	}
	e := t.Fields[0].Type
	if e.Kind == schema.Null {
		return "", ""
	}
	if e.Kind != schema.Struct {
		return path.Elem(), e.String() + " instead of {role, content}"
	}
	role, r := e.Field("role")
	content, c := e.Field("content")
	switch {
	case r < 0:
		return path.Elem(), e.String() + " has no field role"
	case c < 0:
		return path.Elem(), e.String() + " has no field content"
	case role.Type.Kind != schema.Text && role.Type.Kind != schema.Null && role.Type.Kind != schema.Binary:
		return path.Elem().Field("role"), role.Type.String() + " instead of text"
	}
	switch content.Type.Kind {
	case schema.Text, schema.Null, schema.List, schema.Binary: // RL105, RL106, RL015
		return "", ""
	}
	return path.Elem().Field("content"), content.Type.String() + " instead of text"
}
