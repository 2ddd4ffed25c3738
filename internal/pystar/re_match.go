package pystar

import (
	"errors"
	"fmt"
	"sync/atomic"

	"go.starlark.net/starlark"
)

// A match is what was found.
type match struct {
	p  *pattern
	in *searched
	at []int // in bytes, two a group; -1 where the group took no part
}

// A searched is the text of one search and its matches.
type searched struct {
	text string
	seen atomic.Uint64 // a place whose characters were counted: bytes, and characters in the lower half
}

// chars is a place in characters, as Python counts. Matches are mostly asked in their order, so it counts on from the last place.
func (s *searched) chars(t *starlark.Thread, at int) (starlark.Value, error) {
	if at < 0 {
		return starlark.MakeInt(-1), nil
	}
	seen := s.seen.Load()
	from, n := int(seen>>32), int(seen&(1<<32-1))
	if from > at {
		from, n = 0, 0
	}
	if err := chargeText(t, at-from); err != nil {
		return nil, err
	}
	n += runes(s.text[from:at])
	s.seen.Store(uint64(at)<<32 | uint64(n))
	return starlark.MakeInt(n), nil
}

// String, Type, Freeze, Truth and Hash make a match a value.
func (m *match) String() string        { return "<match>" }
func (m *match) Type() string          { return "match" }
func (m *match) Freeze()               {}
func (m *match) Truth() starlark.Bool  { return true }
func (m *match) Hash() (uint32, error) { return 0, errors.New("a match is no key") }

func (m *match) text(g int) starlark.Value {
	if m.at[2*g] < 0 {
		return starlark.None
	}
	return starlark.String(m.in.text[m.at[2*g]:m.at[2*g+1]])
}

func (m *match) number(v starlark.Value) (int, error) {
	switch x := v.(type) {
	case starlark.String:
		if g, ok := m.p.Index[string(x)]; ok {
			return g, nil
		}
	case starlark.Int:
		if g, err := starlark.AsInt32(x); err == nil && g >= 0 && g <= m.p.Groups {
			return g, nil
		}
	}
	return 0, fmt.Errorf("the pattern %q has no group %s", Cut(m.p.Source, 60), v)
}

func (m *match) group(v starlark.Value) (starlark.Value, error) {
	g, err := m.number(v)
	if err != nil {
		return nil, err
	}
	return m.text(g), nil
}

// Get implements starlark.Mapping: m["name"].
func (m *match) Get(k starlark.Value) (starlark.Value, bool, error) {
	v, err := m.group(k)
	return v, err == nil, err
}

func (m *match) AttrNames() []string {
	return []string{"end", "group", "groupdict", "groups", "span", "start", "string"}
}

func (m *match) Attr(name string) (starlark.Value, error) {
	f := func(f func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)) (starlark.Value, error) {
		return builtin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(args, kwargs)
		}), nil
	}
	switch name {
	case "string":
		return starlark.String(m.in.text), nil
	case "group":
		return f(m.groupOf)
	case "groups":
		return f(func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var without starlark.Value = starlark.None
			if err := starlark.UnpackArgs("groups", args, kwargs, "default?", &without); err != nil {
				return nil, err
			}
			out := starlark.Tuple{}
			for g := 1; g <= m.p.Groups; g++ {
				v := m.text(g)
				if v == starlark.None {
					v = without
				}
				out = append(out, v)
			}
			return out, nil
		})
	case "groupdict":
		return f(func(starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			out := starlark.NewDict(4)
			for g, n := range m.p.Names {
				if n == "" {
					continue
				}
				if err := out.SetKey(starlark.String(n), m.text(g)); err != nil {
					return nil, err
				}
			}
			return out, nil
		})
	case "start", "end", "span":
		return builtin(name, m.span), nil
	}
	return nil, nil
}

// span is start, end and span of a group.
func (m *match) span(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value = starlark.MakeInt(0)
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0, &v); err != nil {
		return nil, err
	}
	g, err := m.number(v)
	if err != nil {
		return nil, err
	}
	start, err := m.in.chars(t, m.at[2*g])
	if err != nil || b.Name() == "start" {
		return start, err
	}
	end, err := m.in.chars(t, m.at[2*g+1])
	if err != nil || b.Name() == "end" {
		return end, err
	}
	return starlark.Tuple{start, end}, nil
}

func (m *match) groupOf(args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	switch len(args) {
	case 0:
		return m.text(0), nil
	case 1:
		return m.group(args[0])
	}
	out := starlark.Tuple{}
	for _, a := range args {
		v, err := m.group(a)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
