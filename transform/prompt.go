package transform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "prompt",
	Title: "make chat messages of other columns",
	Doc: `
Writes a list of {role, content}, which is what verl's datasets read: 'prompt' for RL rows, 'messages' for SFT rows. Give
'user', and optionally 'system', or the whole list as 'messages', or 'from', an existing column of messages. A message of the list may
have a 'loss_mask' beside role and template: 1 for a turn that SFT learns, 0 for another; then all have one.

With 'from' all turns are copied, with all fields of the messages. 'system' sets the first message, and replaces an existing system
message. 'suffix' is appended to the last user message. 'through: user' removes everything after that message, such as the answer to
learn. With 'from' alone the column is copied undecoded. If 'suffix' or 'through' is given, a row without a user message is rejected
(no-user-message).
` + templateDoc,
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "where to; prompt when not given"},
		{Name: "system", Type: "template", Doc: "the system message; none when not given"},
		{Name: "user", Type: "template", Doc: "the user message: '{{question}} Think step by step.'"},
		{Name: "messages", Type: "list of {role, template}", Doc: "all messages, in place of system and user"},
		{Name: "from", Type: "path", Doc: "a column of messages, in place of user"},
		{Name: "suffix", Type: "template", Doc: "with from: text after the last user message"},
		{Name: "after_turn", Type: "string", Values: []string{"user", "first"}, Doc: "with suffix: the message that it follows: the last of the user, or the first of all; user when not given"},
		{Name: "through", Type: "string", Values: []string{"end", "user"}, Doc: "with from: the last turn taken: end (all, the default) or user (up to the last user message)"},
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
			Title: "turns that are learnt, and turns that are not",
			Args:  `{"path":"messages","messages":[{"role":"user","template":"{{q}}","loss_mask":0},{"role":"assistant","template":"{{a}}","loss_mask":1}]}`,
			In:    `{"q":"1+1?","a":"2"}`,
			Out:   `{"q":"1+1?","a":"2","messages":[{"role":"user","content":"1+1?","loss_mask":0},{"role":"assistant","content":"2","loss_mask":1}]}`,
		},
		{
			Title: "a prompt that is plain text becomes a message",
			Args:  `{"user":"{{prompt}}","if":"replace"}`,
			In:    `{"prompt":"1+1?","ability":"math"}`,
			Out:   `{"prompt":[{"role":"user","content":"1+1?"}],"ability":"math"}`,
		},
		{
			Title: "existing messages, without the answer",
			Args:  `{"from":"messages","system":"You are a math expert.","suffix":" Put the answer in \\boxed{}.","through":"user"}`,
			In: `{"messages":[{"role":"user","content":"1+1?"},{"role":"assistant","content":"2"}]}` + "\n" +
				`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi."},{"role":"assistant","content":"Hi!"},{"role":"user","content":"2+2?"}]}`,
			Out: `{"messages":[{"role":"user","content":"1+1?"},{"role":"assistant","content":"2"}],"prompt":[{"role":"system","content":"You are a math expert."},{"role":"user","content":"1+1? Put the answer in \\boxed{}."}]}` + "\n" +
				`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi."},{"role":"assistant","content":"Hi!"},{"role":"user","content":"2+2?"}],"prompt":[{"role":"system","content":"You are a math expert."},{"role":"user","content":"Hi."},{"role":"assistant","content":"Hi!"},{"role":"user","content":"2+2? Put the answer in \\boxed{}."}]}`,
		},
		{
			Title: "a prompt gets a system message, in place",
			Args:  `{"from":"prompt","path":"prompt","system":"Answer in {{language}}."}`,
			In:    `{"language":"French","prompt":[{"role":"user","content":"1+1?"}]}`,
			Out:   `{"language":"French","prompt":[{"role":"system","content":"Answer in French."},{"role":"user","content":"1+1?"}]}`,
		},
		{
			Title: "messages under other names",
			Args:  `{"from":"conversations"}`,
			In:    `{"conversations":[{"from":"human","value":"1+1?"}]}`,
			Error: `column "conversations" is list<element: struct<from: string, value: string>>, expected messages with role and content: a step map makes them of others`,
		},
		{
			Title: "a suffix to the first message",
			Args:  `{"from":"prompt","path":"prompt","suffix":" Be brief.","after_turn":"first"}`,
			In:    `{"prompt":[{"role":"system","content":"You are a poet."},{"role":"user","content":"Sing."}]}`,
			Out:   `{"prompt":[{"role":"system","content":"You are a poet. Be brief."},{"role":"user","content":"Sing."}]}`,
		},
		{
			Title: "nobody asks",
			Args:  `{"from":"messages","suffix":"!"}`,
			In:    `{"messages":[{"role":"assistant","content":"2"}]}`,
			Error: `no-user-message: messages has no message of role user`,
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
	LossMask *int64 // a third field, loss_mask, in all messages or in none: 1 where SFT learns the turn, 0 where not; nil: none
}

