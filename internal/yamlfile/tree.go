package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// What a file may be at most; far beyond what anybody writes, and far below what would hurt.
const (
	MaxBytes  = 1 << 20 // of the file
	maxDepth  = 64      // of values in values
	maxValues = 100_000 // with every alias counted as all that it stands for
)

// A Dialect says how the plain scalars of a file are typed, and what the file may use.
type Dialect uint8

// The dialects.
const (
	// Own is that of rlprep's own files: the types of YAML 1.2, and no anchors, aliases, merge keys and tags.
	Own Dialect = iota
	// PyYAML is that of the files that a trainer reads, as PyYAML 6 reads them below OmegaConf: the types of YAML 1.1, where "yes" is true
	// and 010 is 8, with OmegaConf's floats (1e-6) and without timestamps. Values that both read are equal; this reader also takes what YAML
	// 1.2 allows and PyYAML refuses: tabs between values, empty keys, an anchor that is defined twice, = and << as values.
	PyYAML
)

// A Pos is a place in the file, from 1.
type Pos struct{ Line, Column int }

// A Node is a value of the file with its place: a plain value, a list or a mapping.
type Node struct {
	Pos
	Plain any // string, int64, *big.Int beyond int64, float64, bool, nil; nil for a list and a mapping
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
func (r *Reader) Parse(text []byte) (*Node, error) {
	root, err := r.parse(text, Own)
	if err == nil && root == nil {
		err = r.ErrorAt(Pos{1, 1}, "the file is empty: '%s' writes one", r.Init)
	}
	return root, err
}

// ParseConfig reads a configuration of a trainer, in the dialect PyYAML; name is what messages call it. It returns nil for a file without
// a value. The error is *Error.
func ParseConfig(name string, text []byte) (*Node, error) {
	r := &Reader{Name: name, What: "a configuration"}
	return r.parse(text, PyYAML)
}

// parse checks the limits that hold before the library's parser, parses, and builds the tree.
func (r *Reader) parse(text []byte, d Dialect) (root *Node, err error) {
	if len(text) > MaxBytes {
		return nil, r.ErrorAt(Pos{1, 1}, "the file has %d bytes: %s has at most %d", len(text), r.What, MaxBytes)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if at, what := unreadable(text); what != "" {
		return nil, r.ErrorAt(at, "%s", what)
	}
	if at, ok := crowded(text); ok {
		return nil, r.ErrorAt(at, "more than %d of the signs , [ { ? & * !: %s has fewer values", 2*maxValues, r.What)
	}
	defer func() {
		if p := recover(); p != nil { // the library's, of damaged text
			root, err = nil, r.ErrorAt(Pos{1, 1}, "read YAML: %v", p)
		}
	}()
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, r.ErrorAt(Pos{1, 1}, "read YAML: %v", err)
	}
	var first, second yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, r.syntaxError(text, err)
	}
	if err := loader.Load(&second); err == nil {
		return nil, r.ErrorAt(place(document(&second)), "a second document: %s has one", r.What)
	} else if !errors.Is(err, io.EOF) {
		return nil, r.syntaxError(text, err)
	}
	b := &builder{r: r, dialect: d, built: map[*yaml.Node]built{}}
	body := document(&first)
	if body.Kind == yaml.ScalarNode && body.Value == "" && body.Style == 0 && body.Anchor == "" {
		return nil, nil // comments, or "---", alone
	}
	out, err := b.node(body, 0)
	return out.node, err
}

// document is the value of a document.
func document(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		return n.Content[0]
	}
	return n
}

