package launch

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/internal/yamlfile"
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

// Any returns the value as nil, bool, *big.Int, float64, string, []any or *hydra.Dict.
func (n *Node) Any() any {
	switch n.Kind {
	case List:
		out := make([]any, len(n.List))
		for i, e := range n.List {
			out[i] = e.Any()
		}
		return out
	case Map:
		d := &hydra.Dict{}
		for _, k := range n.Keys {
			d.Set(k, n.fields[k].Any())
		}
		return d
	}
	return n.Value
}

// errNoConfig is wrapped where a file is named that does not exist.
var errNoConfig = errors.New("no such file")

// readYAML reads a configuration file; shown is its name in sources and errors. Only files whose names end in .yaml, .yml or
// .json are read: what a script names may be anything.
func readYAML(path, shown string) (*Node, []byte, error) {
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json":
	default:
		return nil, nil, fmt.Errorf("%s: not read: not a .yaml file", shown)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist), err != nil && strings.Contains(err.Error(), "not a directory"):
		return nil, nil, fmt.Errorf("%s: %w", shown, errNoConfig)
	case err != nil:
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	case !info.Mode().IsRegular() || info.Size() > yamlfile.MaxBytes:
		return nil, nil, fmt.Errorf("%s: not read: not a regular file of at most %d MiB", shown, yamlfile.MaxBytes>>20)
	}
	text, err := infile.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	}
	n, err := ParseYAML(text, shown)
	return n, text, err
}

// ParseYAML reads a YAML document as PyYAML does below OmegaConf (yamlfile.PyYAML). An empty one is an empty map. Errors begin with
// "name:line:column:".
func ParseYAML(text []byte, name string) (*Node, error) {
	return parseYAML(text, name, Source{Kind: FromYAML, File: name})
}

// parseYAML is ParseYAML for values that come from elsewhere.
func parseYAML(text []byte, name string, from Source) (*Node, error) {
	doc, err := yamlfile.ParseConfig(name, text)
	if err != nil {
		return nil, err
	}
	y := &yamlReader{from: from, made: map[*yamlfile.Node]*Node{}}
	if doc == nil {
		return &Node{Kind: Map, Source: y.at(0)}, nil
	}
	return y.node(doc), nil
}

// A yamlReader turns the tree of a file into Nodes.
type yamlReader struct {
	from Source
	made map[*yamlfile.Node]*Node // what several aliases stand for is made once
}

func (y *yamlReader) at(line int) Source {
	s := y.from
	if s.Kind != FromDefault {
		s.Line = line
	}
	return s
}

func (y *yamlReader) node(n *yamlfile.Node) *Node {
	if have := y.made[n]; have != nil {
		return have
	}
	out := &Node{Source: y.at(n.Line)}
	switch n.Kind {
	case yamlfile.Map:
		out.Kind = Map
		for _, e := range n.Keys {
			value := y.node(e.Value)
			if text, ok := value.Value.(string); ok && isSecret(e.Name, text) {
				value = &Node{Value: hidden, Source: value.Source}
			}
			if value.Kind != Scalar { // a group of keys is where its own key is
				c := *value
				c.Source.Line = e.Line
				value = &c
			}
			out.set(e.Name, value)
		}
	case yamlfile.List:
		out.Kind = List
		for _, e := range n.List {
			out.List = append(out.List, y.node(e))
		}
	default:
		out.Value = n.Plain
		switch v := n.Plain.(type) {
		case int64:
			out.Value = big.NewInt(v)
		case string:
			out.Value = maskText(v)
		}
	}
	y.made[n] = out
	return out
}