// messagesType is the type of a list of messages.
func messagesType(list []Message) schema.Type {
	if len(list) == 0 || list[0].LossMask == nil {
		return MessagesType
	}
	fields := append(slices.Clone(MessagesType.Fields[0].Type.Fields), schema.NewField("loss_mask", schema.Int64Type))
	return schema.ListOf(schema.StructOf(fields...))
}

// Prompt writes a list of messages made from templates of columns, or from a column of messages.
type Prompt struct {
	Path     schema.Path // "": prompt
	Messages []Message
	From     schema.Path // a column of messages in place of Messages; System, Suffix and Through are for it
	System   *string     // template of the first message; nil: as it is
	Suffix   *string     // template behind the last user message; nil: none
	First    bool        // the suffix follows the first message, whoever's it is
	Through  bool        // what follows the last user message is left out
	After    schema.Path
	If       ConflictPolicy
}

// Plan returns one computed Put of MessagesType (or of the type of From), or a constant one where no template has a column. It
// fails for a column that is missing or of a wrong type, and for a template that cannot be read.
func (p Prompt) Plan(in *schema.Schema) (*Plan, error) {
	if p.Path == "" {
		p.Path = "prompt"
	}
	if p.From != "" {
		return p.planFrom(in)
	}
	if err := checkPut(in, p.Path); err != nil {
		return nil, err
	}
	if len(p.Messages) == 0 {
		return nil, errors.New("no message to make the prompt of")
	}
	plan := &Plan{Puts: []Put{{Path: p.Path, After: p.After, Type: messagesType(p.Messages), OnExisting: p.If}}}
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
	if p.Messages[0].LossMask == nil { // Bulk makes texts alone
		plan.Bulk = func() Bulk { return bulkMessages(p.Messages, templates) }
	}
	return plan, nil
}

// bulkMessages returns the Bulk that writes the messages of rows.
func bulkMessages(list []Message, templates []*template) Bulk {
	return func(reads []schema.Texts, rows int, out []*schema.TextColumn) bool {
		role, content := out[0], out[1]
		for row := range rows {
			for i, t := range templates {
				role.Bytes = append(role.Bytes, list[i].Role...)
				role.End()
				content.Bytes = t.appendTexts(content.Bytes, reads, row)
				content.End()
			}
		}
		return true
	}
}

// messages is the scratch of one worker: a list value whose contents are set again for each row.
type messages struct {
	templates []*template
	list      []schema.Value
	fields    [][]schema.Value // role and content of each message, and loss_mask; list refers to them
	ends      []int            // in buf, of each content that is put together there
	buf       []byte
}

