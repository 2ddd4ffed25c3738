package transform

import (
	"errors"
	"fmt"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "prompt",
	Title: "make chat messages of other columns",
	Doc: `
Writes a list of {role, content}, which is what verl's datasets read: 'prompt' for RL rows, 'messages' for SFT rows. Give
'user', and 'system' where there is one, or the whole list as 'messages'.
` + templateDoc,
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "where to; prompt when not given"},
		{Name: "system", Type: "template", Doc: "the system message; none when not given"},
		{Name: "user", Type: "template", Doc: "the user message: '{{question}} Think step by step.'"},
		{Name: "messages", Type: "list of {role, template}", Doc: "all messages, in place of system and user"},
		afterArg, ifArg,
	},
	New: newPrompt,
	Examples: []Example{
		{
			Title: "a question with an instruction",
			Args:  `{"system":"You are a math expert.","user":"{{question}} Put the answer after ####."}`,
			In:    `{"question":"1+1?"}`,
			Out:   `{"question":"1+1?","prompt":[{"role":"system","content":"You are a math expert."},{"role":"user","content":"1+1? Put the answer after ####."}]}`,
		},
		{
			Title: "a conversation to imitate",
			Args:  `{"path":"messages","messages":[{"role":"user","template":"{{question}}"},{"role":"assistant","template":"{{answer}}"}]}`,
			In:    `{"question":"1+1?","answer":"#### 2"}`,
			Out:   `{"question":"1+1?","answer":"#### 2","messages":[{"role":"user","content":"1+1?"},{"role":"assistant","content":"#### 2"}]}`,
		},
		{
			Title: "a prompt that is plain text becomes a message",
			Args:  `{"user":"{{prompt}}","if":"replace"}`,
			In:    `{"prompt":"1+1?","ability":"math"}`,
			Out:   `{"prompt":[{"role":"user","content":"1+1?"}],"ability":"math"}`,
		},
		{
			Title: "a null question",
			Args:  `{"user":"{{question}}"}`,
			In:    `{"question":"1+1?"}` + "\n" + `{"question":null}`,
			Error: `null-question: question is null: prompt cannot be made of it`,
		},
		{
			Title: "a name that is not there",
			Args:  `{"user":"{{qestion}}"}`,
			In:    `{"question":"1+1?"}`,
			Error: `no column "qestion" (columns: question); did you mean "question"?`,
		},
	},
})

// MessagesType is list<element: struct<role: string, content: string>>, the type of prompt and messages.
var MessagesType = schema.ListOf(schema.StructOf(schema.NewField("role", schema.StringType), schema.NewField("content", schema.StringType)))

// A Message is one turn of a Prompt.
type Message struct {
	Role     string
	Template string // with {{column}}
}

// Prompt writes a list of messages made from templates of columns.
type Prompt struct {
	Path     schema.Path // "": prompt
	Messages []Message
	After    schema.Path
	If       Present
}

// Plan returns one computed Put of MessagesType, or a constant one where no template has a column. It fails for a column
// that is missing or is no text, number or bool, and for a template that cannot be read.
func (p Prompt) Plan(in *schema.Schema) (*Plan, error) {
	if p.Path == "" {
		p.Path = "prompt"
	}
	if err := checkPut(in, p.Path); err != nil {
		return nil, err
	}
	if len(p.Messages) == 0 {
		return nil, errors.New("no message to make the prompt of")
	}
	plan := &Plan{Puts: []Put{{Path: p.Path, After: p.After, Type: MessagesType, If: p.If}}}
	templates := make([]*template, len(p.Messages))
	for i, m := range p.Messages {
		var err error
		if templates[i], err = parseTemplate(m.Template); err != nil {
			return nil, err
		}
		if plan.Reads, err = templates[i].bind(in, plan.Reads); err != nil {
			return nil, err
		}
	}
	if len(plan.Reads) == 0 {
		v := newMessages(p.Messages, templates).value()
		plan.Puts[0].Const = &v
		return plan, nil
	}
	plan.Bind = func() Func { return newMessages(p.Messages, templates).fill(p.Path) }
	return plan, nil
}

