package transform

import (
	"slices"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "turn",
	Title: "add a message at the beginning or the end of a conversation",
	Doc: `
Adds a message to a column of messages, whatever is there: at the end, or with 'at: first' at the beginning. Other fields that the messages have
are null in it. ('prompt' with 'from' and 'system' replaces an existing system message.) A row without messages is rejected
(null-COLUMN).
` + templateDoc,
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "the messages: prompt", Required: true},
		{Name: "role", Type: "string", Doc: "assistant", Required: true},
		{Name: "template", Type: "template", Doc: "'{{completion}}'", Required: true},
		{Name: "at", Type: "string", Values: []string{"first", "last"}, Doc: "first or last; last when not given"},
	},
	New: newTurn,
	Examples: []Example{
		{
			Title: "the answer to learn",
			Args:  `{"path":"messages","role":"assistant","template":"{{completion}}"}`,
			In:    `{"messages":[{"content":"1+1?","role":"user","id":7}],"completion":"2"}`,
			Out:   `{"messages":[{"content":"1+1?","role":"user","id":7},{"content":"2","role":"assistant","id":null}],"completion":"2"}`,
		},
		{
			Title: "a system message before another",
			Args:  `{"path":"prompt","role":"system","template":"Be brief.","at":"first"}`,
			In:    `{"prompt":[{"role":"system","content":"Be kind."}]}`,
			Out:   `{"prompt":[{"role":"system","content":"Be brief."},{"role":"system","content":"Be kind."}]}`,
		},
		{
			Title: "no messages",
			Args:  `{"path":"prompt","role":"system","template":"Be brief."}`,
			In:    `{"prompt":[{"role":"user","content":"1+1?"}]}` + "\n" + `{"prompt":null}`,
			Error: `null-prompt: prompt is null`,
		},
	},
})

// Turn adds a message to those at Path.
type Turn struct {
	Path           schema.Path
	Role, Template string
	First          bool // at the beginning, else at the end
}

// Plan returns one computed Put of the type of Path. It fails where Path is no column of messages.
func (t Turn) Plan(in *schema.Schema) (*Plan, error) {
	f, err := messagesColumn(in, t.Path)
	if err != nil {
		return nil, err
	}
	text, err := parseTemplate(t.Template)
	if err != nil {
		return nil, err
	}
	reads, err := text.bind(in, []schema.Path{t.Path})
	if err != nil {
		return nil, err
	}
	typ := nullable(f.Type)
	return &Plan{Reads: reads, Puts: []Put{{Path: t.Path, Type: typ, OnExisting: Replace}}, Bind: func() Func { return t.bind(&typ.Fields[0].Type, text) }}, nil
}

func (t Turn) bind(message *schema.Type, text *template) Func {
	var list []schema.Value
	var buf []byte
	fields := slices.Repeat([]schema.Value{schema.NullValue}, len(message.Fields))
	_, role := message.Field("role")
	_, content := message.Field("content")
	fields[role] = schema.TextValue(t.Role)
	return func(in schema.Row, out *Emitter) error {
		messages := in.At(0)
		if messages.Kind() != schema.List {
			return nullColumn(t.Path, t.Path)
		}
		var err error
		if buf, err = text.append(buf[:0], in, t.Path); err != nil {
			return err
		}
		fields[content] = schema.TextValue(view(buf))
		list = list[:0]
		if t.First {
			list = append(list, schema.StructValue(message, fields))
		}
		for i := range messages.Len() {
			list = append(list, messages.Elem(i))
		}
		if !t.First {
			list = append(list, schema.StructValue(message, fields))
		}
		out.Set(0, schema.ListValue(list))
		out.Emit()
		return nil
	}
}

func newTurn(args Args) (RowStep, error) {
	r := newArgs("turn", args)
	t := Turn{Path: r.path("path", ""), Role: r.text("role", ""), Template: r.text("template", "")}
	r.template("template", &t.Template)
	t.First = r.word("at", "last") == "first"
	return r.done(t)
}
