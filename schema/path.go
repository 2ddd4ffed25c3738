package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// A Path names a column or a part of one as a user writes it: "agent_name", "extra_info.index", "prompt[].role".
// "[]" steps into the elements of a list. A name that holds one of . [ ] " , = or a blank stands in double quotes, with
// Go's escapes. A Path is kept in its canonical form, so equal paths are equal strings; ParsePath makes one from text.
type Path string

// Elem is the step of a Path into the elements of a list.
const Elem = "[]"

// ParsePath reads a path as a user writes it and returns its canonical form.
func ParsePath(s string) (Path, error) {
	steps, err := split(s)
	if err != nil {
		return "", err
	}
	return MakePath(steps...), nil
}

// MakePath joins steps, each the name of a field or Elem.
func MakePath(steps ...string) Path {
	var b strings.Builder
	for i, s := range steps {
		if s == Elem {
			b.WriteString(s)
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(quote(s))
	}
	return Path(b.String())
}

func quote(name string) string {
	if name == "" || strings.ContainsAny(name, ".[]\"\\,= \t\n\r") {
		return strconv.Quote(name)
	}
	return name
}

func split(s string) ([]string, error) {
	var steps []string
	rest := s
	for first := true; rest != "" || first; first = false {
		if !first {
			if strings.HasPrefix(rest, Elem) {
				steps = append(steps, Elem)
				rest = rest[len(Elem):]
				continue
			}
			if rest[0] != '.' {
				return nil, fmt.Errorf("path %q: expected '.' or '[]' before %q", s, rest)
			}
			rest = rest[1:]
		}
		var name string
		if strings.HasPrefix(rest, `"`) {
			q, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("path %q: unclosed quote", s)
			}
			if name, err = strconv.Unquote(q); err != nil {
				return nil, fmt.Errorf("path %q: %w", s, err)
			}
			rest = rest[len(q):]
		} else {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			name, rest = rest[:end], rest[end:]
			if name == "" {
				return nil, fmt.Errorf("path %q: empty name", s)
			}
			if strings.ContainsAny(name, "]\", =\t\n\r") {
				return nil, fmt.Errorf("path %q: name %q must be in double quotes", s, name)
			}
		}
		steps = append(steps, name)
	}
	return steps, nil
}

// Steps returns the names of the path, with Elem for each step into a list. It returns nil for a path that is not in
// canonical form.
func (p Path) Steps() []string {
	steps, err := split(string(p))
	if err != nil {
		return nil
	}
	return steps
}

// Top returns the name of the top-level column.
func (p Path) Top() string {
	if s := p.Steps(); len(s) > 0 {
		return s[0]
	}
	return ""
}

// Parent returns the path without its last step, "" for a top-level column.
func (p Path) Parent() Path {
	s := p.Steps()
	if len(s) < 2 {
		return ""
	}
	return MakePath(s[:len(s)-1]...)
}

// Base returns the last step.
func (p Path) Base() string {
	s := p.Steps()
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1]
}

// Field returns the path of the field of that name below p; p may be "".
func (p Path) Field(name string) Path {
	if p == "" {
		return Path(quote(name))
	}
	return p + "." + Path(quote(name))
}

// Elem returns the path of the elements of the list at p.
func (p Path) Elem() Path { return p + Elem }

// Under reports whether p is q or lies below it.
func (p Path) Under(q Path) bool {
	if !strings.HasPrefix(string(p), string(q)) {
		return false
	}
	rest := p[len(q):]
	return rest == "" || rest[0] == '.' || rest[0] == '['
}
