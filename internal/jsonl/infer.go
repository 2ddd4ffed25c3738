package jsonl

import (
	"context"
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/jsontext"
)

const (
	inferDepth  = 60   // nesting beyond which a value is kept as its text: levels are counted in a byte
	inferFields = 4096 // fields of all structs together; beyond, a struct is kept as its text
)

// kinds that a value had.
type kinds uint8

const (
	sawBool kinds = 1 << iota
	sawInt
	sawFloat
	sawText
	sawList
	sawStruct
	sawTooMuch
)

// A guess is what is known of the type of one value in all rows so far. It is no schema.Merge of the rows' types: it is changed in place for
// each value of each row, and remembers kinds that do not agree, which a type of the file then names.
type guess struct {
	kinds kinds
	name  string
	kids  []*guess // struct: in the order in which they were first seen
	index map[string]*guess
	elem  *guess
}

// An inferrer finds out the columns of a line format. Integers are int64, or double where one has a fraction or does not
// fit; what is null in every row is of Arrow's null type; a struct has every field that any row has. Where kinds do not
// agree, the type is Other, "mixed<int64, string>", which no loader takes: HF datasets fails on such a file.
type inferrer struct {
	jsontext.Parser
	root   guess
	fields int
}

// Infer finds out the columns of the text, and counts its rows on the way. With SkipBroken it lists the rows that are no objects, and returns the
// error of the first where all rows are broken.
func (t *Text) Infer(ctx context.Context) (*schema.Schema, *Layout, error) {
	var in inferrer
	l, err := t.scan(ctx, func(s *scanner, row []byte) error {
		if !in.row(row) {
			return t.syntaxError(s, row, &in.Parser, 1)
		}
		return nil
	})
	if t.SkipBroken && !t.Array && in.ErrMsg != "" {
		return t.inferUnbroken(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	return &schema.Schema{Fields: in.root.structType().Fields}, l, nil
}

// inferUnbroken is Infer for a text with broken rows. It reads each row twice, so that no key of a broken one counts.
func (t *Text) inferUnbroken(ctx context.Context) (*schema.Schema, *Layout, error) {
	var in inferrer
	var broken []Broken
	rows := int64(0)
	l, err := t.scan(ctx, func(s *scanner, row []byte) error {
		at := rows
		rows++
		if !in.whole(row) {
			e := t.syntaxError(s, row, &in.Parser, 1)
			if broken = append(broken, Broken{at, e}); len(broken) > maxBroken {
				first := *broken[0].Error
				first.Message += fmt.Sprintf(" (more than %d lines are no JSON objects)", maxBroken)
				return &first
			}
			return nil
		}
		if !in.row(row) {
			return t.syntaxError(s, row, &in.Parser, 1)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, err
	case int64(len(broken)) == rows:
		return nil, nil, broken[0].Error
	}
	l.Broken = broken
	return &schema.Schema{Fields: in.root.structType().Fields}, l, nil
}

// whole reports whether text is an object and nothing else.
func (in *inferrer) whole(text []byte) bool {
	in.Src, in.Pos, in.ErrMsg = text, 0, ""
	if in.Peek() != '{' {
		return in.Unexpected("an object")
	}
	if !in.Skip(0) {
		return false
	}
	if in.Peek() != 0 || in.Pos < len(in.Src) {
		return in.Unexpected("nothing more behind the object")
	}
	return true
}

func (in *inferrer) row(text []byte) bool {
	in.Src, in.Pos, in.ErrMsg = text, 0, ""
	if in.Peek() != '{' {
		return in.Unexpected("an object")
	}
	if !in.value(&in.root, 0) {
		return false
	}
	if in.Peek() != 0 || in.Pos < len(in.Src) {
		return in.Unexpected("nothing more behind the object")
	}
	return true
}

func (in *inferrer) value(g *guess, depth int) bool {
	c := in.Peek()
	switch c {
	case '"':
		g.kinds |= sawText
		return in.SkipText()
	case 't', 'f':
		g.kinds |= sawBool
		return in.Skip(depth)
	case 'n':
		return in.Literal("null")
	case '{', '[':
		if depth > inferDepth || g.kinds&sawTooMuch != 0 {
			g.kinds |= sawTooMuch
			return in.Skip(depth)
		}
		if c == '{' {
			return in.members(g, depth+1)
		}
		return in.elements(g, depth+1)
	}
	n, ok := in.Number()
	if !ok {
		return false
	}
	if n.Float {
		g.kinds |= sawFloat
	} else if _, fits := n.Int(); fits {
		g.kinds |= sawInt
	} else {
		g.kinds |= sawFloat
	}
	return true
}

func (in *inferrer) elements(g *guess, depth int) bool {
	g.kinds |= sawList
	if g.elem == nil {
		g.elem = &guess{}
	}
	in.Pos++
	if in.Peek() == ']' {
		in.Pos++
		return true
	}
	for {
		if !in.value(g.elem, depth) {
			return false
		}
		if again, ok := in.More(']'); !again {
			return ok
		}
	}
}

func (in *inferrer) members(g *guess, depth int) bool {
	g.kinds |= sawStruct
	in.Pos++
	if in.Peek() == '}' {
		in.Pos++
		return true
	}
	for want := 0; ; want++ {
		key, ok := in.Member()
		if !ok {
			return false
		}
		var kid *guess
		if want < len(g.kids) && g.kids[want].name == string(key) {
			kid = g.kids[want]
		} else if kid = in.kid(g, key); kid == nil {
			if g == &in.root {
				return in.Fail(in.Pos, fmt.Sprintf("more than %d columns and fields in all rows together", inferFields))
			}
			g.kinds |= sawTooMuch
			kid = &guess{kinds: sawTooMuch}
		}
		if !in.value(kid, depth) {
			return false
		}
		if again, ok := in.More('}'); !again {
			return ok
		}
	}
}

// kid returns the field of that name, made where it is new; nil where there are too many.
func (in *inferrer) kid(g *guess, key []byte) *guess {
	if k := g.index[string(key)]; k != nil {
		return k
	}
	if in.fields >= inferFields {
		return nil
	}
	in.fields++
	if g.index == nil {
		g.index = map[string]*guess{}
	}
	k := &guess{name: string(key)}
	g.index[k.name] = k
	g.kids = append(g.kids, k)
	return k
}

var kindNames = [...]struct {
	kind kinds
	name string
}{{sawBool, "bool"}, {sawInt, "int64"}, {sawFloat, "double"}, {sawText, "string"}, {sawList, "list"}, {sawStruct, "struct"}}

// typ returns the type of all values seen.
func (g *guess) typ() schema.Type {
	switch g.kinds {
	case 0:
		return schema.Type{Kind: schema.Null}
	case sawBool:
		return schema.BoolType
	case sawInt:
		return schema.Int64Type
	case sawFloat, sawInt | sawFloat:
		return schema.FloatType
	case sawText:
		return schema.StringType
	case sawList:
		return schema.ListOf(g.elem.typ())
	case sawStruct:
		return g.structType()
	}
	if g.kinds&sawTooMuch != 0 {
		return schema.Type{Kind: schema.Other, Name: "json"}
	}
	var names []string
	for _, k := range kindNames {
		if g.kinds&k.kind != 0 {
			names = append(names, k.name)
		}
	}
	return schema.Type{Kind: schema.Other, Name: "mixed<" + strings.Join(names, ", ") + ">"}
}

func (g *guess) structType() schema.Type {
	t := schema.Type{Kind: schema.Struct}
	for _, k := range g.kids {
		t.Fields = append(t.Fields, schema.NewField(k.name, k.typ()))
	}
	return t
}
