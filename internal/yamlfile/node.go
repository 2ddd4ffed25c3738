package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// What a file may be at most; far beyond what anybody writes, and far below what would hurt.
const (
	maxBytes = 1 << 20
	maxDepth = 64
)

// A Pos is a place in the file, from 1.
type Pos struct{ Line, Column int }

// A Node is a value of the file with its place: a plain value, a list or a mapping.
type Node struct {
	Pos
	Plain any // string, int64, uint64, float64, bool, nil; of a list or a mapping nothing
	List  []*Node
	Keys  []Entry
	Kind  Kind
}

// A Kind says what a Node is.
type Kind uint8

// The kinds of nodes.
const (
	Plain Kind = iota
	List
	Map
)

// An Entry is a key of a mapping.
type Entry struct {
	Pos
	Name  string
	Value *Node
}

// Parse reads the file's one document. The error is *Error.
func (r *Reader) Parse(text []byte) (root *Node, err error) {
	if len(text) > maxBytes {
		return nil, r.ErrorAt(Pos{1, 1}, "the file has %d bytes: %s has at most %d", len(text), r.What, maxBytes)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if at, what := unreadable(text); what != "" {
		return nil, r.ErrorAt(at, "%s", what)
	}
	if at, ok := deep(text); ok {
		return nil, r.ErrorAt(at, "values are nested more than %d deep", maxDepth)
	}
	defer func() {
		if p := recover(); p != nil { // the library's, of damaged text
			root, err = nil, r.ErrorAt(Pos{1, 1}, "read YAML: %v", p)
		}
	}()
	doc, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, r.syntaxError(err)
	}
	switch {
	case len(doc.Docs) == 0 || doc.Docs[0].Body == nil:
		return nil, r.ErrorAt(Pos{1, 1}, "the file is empty: '%s' writes one", r.Init)
	case len(doc.Docs) > 1 && doc.Docs[1].Body != nil:
		return nil, r.ErrorAt(place(doc.Docs[1].Body), "a second document: %s has one", r.What)
	}
	return r.node(doc.Docs[0].Body, 0)
}

// deep reports whether text nests brackets, or list items in one line, deeper than maxDepth, and where. It is a bound, made before
// the parser, which recurses: brackets in quotes and comments count too.
func deep(text []byte) (Pos, bool) {
	depth := 0
	for i, line := range strings.Split(string(text), "\n") {
		dashes := 0
		for k := 0; k < len(line); k++ {
			switch c := line[k]; {
			case c == '[' || c == '{':
				depth++
			case (c == ']' || c == '}') && depth > 0:
				depth--
			case (c == '-' || c == '?') && (k+1 == len(line) || line[k+1] == ' '):
				dashes++
			}
			if depth > 16*maxDepth || dashes > maxDepth && strings.Trim(line[:k+1], "-? ") == "" {
				return Pos{i + 1, k + 1}, true
			}
		}
		if indent := len(line) - len(strings.TrimLeft(line, " ")); indent > 16*maxDepth && strings.TrimSpace(line) != "" {
			return Pos{i + 1, indent + 1}, true
		}
	}
	return Pos{}, false
}

// unreadable looks for what no YAML has, and says where.
func unreadable(text []byte) (Pos, string) {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if k := bytes.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' }); k >= 0 {
			return Pos{i + 1, k + 1}, "a control character: is this YAML, in UTF-8?"
		}
		if !utf8.Valid(line) {
			return Pos{i + 1, 1}, "the line is not UTF-8"
		}
	}
	return Pos{}, ""
}

func (r *Reader) syntaxError(err error) error {
	var e *yaml.SyntaxError
	if errors.As(err, &e) && e.Token != nil && e.Token.Position != nil {
		msg := e.Message
		switch {
		case strings.Contains(msg, "'\t'"):
			msg = "a tab: YAML is indented by blanks"
		case strings.Contains(msg, "not allowed in this context"):
			msg += ": does it stand below what is before it? Its indent is another"
		}
		return r.ErrorAt(Pos{e.Token.Position.Line, e.Token.Position.Column}, "%s", msg)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return r.ErrorAt(Pos{1, 1}, "read YAML: %s", first)
}

func place(n ast.Node) Pos {
	switch x := n.(type) {
	case *ast.MappingNode:
		if !x.IsFlowStyle && len(x.Values) > 0 {
			return place(x.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return place(x.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return Pos{t.Position.Line, t.Position.Column}
	}
	return Pos{1, 1}
}

// node takes what the parser gives.
func (r *Reader) node(in ast.Node, depth int) (*Node, error) {
	out := &Node{Pos: place(in)}
	if depth > maxDepth {
		return nil, r.ErrorAt(out.Pos, "values are nested more than %d deep", maxDepth)
	}
	switch x := in.(type) {
	case *ast.MappingNode:
		return r.mapping(out, x.Values, depth)
	case *ast.MappingValueNode:
		return r.mapping(out, []*ast.MappingValueNode{x}, depth)
	case *ast.SequenceNode:
		out.Kind = List
		for _, v := range x.Values {
			n, err := r.node(v, depth+1)
			if err != nil {
				return nil, err
			}
			out.List = append(out.List, n)
		}
	case *ast.StringNode:
		out.Plain = x.Value
	case *ast.LiteralNode:
		out.Plain = x.Value.Value
	case *ast.IntegerNode:
		out.Plain = x.Value
		if u, ok := x.Value.(uint64); ok && u <= math.MaxInt64 {
			out.Plain = int64(u)
		}
	case *ast.FloatNode:
		out.Plain = x.Value
	case *ast.BoolNode:
		out.Plain = x.Value
	case *ast.NullNode:
	case *ast.AnchorNode, *ast.AliasNode:
		return nil, r.ErrorAt(out.Pos, "anchors and aliases are not taken: write the value out")
	case *ast.TagNode:
		return nil, r.ErrorAt(out.Pos, "tags (%s) are not taken", x.Start.Value)
	default:
		return nil, r.ErrorAt(out.Pos, "%s is not taken here", strings.ToLower(in.Type().String()))
	}
	return out, nil
}

func (r *Reader) mapping(out *Node, values []*ast.MappingValueNode, depth int) (*Node, error) {
	out.Kind = Map
	for _, v := range values {
		at := place(v.Key)
		name, ok := keyName(v.Key)
		if !ok {
			return nil, r.ErrorAt(at, "a key is a name; merge keys, anchors and lists are not taken")
		}
		if _, twice := out.Get(name); twice {
			return nil, r.ErrorAt(at, "key %q stands twice", name)
		}
		value := &Node{Pos: at}
		if v.Value != nil {
			var err error
			if value, err = r.node(v.Value, depth+1); err != nil {
				return nil, err
			}
		}
		out.Keys = append(out.Keys, Entry{at, name, value})
	}
	return out, nil
}

// keyName returns a key as it is written; numbers and words such as yes are names here.
func keyName(k ast.MapKeyNode) (string, bool) {
	switch x := k.(type) {
	case *ast.StringNode:
		return x.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, true
	}
	return "", false
}

// Get returns the value of a key.
func (n *Node) Get(name string) (*Node, bool) {
	for _, e := range n.Keys {
		if e.Name == name {
			return e.Value, true
		}
	}
	return nil, false
}

// String names what n is, for messages.
func (n *Node) String() string {
	switch {
	case n.Kind == List:
		return "a list"
	case n.Kind == Map:
		return "a mapping"
	case n.Plain == nil:
		return "empty"
	}
	if s, ok := n.Plain.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(n.Plain)
}
