package transform

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

// A turns is what a Prompt does to a column of messages.
type turns struct {
	from, to      schema.Path
	first         bool         // the suffix follows the first message
	through       bool         // what follows the last user message is left out
	typ           *schema.Type // of a message
	role, content int          // places of its fields
	system        *template    // nil: as it is
	suffix        *template    // nil: none
}

// planFrom returns the plan of a Prompt that is made from a column of messages: one computed Put of its type, or a copy where nothing is to
// be done to them.
func (p Prompt) planFrom(in *schema.Schema) (*Plan, error) {
	if p.Path != p.From {
		if err := checkPut(in, p.Path); err != nil {
			return nil, err
		}
	}
	f, err := messagesColumn(in, p.From)
	if err != nil {
		return nil, err
	}
	made := nullable(f.Type)
	put := Put{Path: p.Path, After: p.After, Type: made, OnExisting: p.If}
	if p.System == nil && p.Suffix == nil && !p.Through {
		if p.Path == p.From {
			return nil, fmt.Errorf("column %q is made from itself, and nothing is done to it (system, suffix, through)", p.Path)
		}
		put.Type, put.Copy = f.Type, p.From
		return &Plan{Puts: []Put{put}}, nil
	}
	elem := &made.Fields[0].Type
	t := turns{from: p.From, to: p.Path, first: p.First, through: p.Through, typ: elem}
	_, t.role = elem.Field("role")
	_, t.content = elem.Field("content")
	plan := &Plan{Reads: []schema.Path{p.From}, Puts: []Put{put}}
	for _, x := range []struct {
		text *string
		to   **template
	}{{p.System, &t.system}, {p.Suffix, &t.suffix}} {
		if x.text == nil {
			continue
		}
		if *x.to, err = parseTemplate(*x.text); err != nil {
			return nil, err
		}
		if plan.Reads, err = (*x.to).bind(in, plan.Reads); err != nil {
			return nil, err
		}
	}
	plan.Bind = func() Func { return t.bind() }
	return plan, nil
}

// messagesColumn returns the column at path, a list of structs with text role and content.
func messagesColumn(in *schema.Schema, path schema.Path) (schema.Field, error) {
	f, err := column(in, path)
	if err != nil {
		return f, err
	}
	if inList(path) || f.Type.Kind != schema.List || f.Type.Fields[0].Type.Kind != schema.Struct {
		return f, wrongType(path, f.Type, "a list of {role, content}")
	}
	for _, name := range []string{"role", "content"} {
		x, i := f.Type.Fields[0].Type.Field(name)
		if i < 0 {
			return f, fmt.Errorf("column %q is %s, expected messages with role and content: a step map makes them of others", path, f.Type)
		}
		if x.Type.Kind != schema.Text {
			return f, fmt.Errorf("column %q has %s %s, expected string: a step map makes messages of others", path, name, x.Type)
		}
	}
	return f, nil
}

// nullable returns a list of messages whose fields may all be null, as a system message that is added has none but two.
func nullable(t schema.Type) schema.Type {
	elem := t.Fields[0]
	elem.Type.Fields = slices.Clone(elem.Type.Fields)
	for i := range elem.Type.Fields {
		elem.Type.Fields[i].Nullable = true
	}
	t.Fields = []schema.Field{elem}
	return t
}

// bind returns the Func of one worker, with its scratch.
func (t *turns) bind() Func {
	var scratch []schema.Value
	first, last := make([]schema.Value, len(t.typ.Fields)), make([]schema.Value, len(t.typ.Fields))
	var buf []byte
	return func(in schema.Row, out *Emitter) error {
		v := in.At(0)
		if v.IsNull() {
			return nullColumn(t.from, t.to)
		}
		scratch = append(scratch[:0], schema.NullValue) // the place of the system message
		for i := range v.Len() {
			scratch = append(scratch, v.Elem(i))
		}
		list, err := scratch, error(nil)
		buf = buf[:0]
		if t.suffix != nil || t.through {
			if list, buf, err = t.end(in, list, last, buf); err != nil {
				return err
			}
		}
		if t.system == nil {
			list = list[1:]
		} else if list, buf, err = t.begin(in, list, first, buf); err != nil {
			return err
		}
		out.Set(0, schema.ListValue(list))
		out.Emit()
		return nil
	}
}

// end finds the last user message, or the first of all, leaves out what follows it where that is asked for, and adds the suffix to it.
func (t *turns) end(in schema.Row, list, last []schema.Value, buf []byte) ([]schema.Value, []byte, error) {
	at := len(list) - 1
	if t.first {
		at = min(1, at)
	}
	for at > 0 && !t.first && (list[at].Kind() != schema.Struct || list[at].Elem(t.role).Text() != "user") {
		at--
	}
	if at == 0 && t.first {
		return nil, buf, Rejectf("no-message", t.from, in.At(0), "%s has no message", t.from)
	}
	if at == 0 {
		return nil, buf, Rejectf("no-user-message", t.from, in.At(0), "%s has no message of role user", t.from)
	}
	if t.through {
		list = list[:at+1]
	}
	if t.suffix == nil {
		return list, buf, nil
	}
	if list[at].Kind() == schema.Struct {
		for i := range last {
			last[i] = list[at].Elem(i)
		}
	}
	if list[at].Kind() != schema.Struct || last[t.content].IsNull() {
		return nil, buf, Rejectf("null-content", t.from, in.At(0), "the message of %s that gets the suffix has no content", t.from)
	}
	buf = append(buf, last[t.content].Text()...)
	buf, err := t.suffix.append(buf, in, t.to)
	last[t.content] = schema.TextValue(view(buf))
	list[at] = schema.StructValue(t.typ, last)
	return list, buf, err
}

// begin puts the system message into list[0], or in place of the existing one; buf holds what is in use already.
func (t *turns) begin(in schema.Row, list, first []schema.Value, buf []byte) ([]schema.Value, []byte, error) {
	n := len(buf)
	buf, err := t.system.append(buf, in, t.to)
	for i := range first {
		first[i] = schema.NullValue
	}
	if len(list) > 1 && list[1].Kind() == schema.Struct && list[1].Elem(t.role).Text() == "system" {
		list = list[1:]
		for i := range first {
			first[i] = list[0].Elem(i)
		}
	}
	first[t.role], first[t.content] = schema.TextValue("system"), schema.TextValue(view(buf[n:]))
	list[0] = schema.StructValue(t.typ, first)
	return list, buf, err
}
