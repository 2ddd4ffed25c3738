package launch

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/schema"
)

// Get returns the value of a key, with interpolations filled in; nil where there is none.
func (cfg *Config) Get(key string) *Node {
	n := cfg.at(key)
	if n == nil {
		return nil
	}
	return cfg.resolve(n, key, 0)
}

// Raw returns the value of a key as it stands; nil where there is none.
func (cfg *Config) Raw(key string) *Node { return cfg.at(key) }

// Set reports whether a file or the command set the key, or something below it.
func (cfg *Config) Set(key string) bool { return cfg.sets[key] }

// resolve fills in the interpolations of a node.
func (cfg *Config) resolve(n *Node, key string, deep int) *Node {
	if deep > 20 {
		return n
	}
	switch n.Kind {
	case List:
		c := &Node{Kind: List, Source: n.Source}
		for _, e := range n.List {
			c.List = append(c.List, cfg.resolve(e, key, deep+1))
		}
		return c
	case Map:
		c := &Node{Kind: Map, Source: n.Source}
		for _, k := range n.Keys {
			c.set(k, cfg.resolve(n.fields[k], join(key, k), deep+1))
		}
		return c
	}
	s, ok := n.Value.(string)
	if !ok || !strings.Contains(s, "${") {
		return n
	}
	if body, whole := wholeInterpolation(s); whole {
		if v := cfg.interpolate(body, key, deep); v != nil {
			c := *v
			c.Source = n.Source
			return &c
		}
		return n
	}
	return &Node{Value: cfg.filledIn(s, key, deep), Source: n.Source}
}

// filledIn replaces the interpolations of a text that stand for plain values.
func (cfg *Config) filledIn(s, key string, deep int) string {
	return inner.ReplaceAllStringFunc(s, func(m string) string {
		if v := cfg.interpolate(m[2:len(m)-1], key, deep); v != nil && v.Kind == Scalar {
			return hydra.Text(v.Value)
		}
		return m
	})
}

// wholeInterpolation returns what stands in "${…}" where that is all of s.
func wholeInterpolation(s string) (string, bool) {
	if !strings.HasPrefix(s, "${") {
		return "", false
	}
	open := 0
	for i, c := range s {
		switch c {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return s[2:i], i == len(s)-1
			}
		}
	}
	return "", false
}

// cutArgument cuts at the first comma that stands in no braces or brackets.
func cutArgument(s string) (first, rest string, has bool) {
	open := 0
	for i, c := range s {
		switch c {
		case '{', '[', '(':
			open++
		case '}', ']', ')':
			open--
		case ',':
			if open == 0 {
				return s[:i], s[i+1:], true
			}
		}
	}
	return s, "", false
}

// inner finds interpolations without others in them.
var inner = regexp.MustCompile(`\$\{[^${}]+\}`)

// interpolate returns what "a.b", ".a", "oc.select:a.b,1" or "oc.env:NAME,1" stands for; nil where that is unknown.
func (cfg *Config) interpolate(body, key string, deep int) *Node {
	name, args, call := strings.Cut(body, ":")
	if !call {
		return cfg.reference(body, key, deep)
	}
	first, fallback, has := cutArgument(args)
	first = cfg.filledIn(strings.TrimSpace(first), key, deep)
	switch name {
	case "oc.select":
		if v := cfg.reference(first, key, deep); v != nil && v.Value != "???" {
			return v
		}
	case "oc.env":
		if v, ok := cfg.Command.env(first); ok {
			return &Node{Value: v}
		}
	default:
		return nil
	}
	if !has {
		return &Node{}
	}
	o, err := hydra.Parse("x=" + strings.TrimSpace(fallback))
	if err != nil {
		return nil
	}
	return cfg.resolve(literal(o.Value, Source{}), key, deep+1)
}

func (cfg *Config) reference(ref, key string, deep int) *Node {
	full := ref
	if strings.HasPrefix(ref, ".") {
		up := parent(key)
		for full = ref[1:]; strings.HasPrefix(full, "."); full = full[1:] {
			up = parent(up)
		}
		full = join(up, full)
	}
	n := cfg.at(full)
	if n == nil {
		return nil
	}
	return cfg.resolve(n, full, deep+1)
}

func (c *Command) env(name string) (string, bool) {
	for _, kv := range c.Env {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			if isSecret(k, v) {
				v = hidden
			}
			return v, true
		}
	}
	return "", false
}

// Path returns a file that the configuration names as this machine would find it: relative to the command's folder, "~" for
// HOME.
func (cfg *Config) Path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, has := cfg.Command.env("HOME")
		if !has {
			home, _ = os.UserHomeDir()
		}
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(cfg.Command.Dir, name)
}

// Pos is where a source stands, for findings; of a default, the command.
func (cfg *Config) Pos(s Source) schema.Pos {
	if s.File == "" {
		s.File, s.Line = cfg.Command.File, cfg.Command.Line
	}
	if s.File == "" {
		s.File = "arguments"
	}
	p := schema.FilePos(s.File)
	if s.Line > 0 {
		p.Line = int64(s.Line)
	}
	return p
}

// toValue makes a value that rules can read.
func toValue(n *Node) schema.Value {
	switch n.Kind {
	case List:
		elems := make([]schema.Value, len(n.List))
		for i, e := range n.List {
			elems[i] = toValue(e)
		}
		return schema.ListValue(elems)
	case Map:
		t := schema.StructOf()
		values := make([]schema.Value, len(n.Keys))
		for i, k := range n.Keys {
			values[i] = toValue(n.fields[k])
			t.Fields = append(t.Fields, schema.NewField(k, schema.Type{Kind: values[i].Kind()}))
		}
		return schema.StructValue(&t, values)
	}
	switch v := n.Value.(type) {
	case bool:
		return schema.BoolValue(v)
	case *big.Int:
		if v.IsInt64() {
			return schema.IntValue(v.Int64())
		}
		return schema.TextValue(v.String())
	case float64:
		return schema.FloatValue(v)
	case string:
		return schema.TextValue(v)
	case nil:
		return schema.NullValue
	}
	return schema.TextValue(fmt.Sprint(n.Value))
}

// Leaves lists the keys of all values, sorted as they stand.
func (cfg *Config) Leaves() []string {
	var out []string
	var walk func(key string, n *Node)
	walk = func(key string, n *Node) {
		if n.Kind != Map || len(n.Keys) == 0 && key != "" {
			out = append(out, key)
			return
		}
		for _, k := range n.Keys {
			walk(join(key, k), n.fields[k])
		}
	}
	walk("", cfg.Root)
	return out
}
