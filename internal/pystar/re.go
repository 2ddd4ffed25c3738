package pystar

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/rlprep/rlprep/internal/pyre"
)

var reModule = func() *starlarkstruct.Module {
	m := &starlarkstruct.Module{Name: "re", Members: starlark.StringDict{
		"escape": builtin("escape", reEscape),
		"compile": builtin("compile", func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var p starlark.Value
			flags := 0
			if err := starlark.UnpackArgs("compile", args, kwargs, "pattern", &p, "flags?", &flags); err != nil {
				return nil, err
			}
			return compiled(t, p, flags)
		}),
	}}
	for name, flag := range map[string]pyre.Flags{
		"I": pyre.IgnoreCase, "IGNORECASE": pyre.IgnoreCase, "M": pyre.Multiline, "MULTILINE": pyre.Multiline, "S": pyre.DotAll, "DOTALL": pyre.DotAll,
		"A": pyre.ASCII, "ASCII": pyre.ASCII, "X": pyre.Verbose, "VERBOSE": pyre.Verbose, "U": pyre.Unicode, "UNICODE": pyre.Unicode,
	} {
		m.Members[name] = starlark.MakeInt(int(flag))
	}
	for name, f := range patternMethods {
		m.Members[name] = builtin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) == 0 {
				return nil, fmt.Errorf("%s: no pattern", name)
			}
			flags := 0
			var rest []starlark.Tuple
			for _, kv := range kwargs {
				if string(kv[0].(starlark.String)) != "flags" {
					rest = append(rest, kv)
				} else if n, err := starlark.AsInt32(kv[1]); err == nil {
					flags = n
				}
			}
			pos := args[1:]
			if at := flagsAt[name]; len(pos) > at {
				n, err := starlark.AsInt32(pos[at])
				if err != nil || len(pos) > at+1 {
					return nil, fmt.Errorf("%s: expected flags at the end", name)
				}
				flags, pos = n, pos[:at]
			}
			p, err := compiled(t, args[0], flags)
			if err != nil {
				return nil, err
			}
			return f(t, p, pos, rest)
		})
	}
	return m
}()

// flagsAt is the place of flags behind the pattern.
var flagsAt = map[string]int{"search": 1, "match": 1, "fullmatch": 1, "findall": 1, "finditer": 1, "sub": 3, "subn": 3, "split": 2}

// A pattern is a compiled regular expression, as a value.
type pattern struct{ *pyre.Regexp }

// A patternCache holds the patterns that a worker's rows have named by their texts.
type patternCache struct {
	kept map[patternKey]*keptPattern
	size int // of their texts
}

type patternKey struct {
	source string
	flags  int
}

type keptPattern struct {
	*pattern
	row int // the last row that named it
}

// maxPatterns is the size of the texts that a cache holds: where they are made of rows, keeping all would fill the memory.
const maxPatterns = 1 << 16

// compiled returns the pattern that v is, or compiles its text. A row is charged for a pattern when it names it first, whether or not it is
// compiled already: what a row may do does not depend on other rows.
func compiled(t *starlark.Thread, v starlark.Value, flags int) (*pattern, error) {
	if p, ok := v.(*pattern); ok {
		if flags != 0 {
			return nil, errors.New("flags belong to compile where the pattern is compiled")
		}
		return p, nil
	}
	s, ok := v.(starlark.String)
	if !ok {
		return nil, fmt.Errorf("a pattern is %s, expected text", KindName(v))
	}
	w, ok := t.Local("worker").(*Worker)
	if !ok {
		return nil, ErrTooMuch
	}
	k := w.patterns.kept[patternKey{string(s), flags}]
	if k != nil && k.row == w.row {
		return k.pattern, nil
	}
	if err := charge(t, 100+8*len(s)); err != nil {
		return nil, err
	}
	if k != nil {
		k.row = w.row
		return k.pattern, nil
	}
	p, err := compile(strings.Clone(string(s)), flags)
	if err != nil {
		return nil, err
	}
	w.patterns.keep(patternKey{p.Source, flags}, &keptPattern{p, w.row})
	return p, nil
}

func (c *patternCache) keep(key patternKey, k *keptPattern) {
	if c.size += 100 + len(key.source); c.kept == nil || c.size > maxPatterns {
		c.kept, c.size = map[patternKey]*keptPattern{}, 100+len(key.source)
	}
	c.kept[key] = k
}

func compile(source string, flags int) (*pattern, error) {
	re, err := pyre.Compile(source, pyre.Flags(flags))
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", Cut(source, 60), err)
	}
	return &pattern{re}, nil
}

// String, Type, Freeze, Truth and Hash make a pattern a value.
func (p *pattern) String() string        { return "re.compile(" + strconv.Quote(p.Source) + ")" }
func (p *pattern) Type() string          { return "pattern" }
func (p *pattern) Freeze()               {}
func (p *pattern) Truth() starlark.Bool  { return true }
func (p *pattern) Hash() (uint32, error) { return 0, errors.New("a pattern is no key") }

func (p *pattern) Attr(name string) (starlark.Value, error) {
	if name == "pattern" {
		return starlark.String(p.Source), nil
	}
	f := patternMethods[name]
	if f == nil {
		return nil, nil
	}
	return builtin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return f(t, p, args, kwargs)
	}), nil
}

func (p *pattern) AttrNames() []string {
	return []string{"findall", "finditer", "fullmatch", "match", "pattern", "search", "split", "sub", "subn"}
}
