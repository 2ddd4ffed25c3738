package pipefile

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/rlprep/rlprep/transform"
)

// What a pipeline file may be at most; far beyond what anybody writes, and far below what would hurt.
const (
	maxBytes = 1 << 20
	maxDepth = 64
)

// A pos is a place in the file, from 1.
type pos struct{ line, column int }

// A node is a value of the file with its place: a plain value, a list or a mapping.
type node struct {
	pos
	plain any // string, int64, uint64, float64, bool, nil; of a list or a mapping nothing
	list  []*node
	keys  []entry
	kind  nodeKind
}

type nodeKind uint8

const (
	plainNode nodeKind = iota
	listNode
	mapNode
)

// An entry is a key of a mapping.
type entry struct {
	pos
	name  string
	value *node
}

// parseYAML reads the file's one document.
func (f *File) parseYAML(text []byte) (root *node, err error) {
	if len(text) > maxBytes {
		return nil, f.errorAt(pos{1, 1}, "the file has %d bytes: a pipeline has at most %d", len(text), maxBytes)
	}
	if at, ok := deep(text); ok {
		return nil, f.errorAt(at, "values are nested more than %d deep", maxDepth)
	}
	defer func() {
		if r := recover(); r != nil { // the library's, of damaged text
			root, err = nil, f.errorAt(pos{1, 1}, "read YAML: %v", r)
		}
	}()
	doc, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, f.syntaxError(err)
	}
	switch {
	case len(doc.Docs) == 0 || doc.Docs[0].Body == nil:
		return nil, f.errorAt(pos{1, 1}, "the file is empty: 'rlprep init pipeline FILE' writes one")
	case len(doc.Docs) > 1 && doc.Docs[1].Body != nil:
		return nil, f.errorAt(place(doc.Docs[1].Body), "a second document: a pipeline file has one")
	}
	return f.node(doc.Docs[0].Body, 0)
}

// deep reports whether text nests brackets, or list items in one line, deeper than maxDepth, and where. It is a bound, made before
// the parser, which recurses: brackets in quotes and comments count too.
func deep(text []byte) (pos, bool) {
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
				return pos{i + 1, k + 1}, true
			}
		}
		if indent := len(line) - len(strings.TrimLeft(line, " ")); indent > 16*maxDepth && strings.TrimSpace(line) != "" {
			return pos{i + 1, indent + 1}, true
		}
	}
	return pos{}, false
}

func (f *File) syntaxError(err error) error {
	var e *yaml.SyntaxError
	if errors.As(err, &e) && e.Token != nil && e.Token.Position != nil {
		return f.errorAt(pos{e.Token.Position.Line, e.Token.Position.Column}, "%s", e.Message)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return f.errorAt(pos{1, 1}, "read YAML: %s", first)
}

func place(n ast.Node) pos {
	switch x := n.(type) {
	case *ast.MappingNode:
		if !x.IsFlowStyle && len(x.Values) > 0 {
			return place(x.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return place(x.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return pos{t.Position.Line, t.Position.Column}
	}
	return pos{1, 1}
}

// node takes what the parser gives.
func (f *File) node(in ast.Node, depth int) (*node, error) {
	out := &node{pos: place(in)}
	if depth > maxDepth {
		return nil, f.errorAt(out.pos, "values are nested more than %d deep", maxDepth)
	}
	switch x := in.(type) {
	case *ast.MappingNode:
		return f.mapping(out, x.Values, depth)
	case *ast.MappingValueNode:
		return f.mapping(out, []*ast.MappingValueNode{x}, depth)
	case *ast.SequenceNode:
		out.kind = listNode
		for _, v := range x.Values {
			n, err := f.node(v, depth+1)
			if err != nil {
				return nil, err
			}
			out.list = append(out.list, n)
		}
	case *ast.StringNode:
		out.plain = x.Value
	case *ast.LiteralNode:
		out.plain = x.Value.Value
	case *ast.IntegerNode:
		out.plain = x.Value
		if u, ok := x.Value.(uint64); ok && u <= math.MaxInt64 {
			out.plain = int64(u)
		}
	case *ast.FloatNode:
		out.plain = x.Value
	case *ast.BoolNode:
		out.plain = x.Value
	case *ast.NullNode:
	case *ast.AnchorNode, *ast.AliasNode:
		return nil, f.errorAt(out.pos, "anchors and aliases are not taken: write the value out")
	case *ast.TagNode:
		return nil, f.errorAt(out.pos, "tags (%s) are not taken", x.Start.Value)
	default:
		return nil, f.errorAt(out.pos, "%s is not taken here", strings.ToLower(in.Type().String()))
	}
	return out, nil
}

func (f *File) mapping(out *node, values []*ast.MappingValueNode, depth int) (*node, error) {
	out.kind = mapNode
	for _, v := range values {
		at := place(v.Key)
		name, ok := keyName(v.Key)
		if !ok {
			return nil, f.errorAt(at, "a key is a name; merge keys, anchors and lists are not taken")
		}
		if _, twice := out.get(name); twice {
			return nil, f.errorAt(at, "key %q stands twice", name)
		}
		value := &node{pos: at}
		if v.Value != nil {
			var err error
			if value, err = f.node(v.Value, depth+1); err != nil {
				return nil, err
			}
		}
		out.keys = append(out.keys, entry{at, name, value})
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

// get returns the value of a key.
func (n *node) get(name string) (*node, bool) {
	for _, e := range n.keys {
		if e.name == name {
			return e.value, true
		}
	}
	return nil, false
}

// value returns n as arguments have it.
func (n *node) value() any {
	switch n.kind {
	case listNode:
		out := make([]any, len(n.list))
		for i, e := range n.list {
			out[i] = e.value()
		}
		return out
	case mapNode:
		out := make(transform.Object, len(n.keys))
		for i, e := range n.keys {
			out[i] = transform.Member{Name: e.name, Value: e.value.value()}
		}
		return out
	}
	return n.plain
}

// String names what n is, for messages.
func (n *node) String() string {
	switch {
	case n.kind == listNode:
		return "a list"
	case n.kind == mapNode:
		return "a mapping"
	case n.plain == nil:
		return "empty"
	}
	if s, ok := n.plain.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(n.plain)
}