// crowded reports where text has more of YAML's signs than a file with maxValues values needs: the parser takes some hundred bytes of
// memory for each.
func crowded(text []byte) (Pos, bool) {
	n := 0
	for i, c := range text {
		switch c {
		case ',', '[', '{', '?', '&', '*', '!':
			if n++; n > 2*maxValues {
				before := text[:i]
				return Pos{bytes.Count(before, []byte("\n")) + 1, i - bytes.LastIndexByte(before, '\n')}, true
			}
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

// syntaxError is the library's error with the place in our form. What was begun and never ended is reported where it begins.
func (r *Reader) syntaxError(text []byte, err error) error {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return r.ErrorAt(Pos{1, 1}, "read YAML: %s", first)
	}
	at, from, msg := Pos{max(e.Mark.Line, 1), max(e.Mark.Column, 1)}, e.ContextMark, e.Message
	switch {
	case charAt(text, at) == '\t':
		msg = "a tab: YAML is indented by blanks"
	case strings.Contains(msg, "mapping values are not allowed"):
		msg += ": check the indentation, and quote a text that holds ': '"
	case strings.Contains(msg, "could not find expected ':'"):
		msg += ": a line without a colon, or with another indentation than the lines above"
	case strings.Contains(e.ContextMsg, "flow") && at.Line == from.Line:
		msg += `: in {…} and […], quote a text that holds ':', '{', '}', '[', ']' or ',', and put a comma between two keys`
	case strings.Contains(e.ContextMsg, "block"):
		msg += ": check the indentation"
	}
	if (strings.Contains(e.ContextMsg, "flow") || strings.Contains(e.ContextMsg, "quoted")) && from.Line > 0 && from.Line != at.Line {
		msg += fmt.Sprintf(" on line %d (%s)", at.Line, e.ContextMsg)
		at = Pos{from.Line, max(from.Column, 1)}
	}
	return r.ErrorAt(at, "%s", msg)
}

// charAt is the character at a place of text, 0 where there is none.
func charAt(text []byte, at Pos) rune {
	line := 1
	for l := range bytes.Lines(text) {
		if line++; line <= at.Line {
			continue
		}
		if runes := []rune(string(l)); at.Column <= len(runes) {
			return runes[at.Column-1]
		}
		break
	}
	return 0
}

// place is where a value begins.
func place(n *yaml.Node) Pos { return Pos{max(n.Line, 1), max(n.Column, 1)} }

// A builder turns the library's tree into ours.
type builder struct {
	r       *Reader
	dialect Dialect
	values  int
	built   map[*yaml.Node]built // nodes with anchors that are done
}

// A built node knows how many values it has, and how deep they are nested.
type built struct {
	node         *Node
	values, high int
}

// count counts values, at n.
func (b *builder) count(n *yaml.Node, values int) error {
	if b.values += values; b.values > maxValues {
		return b.r.ErrorAt(place(n), "more than %d values after expanding aliases: %s has fewer", maxValues, b.r.What)
	}
	return nil
}

func (b *builder) node(in *yaml.Node, depth int) (built, error) {
	if in.Kind == yaml.AliasNode {
		return b.alias(in, depth)
	}
	at := place(in)
	if depth > maxDepth {
		return built{}, b.tooDeep(at)
	}
	if err := b.count(in, 1); err != nil {
		return built{}, err
	}
	if b.dialect == Own && in.Anchor != "" {
		return built{}, b.anchored(at)
	}
	if b.dialect == Own && in.Style&yaml.TaggedStyle != 0 {
		return built{}, b.r.ErrorAt(at, "tags (%s) are not supported", in.Tag)
	}
	out := built{node: &Node{Pos: at}}
	first := b.values
	var err error
	switch in.Kind {
	case yaml.MappingNode:
		out.node.Kind = Map
		out.high, err = b.mapping(out.node, in, depth)
	case yaml.SequenceNode:
		out.node.Kind = List
		for _, c := range in.Content {
			e, err := b.node(c, depth+1)
			if err != nil {
				return built{}, err
			}
			out.node.List = append(out.node.List, e.node)
			out.high = max(out.high, e.high+1)
		}
	default:
		out.node.Plain, err = b.scalar(in)
	}
	out.values = b.values - first + 1
	if in.Anchor != "" {
		b.built[in] = out
	}
	return out, err
}

func (b *builder) tooDeep(at Pos) error {
	return b.r.ErrorAt(at, "values are nested more than %d deep", maxDepth)
}

func (b *builder) anchored(at Pos) error {
	return b.r.ErrorAt(at, "anchors and aliases are not supported: write the value out")
}

// alias returns what an alias stands for, counted again.
func (b *builder) alias(in *yaml.Node, depth int) (built, error) {
	at := place(in)
	if b.dialect == Own {
		return built{}, b.anchored(at)
	}
	out, done := b.built[in.Alias]
	switch {
	case !done:
		return built{}, b.r.ErrorAt(at, "the alias *%s refers to a value that contains it", in.Value)
	case depth+out.high > maxDepth:
		return built{}, b.tooDeep(at)
	}
	return out, b.count(in, out.values)
}

// mapping adds the entries of a mapping and returns how deep they are nested. Keys that a merge key brings are put first, as PyYAML does;
// the mapping's own replace them.
func (b *builder) mapping(out *Node, in *yaml.Node, depth int) (high int, err error) {
	index := map[string]int{}
	var merged []*Node
	for i := 0; i+1 < len(in.Content); i += 2 {
		k, v := in.Content[i], in.Content[i+1]
		value, err := b.node(v, depth+1)
		if err != nil {
			return 0, err
		}
		high = max(high, value.high+1)
		if isMerge(k) && b.dialect == PyYAML {
			from, err := b.merge(v, value.node)
			if err != nil {
				return 0, err
			}
			merged = append(merged, from...)
			continue
		}
		name, ok := b.key(k)
		if !ok {
			return 0, b.r.ErrorAt(place(k), "a key is a name; merge keys, anchors and lists are not supported as keys; a text with {{…}} needs quotes")
		}
		if have, twice := index[name]; twice {
			return 0, b.r.ErrorAt(place(k), "duplicate key %q (first on line %d)", name, out.Keys[have].Line)
		}
		index[name] = len(out.Keys)
		out.Keys = append(out.Keys, Entry{place(k), name, value.node})
	}
	if len(merged) > 0 {
		out.Keys, err = b.join(in, merged, out.Keys, index)
	}
	return high, err
}

// isMerge reports whether a key is "<<".
func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && k.Style == 0
}

// merge lists the mappings that a merge key names, the one that wins first.
func (b *builder) merge(at *yaml.Node, v *Node) ([]*Node, error) {
	list := []*Node{v}
	if v.Kind == List {
		list = v.List
	}
	for _, m := range list {
		if m.Kind != Map {
			return nil, b.r.ErrorAt(place(at), "<< merges %s, expected a mapping or a list of mappings", m)
		}
	}
	return list, nil
}

// join puts the entries of merged mappings before own, whose names are in index.
func (b *builder) join(in *yaml.Node, merged []*Node, own []Entry, index map[string]int) ([]Entry, error) {
	var all []Entry
	for _, m := range merged {
		if err := b.count(in, len(m.Keys)); err != nil {
			return nil, err
		}
		for _, e := range m.Keys {
			if _, have := index[e.Name]; !have {
				index[e.Name] = -1
				all = append(all, e)
			}
		}
	}
	return append(all, own...), nil
}

// key returns a key as it is written: numbers and words such as yes are names here. A key may be an alias where values may.
func (b *builder) key(k *yaml.Node) (string, bool) {
	if k.Kind == yaml.AliasNode && b.dialect == PyYAML {
		k = k.Alias
	}
	if k.Kind != yaml.ScalarNode || b.dialect == Own && (k.Anchor != "" || isMerge(k) || k.Style&yaml.TaggedStyle != 0) {
		return "", false
	}
	return k.Value, true
}

// scalar types a scalar: what is quoted, or written as a block, is a text.
func (b *builder) scalar(in *yaml.Node) (any, error) {
	plain := in.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch {
	case in.Style&yaml.TaggedStyle != 0:
		return b.tagged(in)
	case !plain:
		return in.Value, nil
	case b.dialect == PyYAML:
		return pyScalar(in.Value), nil
	}
	v, err := ownScalar(in.Value)
	if err != nil {
		return nil, b.r.ErrorAt(place(in), "%v", err)
	}
	return v, nil
}

// tagged types a scalar with a tag as PyYAML's SafeLoader does.
func (b *builder) tagged(in *yaml.Node) (any, error) {
	switch in.Tag {
	case "!!str", "!!binary", "!!timestamp":
		return in.Value, nil
	case "!!null":
		return nil, nil
	}
	v := pyScalar(in.Value)
	ok := false
	switch in.Tag {
	case "!!bool":
		_, ok = v.(bool)
	case "!!int":
		switch v.(type) {
		case int64, *big.Int:
			ok = true
		}
	case "!!float":
		switch x := v.(type) {
		case float64:
			ok = true
		case int64:
			v, ok = float64(x), true
		}
	default:
		return nil, b.r.ErrorAt(place(in), "unknown tag %s", in.Tag)
	}
	if !ok {
		return nil, b.r.ErrorAt(place(in), "%q has the tag %s", in.Value, in.Tag)
	}
	return v, nil
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
