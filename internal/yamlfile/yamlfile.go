// Package yamlfile reads YAML files that users write, a pipeline or a project: values with their places, so that every fault is reported with line
// and column, the nearest name, and all of them at once.
package yamlfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// A Reader reads one file and gathers its faults.
type Reader struct {
	Name string // as the user named it; messages begin with it
	What string // what such a file is called: "a pipeline"
	Init string // the command that writes a first one

	faults []*Error
}

// An Error is a fault of the file, with its place.
type Error struct {
	File         string
	Line, Column int // from 1
	Message      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors are all faults of a file that were found, in their order.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults, each of which is a line of Error.
func (e Errors) Unwrap() []error {
	faults := make([]error, len(e))
	for i, x := range e {
		faults[i] = x
	}
	return faults
}

// ErrorAt returns a fault at a place.
func (r *Reader) ErrorAt(at Pos, format string, args ...any) *Error {
	return &Error{r.Name, at.Line, at.Column, fmt.Sprintf(format, args...)}
}

// Fault notes a fault; reading goes on, so that all are reported at once.
func (r *Reader) Fault(at Pos, format string, args ...any) {
	if len(r.faults) < 20 {
		r.faults = append(r.faults, r.ErrorAt(at, format, args...))
	}
}

// Err returns all faults that were noted, in their order, as Errors; nil where there are none.
func (r *Reader) Err() error {
	if len(r.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(r.faults, func(a, b *Error) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return Errors(r.faults)
}

// A Key is one that a mapping may have; On makes it.
type Key struct {
	name string
	read func(*Node)
}

// On says what reads the value of a key.
func On(name string, read func(*Node)) Key { return Key{name, read} }

// Mapping reads a mapping with these keys and no others.
func (r *Reader) Mapping(n *Node, what string, known ...Key) {
	if n.Kind != Map {
		r.Fault(n.Pos, "%s is %s, expected a mapping", what, n)
		return
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
	}
	for _, e := range n.Keys {
		i := slices.Index(names, e.Name)
		if i < 0 {
			r.Unknown(e.Pos, "key", e.Name, names)
			continue
		}
		known[i].read(e.Value)
	}
}

// maxNames is how many names a message lists.
const maxNames = 40

// Unknown notes a name that is none of names.
func (r *Reader) Unknown(at Pos, what, name string, names []string) {
	if near := schema.Nearest(name, names); near != "" {
		r.Fault(at, "unknown %s %q; did you mean %q?", what, name, near)
		return
	}
	if len(names) > maxNames {
		r.Fault(at, "unknown %s %q", what, name)
		return
	}
	r.Fault(at, "unknown %s %q (%s)", what, name, strings.Join(names, ", "))
}

// Texts reads a text or a list of texts.
func (r *Reader) Texts(n *Node, what string) []string {
	list := n.List
	if n.Kind != List {
		list = []*Node{n}
	}
	var out []string
	for _, e := range list {
		s, ok := e.Plain.(string)
		if e.Kind != Plain || !ok || s == "" {
			r.Fault(e.Pos, "%s: %s, expected a text", what, e)
			continue
		}
		out = append(out, s)
	}
	if n.Kind == List && len(list) == 0 {
		r.Fault(n.Pos, "%s is an empty list", what)
	}
	return out
}

// Text reads a text.
func (r *Reader) Text(n *Node, what string) string {
	s, ok := n.Plain.(string)
	if n.Kind != Plain || !ok {
		r.Fault(n.Pos, "%s is %s, expected a text", what, n)
	}
	return s
}
