package transform

import (
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "chat",
	Title: "make chat messages of a conversation in another form",
	Doc: `
Writes a list of {role, content} made of a list of turns whose fields have other names, such as ShareGPT's {from, value}. 'role' and
'content' are the fields of a turn; 'roles' says which role each value becomes: human user and gpt assistant, when not given. Other fields of
a turn are left out.

A row is rejected where a turn is null (null-turn) or has a role that 'roles' lacks (unknown-role), and where the list is null
(null-COLUMN). A null content stays null.
`,
	Args: []Arg{
		{Name: "from", Type: "path", Doc: "the turns: conversations", Required: true},
		{Name: "path", Type: "path", Doc: "where to; messages when not given"},
		{Name: "role", Type: "string", Doc: "the field that says who speaks; from when not given"},
		{Name: "content", Type: "string", Doc: "the field that is said; value when not given"},
		{Name: "roles", Type: "mapping of names to names", Doc: "{human: user, gpt: assistant}"},
		afterArg, ifArg,
	},
	New: newChat,
	Examples: []Example{
		{
			Title: "ShareGPT",
			Args:  `{"from":"conversations"}`,
			In:    `{"conversations":[{"from":"human","value":"1+1?"},{"from":"gpt","value":"2"}]}`,
			Out:   `{"conversations":[{"from":"human","value":"1+1?"},{"from":"gpt","value":"2"}],"messages":[{"role":"user","content":"1+1?"},{"role":"assistant","content":"2"}]}`,
		},
		{
			Title: "other names",
			Args:  `{"from":"turns","path":"prompt","role":"who","content":"text","roles":{"Q":"user","S":"system"}}`,
			In:    `{"turns":[{"text":"Be brief.","id":0,"who":"S"},{"text":null,"id":1,"who":"Q"}]}`,
			Out:   `{"turns":[{"text":"Be brief.","id":0,"who":"S"},{"text":null,"id":1,"who":"Q"}],"prompt":[{"role":"system","content":"Be brief."},{"role":"user","content":null}]}`,
		},
		{
			Title: "somebody else",
			Args:  `{"from":"conversations"}`,
			In:    `{"conversations":[{"from":"human","value":"1+1?"},{"from":"tool","value":"2"}]}`,
			Error: `unknown-role: turn 1 of conversations has from "tool" (human, gpt)`,
		},
		{
			Title: "no such field",
			Args:  `{"from":"c"}`,
			In:    `{"c":[{"role":"user","content":"1+1?"}]}`,
			Error: `column "c" is list<element: struct<role: string, content: string>>, expected a list of turns with texts from and value`,
		},
	},
})

// Chat writes messages made of turns.
type Chat struct {
	From, Path    schema.Path
	Role, Content string // the fields of a turn
	Roles         []RoleOf
	After         schema.Path
	If            ConflictPolicy
}

// A RoleOf says which role a value becomes.
type RoleOf struct{ Value, Role string }

// Plan returns one computed Put of MessagesType. It fails where From is no list of turns.
func (c Chat) Plan(in *schema.Schema) (*Plan, error) {
	f, err := column(in, c.From)
	if err != nil {
		return nil, err
	}
	if err := checkPut(in, c.Path); err != nil {
		return nil, err
	}
	turn := schema.Type{}
	if f.Type.Kind == schema.List && !inList(c.From) {
		turn = f.Type.Fields[0].Type
	}
	role, roleAt := turn.Field(c.Role)
	content, contentAt := turn.Field(c.Content)
	if roleAt < 0 || contentAt < 0 || role.Type.Kind != schema.Text || content.Type.Kind != schema.Text {
		return nil, fmt.Errorf("column %q is %s, expected a list of turns with texts %s and %s", c.From, f.Type, c.Role, c.Content)
	}
	return &Plan{Reads: []schema.Path{c.From}, Puts: []Put{{Path: c.Path, After: c.After, Type: MessagesType, OnExisting: c.If}}, Bind: func() Func {
		var list []schema.Value
		var fields []schema.Value
		return func(in schema.Row, out *Emitter) error {
			turns := in.At(0)
			if turns.Kind() != schema.List {
				return nullColumn(c.From, c.Path)
			}
			n := turns.Len()
			list, fields = list[:0], fields[:0]
			for i := range n {
				t := turns.Elem(i)
				if t.Kind() != schema.Struct {
					return Rejectf("null-turn", c.From, turns, "turn %d of %s is null", i, c.From)
				}
				role, ok := c.role(t.Elem(roleAt))
				if !ok {
					return c.unknown(i, t.Elem(roleAt))
				}
				fields = append(fields, role, t.Elem(contentAt))
			}
			for i := range n {
				list = append(list, schema.StructValue(&MessagesType.Fields[0].Type, fields[2*i:2*i+2:2*i+2]))
			}
			out.Set(0, schema.ListValue(list))
			out.Emit()
			return nil
		}
	}}, nil
}

func (c Chat) role(v schema.Value) (schema.Value, bool) {
	if v.Kind() == schema.Text {
		for _, r := range c.Roles {
			if r.Value == v.Text() {
				return schema.TextValue(r.Role), true
			}
		}
	}
	return v, false
}

func (c Chat) unknown(i int, v schema.Value) error {
	var names []string
	for _, r := range c.Roles {
		names = append(names, r.Value)
	}
	return Rejectf("unknown-role", c.From, v, "turn %d of %s has %s %s (%s)", i, c.From, c.Role, v.Excerpt(40), strings.Join(names, ", "))
}

func newChat(args Args) (RowStep, error) {
	r := newArgs("chat", args)
	c := Chat{From: r.path("from", ""), Path: r.path("path", "messages"), Role: r.text("role", "from"), Content: r.text("content", "value"),
		Roles: []RoleOf{{"human", "user"}, {"gpt", "assistant"}}, After: r.path("after", ""), If: r.present(Refuse)}
	if given := args["roles"]; given != nil {
		m, ok := mapping(given)
		if !ok || len(m) == 0 {
			r.failAt("roles", "argument roles is %s, expected a mapping of names to names", jsonKind(given))
		}
		c.Roles = nil
		for _, x := range m {
			role, ok := x.Value.(string)
			if !ok || role == "" {
				r.failAt("roles", "argument roles: the role of %s is %s, expected a name", x.Name, jsonKind(x.Value))
			}
			c.Roles = append(c.Roles, RoleOf{x.Name, role})
		}
	}
	return r.done(c)
}
