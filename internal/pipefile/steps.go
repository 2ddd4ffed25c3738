package pipefile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/transform"
)

// verbNames are the names of all verbs.
func verbNames() []string {
	var out []string
	for _, v := range transform.All() {
		out = append(out, v.Name)
	}
	return out
}

func (f *File) steps(n *yamlfile.Node, open func(string) (string, error)) {
	if n.Kind == yamlfile.List && len(n.List) == 0 {
		f.Fault(n.Pos, "steps is an empty list: '- drop: [question]'")
		return
	}
	if n.Kind != yamlfile.List {
		f.Fault(n.Pos, "steps is %s, expected a list: '- drop: [question]'", n)
		return
	}
	for _, e := range n.List {
		f.step(e, open)
	}
	f.order()
}

// step reads one step: a verb with its arguments, and beside it the splits that it is for.
func (f *File) step(n *yamlfile.Node, open func(string) (string, error)) {
	if s, ok := n.Plain.(string); ok && n.Kind == yamlfile.Plain {
		if v := transform.Find(s); v != nil { // "- index"
			n = &yamlfile.Node{Pos: n.Pos, Kind: yamlfile.Map, Keys: []yamlfile.Entry{{Pos: n.Pos, Name: s, Value: &yamlfile.Node{Pos: n.Pos, Kind: yamlfile.Map}}}}
		} else {
			f.noVerb(n.Pos, s)
			return
		}
	}
	if n.Kind != yamlfile.Map {
		f.Fault(n.Pos, "a step is %s, expected a verb with its arguments: '- drop: [question]'", n)
		return
	}
	var out Step
	for _, e := range n.Keys {
		v := transform.Find(e.Name)
		switch {
		case e.Name == "splits":
			out.Splits = f.Texts(e.Value, "splits")
		case v == nil && out.Verb != nil && slices.ContainsFunc(out.Verb.Args, func(a transform.Arg) bool { return a.Name == e.Name }):
			f.Fault(e.Pos, "%s is an argument of %s: indent it further", e.Name, out.Verb.Name)
			return
		case v == nil:
			f.noVerb(e.Pos, e.Name)
			return
		case out.Verb != nil:
			f.Fault(e.Pos, "a step has one verb: put a dash before %s", e.Name)
			return
		default:
			out.Verb, out.at = v, e.Pos
			out.Where = fmt.Sprintf("%s:%d:%d", f.Name, e.Line, e.Column)
			if !f.args(&out, e.Value, open) {
				return
			}
		}
	}
	if out.Verb == nil {
		f.Fault(n.Pos, "a step without a verb (%s)", strings.Join(verbNames(), ", "))
		return
	}
	if _, err := out.make("train"); err != nil {
		f.argFault(&out, err)
		return
	}
	f.Steps = append(f.Steps, out)
}

func (f *File) noVerb(at yamlfile.Pos, name string) {
	if help := later[name]; help != "" {
		f.Fault(at, "step %s needs all rows at once and does not exist: %s", name, help)
		return
	}
	if first, _, joined := strings.Cut(name, " - "); joined {
		f.Fault(at, "the lines of %q are joined: align the dashes of all steps", first)
		return
	}
	f.Unknown(at, "step", name, verbNames())
}

// args reads the arguments of a step: a mapping, or a plain value or list for the argument that the verb says. It is false where
// a fault makes a look at them useless.
func (f *File) args(s *Step, n *yamlfile.Node, open func(string) (string, error)) bool {
	s.Args, s.args = transform.Args{}, map[string]yamlfile.Pos{}
	if n.Kind != yamlfile.Map {
		if n.Kind == yamlfile.Plain && n.Plain == nil {
			return true
		}
		if s.Verb.Short == "" {
			f.Fault(n.Pos, "step %s: %s, expected arguments (%s)", s.Verb.Name, n, argNames(s.Verb))
			return false
		}
		n = &yamlfile.Node{Pos: n.Pos, Kind: yamlfile.Map, Keys: []yamlfile.Entry{{Pos: n.Pos, Name: s.Verb.Short, Value: n}}}
	}
	for _, e := range n.Keys {
		s.Args[e.Name], s.args[e.Name] = value(e.Value), e.Pos
		i := slices.IndexFunc(s.Verb.Args, func(a transform.Arg) bool { return a.Name == e.Name })
		if i < 0 || s.Verb.Args[i].Type != FileType {
			continue
		}
		name := f.Text(e.Value, "argument "+e.Name)
		if name == "" {
			continue
		}
		text, err := open(name)
		if err != nil {
			f.Fault(e.Value.Pos, "argument %s: %v", e.Name, err)
			return false
		}
		s.Args[e.Name] = transform.FileText{Name: name, Text: text}
	}
	return true
}

