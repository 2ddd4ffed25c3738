// Package pipefile reads pipeline files: YAML that says what is read, by which steps, what the rows are judged as, and how they are
// written. Steps are the verbs of the registry in package transform; their arguments are checked by what each verb declares, and
// the JSON Schema is made from the same declarations.
package pipefile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A File is a pipeline file, read and checked as far as it can be without the data.
type File struct {
	Name        string // as the user named it; messages begin with it
	Sources     []Source
	Columns     []schema.Field // declared, for line formats; nil: found out from the rows
	Steps       []Step
	Rows        rule.Kind   // Any: told by the columns
	Target      rule.Target // the zero Target where the file names none
	Agents      []string    // agent loops that the launch registers
	DataSources []string    // values of data_source that a reward function of the user's scores
	Expects     []string    // ids of rules whose findings are at most warnings
	Shards      int         // 0: not said
	Compression string      // "": not said

	faults []*Error
}

// A Source is where the rows of a split come from. Split "" is a source whose files say their splits by their names.
type Source struct {
	Split string
	Names []string // files, folders, globs, as written
}

// A Step is one step as it is written.
type Step struct {
	Verb   *transform.Verb
	Args   transform.Args
	Splits []string // that it is for; nil: all
	Where  string   // "pipeline.yaml:7:5"

	at   pos
	args map[string]pos
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

// SplitName is what stands for the name of the split in the arguments of steps.
const SplitName = "${split}"

// later are the steps that people look for and that need all rows at once.
var later = []string{"sort", "shuffle", "dedup", "deduplicate", "mix", "interleave", "concat", "join", "merge", "group"}

// Parse reads a pipeline file. name is what messages call it; open reads a file that an argument names, such as a script, as written.
// The error is *Error or Errors.
func Parse(name string, text []byte, open func(string) (string, error)) (*File, error) {
	f := &File{Name: name}
	root, err := f.parseYAML(text)
	if err != nil {
		return nil, err
	}
	f.file(root, open)
	if len(f.faults) > 0 {
		slices.SortStableFunc(f.faults, func(a, b *Error) int {
			if a.Line != b.Line {
				return a.Line - b.Line
			}
			return a.Column - b.Column
		})
		return nil, Errors(f.faults)
	}
	return f, nil
}

func (f *File) errorAt(at pos, format string, args ...any) *Error {
	return &Error{f.Name, at.line, at.column, fmt.Sprintf(format, args...)}
}

// fault notes a fault; reading goes on, so that all are told at once.
func (f *File) fault(at pos, format string, args ...any) {
	if len(f.faults) < 20 {
		f.faults = append(f.faults, f.errorAt(at, format, args...))
	}
}

// A key is one that a mapping may have.
type key struct {
	name string
	read func(*node)
}

// keys reads a mapping with these keys and no others.
func (f *File) keys(n *node, what string, known ...key) {
	if n.kind != mapNode {
		f.fault(n.pos, "%s is %s, expected a mapping", what, n)
		return
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
	}
	for _, e := range n.keys {
		i := slices.Index(names, e.name)
		if i < 0 {
			f.unknown(e.pos, "key", e.name, names)
			continue
		}
		known[i].read(e.value)
	}
}

// unknown notes a name that is none of names.
func (f *File) unknown(at pos, what, name string, names []string) {
	if near := schema.Nearest(name, names); near != "" {
		f.fault(at, "unknown %s %q; did you mean %q?", what, name, near)
		return
	}
	f.fault(at, "unknown %s %q (%s)", what, name, strings.Join(names, ", "))
}

func (f *File) file(root *node, open func(string) (string, error)) {
	if root.kind != mapNode {
		f.fault(root.pos, "the file is %s, expected a mapping with the key steps", root)
		return
	}
	f.keys(root, "the file",
		key{"sources", f.sources},
		key{"columns", f.columns},
		key{"steps", func(n *node) { f.steps(n, open) }},
		key{"contract", f.contract},
		key{"output", f.output},
	)
	if _, ok := root.get("steps"); !ok {
		f.fault(root.pos, "key steps is missing")
	}
}

func (f *File) sources(n *node) {
	if n.kind != mapNode {
		f.Sources = []Source{{Names: f.texts(n, "sources")}}
		return
	}
	if len(n.keys) == 0 {
		f.fault(n.pos, "sources names no split")
	}
	for _, e := range n.keys {
		if !isSplit(e.name) {
			f.fault(e.pos, "split %q: a split is named by letters, digits and underscores", e.name)
		}
		f.Sources = append(f.Sources, Source{Split: e.name, Names: f.texts(e.value, "sources of "+e.name)})
	}
}

func isSplit(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// texts reads a text or a list of texts.
func (f *File) texts(n *node, what string) []string {
	list := n.list
	if n.kind != listNode {
		list = []*node{n}
	}
	var out []string
	for _, e := range list {
		s, ok := e.plain.(string)
		if e.kind != plainNode || !ok || s == "" {
			f.fault(e.pos, "%s: %s, expected a text", what, e)
			continue
		}
		out = append(out, s)
	}
	if n.kind == listNode && len(list) == 0 {
		f.fault(n.pos, "%s is an empty list", what)
	}
	return out
}

func (f *File) text(n *node, what string) string {
	s, ok := n.plain.(string)
	if n.kind != plainNode || !ok {
		f.fault(n.pos, "%s is %s, expected a text", what, n)
	}
	return s
}

func (f *File) columns(n *node) {
	if n.kind != mapNode || len(n.keys) == 0 {
		f.fault(n.pos, "columns is %s, expected a mapping of names to types: 'question: string'", n)
		return
	}
	for _, e := range n.keys {
		t, err := transform.ParseType(f.text(e.value, "type of "+e.name))
		if err != nil {
			f.fault(e.value.pos, "column %q: %v", e.name, err)
		}
		f.Columns = append(f.Columns, schema.NewField(e.name, t))
	}
}

func (f *File) contract(n *node) {
	f.keys(n, "contract",
		key{"rows", func(n *node) {
			s := f.text(n, "rows")
			for _, k := range []rule.Kind{rule.RL, rule.SFT, rule.Preference} {
				if k.String() == s {
					f.Rows = k
				}
			}
			if f.Rows == rule.Any && s != "" {
				f.unknown(n.pos, "kind of rows", s, []string{"rl", "sft", "preference"})
			}
		}},
		key{"target", func(n *node) {
			if s := f.text(n, "target"); s != "" {
				var err error
				if f.Target, err = rule.ParseTarget(s); err != nil {
					f.fault(n.pos, "%v", err)
				}
			}
		}},
		key{"known_agents", func(n *node) { f.Agents = f.texts(n, "known_agents") }},
		key{"known_sources", func(n *node) { f.DataSources = f.texts(n, "known_sources") }},
		key{"expects", func(n *node) {
			f.Expects = f.texts(n, "expects")
			for _, id := range f.Expects {
				if r := rule.Find(id); r == nil || r.ID != id {
					f.fault(n.pos, "expects: there is no rule %q ('rlprep list rules')", id)
				}
			}
		}},
	)
}

func (f *File) output(n *node) {
	f.keys(n, "output",
		key{"shards", func(n *node) {
			i, ok := n.plain.(int64)
			if n.kind != plainNode || !ok || i < 1 || i > 1<<20 {
				f.fault(n.pos, "shards is %s, expected a number of files", n)
			}
			f.Shards = int(i)
		}},
		key{"compression", func(n *node) {
			f.Compression = f.text(n, "compression")
			if names := []string{"zstd", "snappy", "none"}; f.Compression != "" && !slices.Contains(names, f.Compression) {
				f.unknown(n.pos, "compression", f.Compression, names)
			}
		}},
	)
}
