package launch

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A Node is one value of a configuration, with where it comes from.
type Node struct {
	Value  any // nil, bool, *big.Int, float64 or string, where Kind is Scalar
	List   []*Node
	Keys   []string // of a map, in order
	fields map[string]*Node
	Kind   NodeKind
	Source Source
}

// A NodeKind says what a Node is.
type NodeKind uint8

// The kinds of nodes.
const (
	Scalar NodeKind = iota
	List
	Map
)

// Field returns the field of that name of a map, nil where there is none.
func (n *Node) Field(name string) *Node {
	if n == nil {
		return nil
	}
	return n.fields[name]
}

// set puts a field into a map.
func (n *Node) set(name string, v *Node) {
	if n.fields == nil {
		n.fields = map[string]*Node{}
	}
	if n.fields[name] == nil {
		n.Keys = append(n.Keys, name)
	}
	n.fields[name] = v
}

// remove takes a field out of a map.
func (n *Node) remove(name string) {
	if n.fields[name] == nil {
		return
	}
	delete(n.fields, name)
	for i, k := range n.Keys {
		if k == name {
			n.Keys = append(n.Keys[:i:i], n.Keys[i+1:]...)
			return
		}
	}
}

// Any returns the value as nil, bool, *big.Int, float64, string, []any or *Dict.
func (n *Node) Any() any {
	switch n.Kind {
	case List:
		out := make([]any, len(n.List))
		for i, e := range n.List {
			out[i] = e.Any()
		}
		return out
	case Map:
		d := &Dict{}
		for _, k := range n.Keys {
			d.set(k, n.fields[k].Any())
		}
		return d
	}
	return n.Value
}

// maxYAML is the size, in bytes, beyond which a file is no configuration.
const maxYAML = 4 << 20

// errNoConfig is wrapped where a file is named that is not there.
var errNoConfig = errors.New("no such file")

// readYAML reads a configuration file; shown is its name in sources and errors. Only files whose names end in .yaml, .yml or
// .json are read: what a script names may be anything.
func readYAML(path, shown string) (*Node, error) {
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json":
	default:
		return nil, fmt.Errorf("%s: not read: not a .yaml file", shown)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist), err != nil && strings.Contains(err.Error(), "not a directory"):
		return nil, fmt.Errorf("%s: %w", shown, errNoConfig)
	case err != nil:
		return nil, fmt.Errorf("read configuration: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxYAML:
		return nil, fmt.Errorf("%s: not read: not a regular file of at most %d MiB", shown, maxYAML>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return ParseYAML(text, shown)
}

// ParseYAML reads a YAML document as OmegaConf does: plain scalars have YAML 1.1's types ("yes" is true), and 1e-6 is a
// number. Errors begin with "name:line:column:".
func ParseYAML(text []byte, name string) (n *Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, fmt.Errorf("%s: read YAML: %v", name, r)
		}
	}()
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) && syntax.Token != nil {
			return nil, fmt.Errorf("%s:%d:%d: read YAML: %s", name, syntax.Token.Position.Line, syntax.Token.Position.Column, syntax.Message)
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("%s: read YAML: %s", name, first)
	}
	y := &yamlReader{name: name, anchors: map[string]*Node{}}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			return y.node(doc.Body)
		}
	}
	return &Node{Kind: Map, Source: y.at(nil)}, nil
}

// A yamlReader turns the parser's tree into Nodes.
type yamlReader struct {
	name    string
	anchors map[string]*Node
	nodes   int
}

// maxNodes bounds what aliases of aliases grow to.
const maxNodes = 500_000

func (y *yamlReader) at(t *token.Token) Source {
	s := Source{Kind: FromYAML, File: y.name}
	if t != nil && t.Position != nil {
		s.Line = t.Position.Line
	}
	return s
}