// messages is the scratch of one worker: a list value whose contents are set anew for each row.
type messages struct {
	templates []*template
	list      []schema.Value
	fields    [][2]schema.Value // role and content of each message; list refers to them
	ends      []int             // in buf, of each content that is put together there
	buf       []byte
}

func newMessages(list []Message, templates []*template) *messages {
	n := len(list)
	m := &messages{templates: templates, list: make([]schema.Value, n), fields: make([][2]schema.Value, n), ends: make([]int, n)}
	for i, msg := range list {
		text, _ := templates[i].constant()
		m.fields[i] = [2]schema.Value{schema.TextValue(msg.Role), schema.TextValue(text)}
		m.list[i] = schema.StructValue(&MessagesType.Fields[0].Type, m.fields[i][:])
	}
	return m
}

func (m *messages) value() schema.Value { return schema.ListValue(m.list) }

// fill returns the Func that computes the list for a row.
func (m *messages) fill(to schema.Path) Func {
	return func(in schema.Row, out *Emitter) error {
		if err := m.append(in, to); err != nil {
			return err
		}
		start := 0
		for i, t := range m.templates {
			if read := t.sole(); read >= 0 && in.At(read).Kind() == schema.Text {
				m.fields[i][1] = in.At(read)
			} else if _, ok := t.constant(); !ok {
				m.fields[i][1] = schema.TextValue(view(m.buf[start:m.ends[i]]))
			}
			start = m.ends[i]
		}
		out.Set(0, m.value())
		out.Emit()
		return nil
	}
}

// append puts the contents that are neither constant nor a column's own text together, one after the other: views of them
// are taken only when buf grows no more.
func (m *messages) append(in schema.Row, to schema.Path) error {
	m.buf = m.buf[:0]
	for i, t := range m.templates {
		_, constant := t.constant()
		read := t.sole()
		if !constant && (read < 0 || in.At(read).Kind() != schema.Text) {
			var err error
			if m.buf, err = t.append(m.buf, in, to); err != nil {
				return err
			}
		}
		m.ends[i] = len(m.buf)
	}
	return nil
}

func newPrompt(args Args) (Transform, error) {
	r := newArgs("prompt", args)
	p := Prompt{Path: r.path("path", "prompt"), After: r.path("after", ""), If: r.present(Refuse)}
	_, system := args["system"]
	_, user := args["user"]
	list, given := args["messages"]
	switch {
	case given && (system || user):
		r.fail("messages and system or user exclude each other")
	case given:
		p.Messages = r.messages(list)
	case !user:
		r.failAt("user", "argument user or messages is missing")
	default:
		if system {
			p.Messages = append(p.Messages, Message{"system", r.text("system", "")})
		}
		p.Messages = append(p.Messages, Message{"user", r.text("user", "")})
	}
	for _, m := range p.Messages {
		if _, err := parseTemplate(m.Template); err != nil {
			r.fail("%w", err)
		}
	}
	return r.done(p)
}

// messages reads a list of {role, template}.
func (r *argReader) messages(v any) []Message {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		r.failAt("messages", "argument messages is %s, expected a list of {role, template}", jsonKind(v))
		return nil
	}
	var out []Message
	for i, e := range list {
		m, err := message(e)
		if err != nil {
			r.failAt("messages", "argument messages: message %d: %w", i, err)
		}
		out = append(out, m)
	}
	return out
}

var errMessage = errors.New("expected role and template, both text, and nothing else")

func message(v any) (Message, error) {
	m, ok := mapping(v)
	if !ok {
		return Message{}, fmt.Errorf("%s, expected {role, template}", jsonKind(v))
	}
	var out Message
	for _, x := range m {
		text, ok := x.Value.(string)
		switch {
		case ok && x.Name == "role":
			out.Role = text
		case ok && x.Name == "template":
			out.Template = text
		default:
			return Message{}, errMessage
		}
	}
	if len(m) != 2 || out.Role == "" {
		return Message{}, errMessage
	}
	return out, nil
}