func newMessages(list []Message, templates []*template) *messages {
	n := len(list)
	m := &messages{templates: templates, list: make([]schema.Value, n), fields: make([][]schema.Value, n), ends: make([]int, n)}
	typ := messagesType(list)
	for i, msg := range list {
		text, _ := templates[i].constant()
		m.fields[i] = []schema.Value{schema.TextValue(msg.Role), schema.TextValue(text)}
		if msg.LossMask != nil {
			m.fields[i] = append(m.fields[i], schema.IntValue(*msg.LossMask))
		}
		m.list[i] = schema.StructValue(&typ.Fields[0].Type, m.fields[i])
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

func newPrompt(args Args) (RowStep, error) {
	r := newArgs("prompt", args)
	p := Prompt{Path: r.path("path", "prompt"), After: r.path("after", ""), From: r.path("from", ""), If: r.present(Refuse)}
	if p.Path == p.From && args["if"] == nil {
		p.If = Replace
	}
	r.messageArgs(&p)
	for _, m := range p.Messages {
		if _, err := parseTemplate(m.Template); err != nil {
			r.fail("%w", err)
		}
	}
	r.template("system", p.System)
	r.template("suffix", p.Suffix)
	return r.done(p)
}

// messageArgs reads what the messages are made of: templates, or a column.
func (r *argReader) messageArgs(p *Prompt) {
	_, system := r.args["system"]
	_, user := r.args["user"]
	list, given := r.args["messages"]
	for _, name := range []string{"suffix", "through", "after_turn"} {
		if _, set := r.args[name]; set && p.From == "" {
			r.failAt(name, "argument %s applies to existing messages: use it with from", name)
		}
	}
	switch {
	case p.From != "" && (given || user):
		r.failAt("from", "from excludes user and messages")
	case p.From != "":
		p.System, p.Suffix = r.given("system"), r.given("suffix")
		p.First = r.word("after_turn", "user") == "first"
		p.Through = r.word("through", "end") == "user"
		if p.First && p.Through {
			r.failAt("after_turn", "after_turn: first and through: user exclude each other")
		}
	case given && (system || user):
		r.fail("messages and system or user exclude each other")
	case given:
		p.Messages = r.messages(list)
	case !user:
		r.failAt("user", "argument user, messages or from is missing")
	default:
		if system {
			p.Messages = append(p.Messages, Message{Role: "system", Template: r.text("system", "")})
		}
		p.Messages = append(p.Messages, Message{Role: "user", Template: r.text("user", "")})
	}
}

// template checks a text that is a template; nil is none.
func (r *argReader) template(name string, text *string) {
	if text == nil {
		return
	}
	if _, err := parseTemplate(*text); err != nil {
		r.failAt(name, "%w", err)
	}
}

// given returns a text, nil where it is not given.
func (r *argReader) given(name string) *string {
	if r.args[name] == nil {
		return nil
	}
	s := r.text(name, "")
	return &s
}

// messages reads a list of {role, template}.
func (r *argReader) messages(v any) []Message {
	list, ok := v.([]any)
	if s, text := v.(string); text {
		r.failAt("messages", "argument messages is a list of {role, template}; a column of messages is taken by 'from: %s'", s)
		return nil
	}
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
		if len(out) > 0 && (out[0].LossMask == nil) != (m.LossMask == nil) {
			r.failAt("messages", "argument messages: loss_mask is in some messages, and not in message %d or message 0", i)
		}
		out = append(out, m)
	}
	return out
}

var errMessage = errors.New("expected role and template, both text, perhaps loss_mask, and nothing else")

func message(v any) (Message, error) {
	m, ok := mapping(v)
	if !ok {
		return Message{}, fmt.Errorf("%s, expected {role, template}", jsonKind(v))
	}
	var out Message
	for _, x := range m {
		text, isText := x.Value.(string)
		switch {
		case isText && x.Name == "role":
			out.Role = text
		case isText && x.Name == "template":
			out.Template = text
		case x.Name == "loss_mask":
			n, err := argInt(x.Value)
			if err != nil {
				return Message{}, fmt.Errorf("loss_mask: %w", err)
			}
			out.LossMask = &n
		default:
			return Message{}, errMessage
		}
	}
	if out.Role == "" || !slices.ContainsFunc(m, func(x Member) bool { return x.Name == "template" }) {
		return Message{}, errMessage
	}
	return out, nil
}
