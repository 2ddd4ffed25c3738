package jsontext

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
)

// ErrEnd says that the text ends before its value does.
var ErrEnd = errors.New("it ends too early")

// Decode returns the one value that text holds, as Python's json module reads it: an object is a struct of its keys in order; an integer that
// int64 cannot hold is a double; NaN and infinities are taken; half of a surrogate pair is U+FFFD. The value does not keep text.
func Decode(text []byte) (schema.Value, error) {
	d := &decoder{Parser: Parser{Src: text}}
	return d.decodeAll(nil)
}

// DecodeStrict is Decode for constants that users write. It refuses what RFC 8259 does not have, what no value can hold, and a key that an
// object has twice.
func DecodeStrict(text []byte) (schema.Value, error) {
	d := &decoder{Parser: Parser{Src: text}, strict: true}
	return d.decodeAll(nil)
}

// DecodeAs returns the one value that text holds as a value of type t: no other kinds of values, and no keys that t does not have or that an
// object has twice; a key that is missing is null. It refuses what RFC 8259 does not have; half of a surrogate pair and bytes that are no UTF-8
// are U+FFFD.
func DecodeAs(text string, t *schema.Type) (schema.Value, error) {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	d := &decoder{Parser: Parser{Src: []byte(text)}, strict: true, replaceHalves: true}
	return d.decodeAll(t)
}

// TypeOf returns the type of a value that was decoded without one, by the policy schema.JSONTypes: of an empty list, a list of nulls.
func TypeOf(v schema.Value) (schema.Type, error) {
	switch v.Kind() {
	case schema.Bool:
		return schema.BoolType, nil
	case schema.Int:
		return schema.Int64Type, nil
	case schema.Float:
		return schema.FloatType, nil
	case schema.Text:
		return schema.StringType, nil
	case schema.List:
		elem := schema.Type{Kind: schema.Null}
		for i := range v.Len() {
			t, err := TypeOf(v.Elem(i))
			if err == nil {
				elem, err = schema.JSONTypes.Types(schema.Path("").Elem(), elem, t)
			}
			if err != nil {
				return elem, err
			}
		}
		return schema.ListOf(elem), nil
	case schema.Struct:
		out := schema.StructOf()
		for i, f := range v.Type().Fields {
			t, err := TypeOf(v.Elem(i))
			if err != nil {
				return out, fmt.Errorf("%s: %w", f.Name, err)
			}
			out.Fields = append(out.Fields, schema.NewField(f.Name, t))
		}
		return out, nil
	}
	return schema.Type{Kind: schema.Null}, nil
}

// A decoder makes values. An error that is none of syntax stands in err.
type decoder struct {
	Parser
	strict        bool // no names of numbers, no number that does not fit, no key twice
	replaceHalves bool // half of a surrogate pair is U+FFFD though strict
	err           error
}

// decodeAll decodes all of the text; t is nil where the type is not known.
func (d *decoder) decodeAll(t *schema.Type) (schema.Value, error) {
	v, ok := d.value(t, 0)
	if ok && (d.Peek() != 0 || d.Pos < len(d.Src)) {
		d.err = errors.New("something follows the value")
	}
	switch {
	case d.err != nil:
		return schema.Value{}, d.err
	case ok:
		return v, nil
	case d.ErrAt >= len(d.Src):
		return schema.Value{}, ErrEnd
	}
	return schema.Value{}, fmt.Errorf("%s at byte %d", d.ErrMsg, d.ErrAt+1)
}

// refuse notes an error that is none of syntax.
func (d *decoder) refuse(format string, args ...any) (schema.Value, bool) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
	return schema.Value{}, false
}

// mismatch refuses a value that is not of type t.
func (d *decoder) mismatch(token string, t *schema.Type) (schema.Value, bool) {
	return d.refuse("%s is no %s", schema.Cut(token, 40), t)
}

func (d *decoder) value(t *schema.Type, depth int) (schema.Value, bool) {
	is := func(k schema.Kind) bool { return t == nil || t.Kind == k }
	switch c := d.Peek(); c {
	case '{', '[':
		if depth >= MaxDepth {
			return schema.Value{}, d.Fail(d.Pos, "nested more than "+strconv.Itoa(MaxDepth)+" deep")
		}
		return d.nested(c, t, depth)
	case '"':
		text, ok := d.AppendText(nil)
		switch {
		case !ok:
			return schema.Value{}, false
		case d.Lone && d.strict && !d.replaceHalves:
			return d.refuse("it has one half of a surrogate pair")
		case !is(schema.Text):
			return d.mismatch(string(text), t)
		}
		return schema.TextValue(string(text)), true
	case 't', 'f':
		word := map[byte]string{'t': "true", 'f': "false"}[c]
		if ok := d.Literal(word); ok && !is(schema.Bool) {
			return d.mismatch(word, t)
		} else if !ok {
			return schema.Value{}, false
		}
		return schema.BoolValue(c == 't'), true
	case 'n':
		return schema.NullValue, d.Literal("null")
	}
	return d.number(t)
}

