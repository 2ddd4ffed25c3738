package transform

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
)

// An ArgReader reads the arguments of one use of a verb that stands in another package, as the verbs here read theirs.
type ArgReader struct{ r *argReader }

// NewArgs checks that the verb has every argument that is given and that every required one is given.
func NewArgs(verb string, args Args) *ArgReader { return &ArgReader{newArgs(verb, args)} }

// Text returns a text, or without where it is not given.
func (a *ArgReader) Text(name, without string) string { return a.r.text(name, without) }

// Fields returns a mapping of names to types as fields, in order.
func (a *ArgReader) Fields(name string) []schema.Field {
	v, given := a.r.args[name]
	if !given {
		return nil
	}
	m, ok := mapping(v)
	if !ok {
		a.Fail(name, "argument %s is %s, expected a mapping of names to types", name, jsonKind(v))
	}
	var out []schema.Field
	for _, x := range m {
		text, ok := x.Value.(string)
		if !ok {
			a.Fail(name, "argument %s: the type of %s is %s, expected a text", name, x.Name, jsonKind(x.Value))
			continue
		}
		t, err := ParseType(text)
		if err != nil {
			a.Fail(name, "argument %s: %s: %w", name, x.Name, err)
		}
		out = append(out, schema.NewField(x.Name, t))
	}
	return out
}

// Fail notes a fault of an argument, "" for none or several; the first is kept.
func (a *ArgReader) Fail(arg, format string, args ...any) {
	a.r.failAt(arg, "%w", fmt.Errorf(format, args...))
}

// Err returns the first fault.
func (a *ArgReader) Err() error { return a.r.err }