// FileType is the Type of an argument that names a file; the verb gets a transform.FileText.
const FileType = "file"

func argNames(v *transform.Verb) string {
	names := make([]string, len(v.Args))
	for i, a := range v.Args {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}

// argFault notes a fault of the arguments, at the argument where it is known.
func (f *File) argFault(s *Step, err error) {
	at := s.at
	var arg *transform.ArgError
	if errors.As(err, &arg) {
		if p, ok := s.args[arg.Arg]; ok {
			at = p
		}
	}
	for line := range strings.Lines(err.Error()) { // all faults of a script are reported
		f.Fault(at, "%s", strings.TrimSuffix(line, "\n"))
	}
}

// make makes the transform for a split.
func (s *Step) make(split string) (transform.RowStep, error) { return s.Verb.For(s.Args, split) }

// For reports whether the step is for rows of that split.
func (s *Step) For(split string) bool { return s.Splits == nil || slices.Contains(s.Splits, split) }

// Transforms makes the steps of a split: from is what its files belong to, split what it becomes, which differ where a Divider cuts it.
func (f *File) Transforms(from, split string) ([]transform.RowStep, error) {
	var out []transform.RowStep
	at := from
	for i := range f.Steps {
		s := &f.Steps[i]
		if !s.For(at) {
			continue
		}
		t, err := s.make(split)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cmp.Or(s.Where, f.Name), err)
		}
		if d, ok := t.(transform.Divider); ok && d.Names() != nil {
			t, at = d.Part(split), split
		}
		if s.Where == "" {
			out = append(out, t)
			continue
		}
		out = append(out, transform.Located{RowStep: t, Where: s.Where, Verb: s.Verb.Name})
	}
	return out, nil
}

// Outputs are the splits that the rows of a split become: itself, or what a Divider cuts it into.
func (f *File) Outputs(from string) []string {
	for i := range f.Steps {
		s := &f.Steps[i]
		if t, err := s.make(from); err == nil && s.For(from) {
			if d, ok := t.(transform.Divider); ok && d.Names() != nil {
				return d.Names()
			}
		}
	}
	return []string{from}
}

// order checks what steps ask of those before them.
func (f *File) order() {
	chooses := ""
	cuts := 0
	for i := range f.Steps {
		s := &f.Steps[i]
		switch name := s.Verb.Name; name {
		case "limit":
			if chooses != "" {
				f.Fault(s.at, "step limit counts the rows that are read: put it before step %s, which removes rows", chooses)
			}
		case "split":
			if cuts++; cuts > 1 {
				f.Fault(s.at, "a second step split: one cuts the rows into all the splits there are to be")
			}
			chooses = name
		case "filter", "sample", "map", "dedup", "explode", "shuffle":
			chooses = name
		}
	}
}

// value returns n as arguments have it.
func value(n *yamlfile.Node) any {
	switch n.Kind {
	case yamlfile.List:
		out := make([]any, len(n.List))
		for i, e := range n.List {
			out[i] = value(e)
		}
		return out
	case yamlfile.Map:
		out := make(transform.Object, len(n.Keys))
		for i, e := range n.Keys {
			out[i] = transform.Member{Name: e.Name, Value: value(e.Value)}
		}
		return out
	}
	return n.Plain
}