// nested decodes the object or list that begins with c.
func (d *decoder) nested(c byte, t *schema.Type, depth int) (schema.Value, bool) {
	d.Pos++
	switch {
	case t != nil && t.Kind != map[byte]schema.Kind{'{': schema.Struct, '[': schema.List}[c]:
		return d.mismatch(string(rune(c)), t)
	case c == '[':
		return d.list(t, depth)
	case t != nil:
		return d.structAs(t, depth)
	}
	return d.object(depth)
}

// number decodes a number; of a known type it must fit.
func (d *decoder) number(t *schema.Type) (schema.Value, bool) {
	start := d.Pos
	n, ok := d.Number()
	if !ok {
		return schema.Value{}, false
	}
	if n.Named && d.strict {
		d.Pos = start
		return schema.Value{}, d.Unexpected("a value")
	}
	i, isInt := int64(0), false
	if !n.Float {
		i, isInt = n.Int()
	}
	f := n.Double()
	fits := n.Named || !math.IsInf(f, 0)
	switch {
	case t != nil && (t.Kind == schema.Int && (!isInt || !t.HoldsInt(i)) || t.Kind == schema.Float && !fits || t.Kind != schema.Int && t.Kind != schema.Float):
		return d.mismatch(string(n.Text), t)
	case isInt && (t == nil || t.Kind == schema.Int):
		return schema.IntValue(i), true
	case t == nil && d.strict && !n.Float:
		return d.refuse("%s is no integer of 64 bits", n.Text)
	case t == nil && d.strict && !fits:
		return d.refuse("%s is no double", n.Text)
	}
	return schema.FloatValue(f), true
}

// list decodes the rest of a list.
func (d *decoder) list(t *schema.Type, depth int) (schema.Value, bool) {
	var elem *schema.Type
	if t != nil {
		elem = &t.Fields[0].Type
	}
	elems := []schema.Value{}
	again := d.Peek() != ']'
	if !again {
		d.Pos++
	}
	for again {
		v, ok := d.value(elem, depth+1)
		if !ok {
			return v, false
		}
		elems = append(elems, v)
		if again, ok = d.More(']'); !ok {
			return v, false
		}
	}
	return schema.ListValue(elems), true
}

// members calls each for every key of the rest of an object, which decodes its value.
func (d *decoder) members(each func(key string) bool) bool {
	if d.Peek() == '}' {
		d.Pos++
		return true
	}
	for {
		key, ok := d.Member()
		if !ok || !each(string(key)) {
			return false
		}
		if again, ok := d.More('}'); !again {
			return ok
		}
	}
}

// object decodes the rest of an object as a struct of its keys.
func (d *decoder) object(depth int) (schema.Value, bool) {
	t := schema.StructOf()
	var elems []schema.Value
	ok := d.members(func(key string) bool {
		_, i := t.Field(key)
		if i >= 0 && d.strict {
			_, ok := d.refuse("key %q is repeated", key)
			return ok
		}
		v, ok := d.value(nil, depth+1)
		if i >= 0 { // the last one counts
			elems[i] = v
			return ok
		}
		t.Fields, elems = append(t.Fields, schema.NewField(key, schema.Type{Kind: v.Kind()})), append(elems, v)
		return ok
	})
	return schema.StructValue(&t, elems), ok
}

// structAs decodes the rest of an object as a struct of type t.
func (d *decoder) structAs(t *schema.Type, depth int) (schema.Value, bool) {
	elems := make([]schema.Value, len(t.Fields))
	ok := d.members(func(key string) (ok bool) {
		_, i := t.Field(key)
		switch {
		case i < 0:
			_, ok = d.refuse("key %q is not in the type", key)
		case !elems[i].IsMissing():
			_, ok = d.refuse("key %q is repeated", key)
		default:
			elems[i], ok = d.value(&t.Fields[i].Type, depth+1)
		}
		return ok
	})
	for i := range elems {
		if elems[i].IsMissing() {
			elems[i] = schema.NullValue
		}
	}
	return schema.StructValue(t, elems), ok
}