func (y *yamlReader) node(n ast.Node) (*Node, error) {
	if y.nodes++; y.nodes > maxNodes {
		return nil, fmt.Errorf("%s: more than %d values", y.name, maxNodes)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		out := &Node{Kind: Map, Source: y.at(n.GetToken())}
		for _, v := range n.Values {
			if err := y.entry(out, v); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *ast.MappingValueNode:
		out := &Node{Kind: Map, Source: y.at(n.Key.GetToken())}
		return out, y.entry(out, n)
	case *ast.SequenceNode:
		out := &Node{Kind: List, Source: y.at(n.GetToken())}
		for _, v := range n.Values {
			e, err := y.node(v)
			if err != nil {
				return nil, err
			}
			out.List = append(out.List, e)
		}
		return out, nil
	case *ast.AnchorNode:
		v, err := y.node(n.Value)
		if err == nil {
			y.anchors[n.Name.GetToken().Value] = v
		}
		return v, err
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		if v := y.anchors[name]; v != nil {
			return v, nil
		}
		return nil, fmt.Errorf("%s:%d: read YAML: no anchor %q", y.name, n.GetToken().Position.Line, name)
	case *ast.TagNode:
		return y.node(n.Value)
	case *ast.LiteralNode:
		return &Node{Value: n.Value.Value, Source: y.at(n.Start)}, nil
	case *ast.StringNode:
		if t := n.Token.Type; t == token.SingleQuoteType || t == token.DoubleQuoteType {
			return &Node{Value: n.Value, Source: y.at(n.Token)}, nil
		}
		return &Node{Value: plainScalar(n.Value), Source: y.at(n.Token)}, nil
	case *ast.NullNode:
		return &Node{Source: y.at(n.Token)}, nil
	case nil:
		return &Node{Source: y.at(nil)}, nil
	}
	return &Node{Value: plainScalar(n.GetToken().Value), Source: y.at(n.GetToken())}, nil
}

// entry adds one "key: value" to a map.
func (y *yamlReader) entry(m *Node, v *ast.MappingValueNode) error {
	value, err := y.node(v.Value)
	if err != nil {
		return err
	}
	if _, merge := v.Key.(*ast.MergeKeyNode); merge {
		for _, k := range value.Keys {
			if m.Field(k) == nil {
				m.set(k, value.fields[k])
			}
		}
		return nil
	}
	key := v.Key.GetToken().Value
	if value.Source.Line == 0 || value.Kind != Scalar {
		c := *value
		c.Source.Line = v.Key.GetToken().Position.Line
		value = &c
	}
	m.set(key, value)
	return nil
}

// YAML 1.1's types, as PyYAML and OmegaConf have them.
var (
	yamlBool  = regexp.MustCompile(`^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$`)
	yamlNull  = regexp.MustCompile(`^(?:~|null|Null|NULL|)$`)
	yamlInt   = regexp.MustCompile(`^[-+]?(?:0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$`)
	yamlFloat = regexp.MustCompile(`^(?:[-+]?[0-9]+(?:_[0-9]+)*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+(?:_[0-9]+)*[eE][-+]?[0-9]+|\.[0-9]+(?:_[0-9]+)*(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// plainScalar gives an unquoted scalar its type.
func plainScalar(s string) any {
	switch {
	case yamlNull.MatchString(s):
		return nil
	case yamlBool.MatchString(s):
		c := s[0] | 0x20
		return c == 'y' || c == 't' || strings.EqualFold(s, "on")
	case yamlInt.MatchString(s):
		digits := strings.ReplaceAll(s, "_", "")
		if i, ok := new(big.Int).SetString(digits, 0); ok {
			return i
		}
	case yamlFloat.MatchString(s):
		text := strings.ReplaceAll(strings.ToLower(s), "_", "")
		if f, err := strconv.ParseFloat(strings.Replace(text, ".inf", "inf", 1), 64); err == nil {
			return f
		}
		if text == ".nan" {
			return pythonFloat("nan")
		}
	}
	return s
}
