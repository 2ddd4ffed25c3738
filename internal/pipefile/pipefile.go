// Package pipefile reads pipeline files: YAML that says what is read, by which steps, what the rows are judged as, and how they are
// written. Steps are the verbs of the registry in package transform; their arguments are checked by what each verb declares, and
// the JSON Schema is made from the same declarations.
package pipefile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A File is a pipeline file, read and checked as far as it can be without the data.
type File struct {
	Sources        []Source
	Columns        []schema.Field // declared, for line formats; nil: found out from the rows
	Steps          []Step
	Rows           rule.Kind      // Any: told by the columns
	Target         rule.Target    // the zero Target where the file names none
	Agents         []string       // agent loops that the launch registers
	DataSources    []string       // values of data_source that a reward function of the user's scores
	Expects        []string       // ids of rules whose findings are at most warnings
	RejectFindings bool           // a row with an error is rejected, under the id of the rule; else the run fails
	NoContract     bool           // the rows are not judged: they are the input of another pipeline
	Shards         int            // of each split; 0: not said
	SplitShards    map[string]int // of single splits; nil: Shards says all
	Compression    string         // "": not said

	yamlfile.Reader
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
	Where  string   // "pipeline.yaml:7:5"; "": it is in no file

	at   yamlfile.Pos
	args map[string]yamlfile.Pos
}

// later are the steps that people look for and that need all rows at once, with what to do instead.
var later = map[string]string{"sort": elsewhere, "join": elsewhere, "group": elsewhere, "deduplicate": "use step dedup",
	"mix": together, "interleave": together, "concat": together, "merge": together}

const (
	elsewhere = "do it with another tool, and read its output as the source"
	together  = "list all sources of the split under sources; step shuffle puts their rows into another order"
)

// Parse reads a pipeline file. name is what messages call it; open reads a file that an argument names, such as a script, as written.
// The error is *yamlfile.Error or yamlfile.Errors.
func Parse(name string, text []byte, open func(string) (string, error)) (*File, error) {
	f := &File{Reader: yamlfile.Reader{Name: name, What: "a pipeline", Init: "rlprep init pipeline FILE"}}
	root, err := f.Reader.Parse(text)
	if err != nil {
		return nil, err
	}
	f.file(root, open)
	if err := f.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// New returns the pipeline of steps that stand in no file. name is what messages call it.
func New(name string, steps []transform.Step) (*File, error) {
	f := &File{Reader: yamlfile.Reader{Name: name}}
	for _, s := range steps {
		out := Step{Verb: transform.Find(s.Verb), Args: transform.Args{}, Splits: s.Splits}
		if out.Verb == nil {
			return nil, fmt.Errorf("%s: no step is called %q", name, s.Verb)
		}
		for _, m := range s.Args {
			out.Args[m.Name] = m.Value
		}
		f.Steps = append(f.Steps, out)
	}
	return f, nil
}

func (f *File) file(root *yamlfile.Node, open func(string) (string, error)) {
	if root.Kind != yamlfile.Map {
		f.Fault(root.Pos, "the file is %s, expected a mapping with the key steps", root)
		return
	}
	f.Mapping(root, "the file",
		yamlfile.On("sources", f.sources),
		yamlfile.On("columns", f.columns),
		yamlfile.On("steps", func(n *yamlfile.Node) { f.steps(n, open) }),
		yamlfile.On("contract", f.contract),
		yamlfile.On("output", f.output),
	)
	if _, ok := root.Get("steps"); !ok {
		f.Fault(root.Pos, "key steps is missing")
	}
}

func (f *File) sources(n *yamlfile.Node) {
	if n.Kind != yamlfile.Map {
		f.Sources = []Source{{Names: f.Texts(n, "sources")}}
		return
	}
	if len(n.Keys) == 0 {
		f.Fault(n.Pos, "sources names no split")
	}
	for _, e := range n.Keys {
		if !isSplit(e.Name) {
			f.Fault(e.Pos, "split %q: a split is named by letters, digits and underscores", e.Name)
		}
		f.Sources = append(f.Sources, Source{Split: e.Name, Names: f.Texts(e.Value, "sources of "+e.Name)})
	}
}

func isSplit(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

func (f *File) columns(n *yamlfile.Node) {
	if n.Kind != yamlfile.Map || len(n.Keys) == 0 {
		f.Fault(n.Pos, "columns is %s, expected a mapping of names to types: 'question: string'", n)
		return
	}
	for _, e := range n.Keys {
		t, err := transform.ParseType(f.Text(e.Value, "type of "+e.Name))
		if err != nil {
			f.Fault(e.Value.Pos, "column %q: %v", e.Name, err)
		}
		f.Columns = append(f.Columns, schema.NewField(e.Name, t))
	}
}

func (f *File) contract(n *yamlfile.Node) {
	if n.Kind == yamlfile.Plain && n.Plain == "none" {
		f.NoContract = true
		return
	}
	f.Mapping(n, "contract",
		yamlfile.On("rows", func(n *yamlfile.Node) {
			s := f.Text(n, "rows")
			var err error
			if f.Rows, err = rule.ParseKind(s); err != nil && s != "" {
				f.Unknown(n.Pos, "kind of rows", s, rule.KindNames())
			}
		}),
		yamlfile.On("target", func(n *yamlfile.Node) {
			if s := f.Text(n, "target"); s != "" {
				var err error
				if f.Target, err = rule.ParseTarget(s); err != nil {
					f.Fault(n.Pos, "%v", err)
				}
			}
		}),
		yamlfile.On("known_agents", func(n *yamlfile.Node) { f.Agents = f.Texts(n, "known_agents") }),
		yamlfile.On("known_sources", func(n *yamlfile.Node) { f.DataSources = f.Texts(n, "known_sources") }),
		yamlfile.On("expects", func(n *yamlfile.Node) {
			f.Expects = f.Texts(n, "expects")
			for _, id := range f.Expects {
				if r := rule.Find(id); r == nil || r.ID != id {
					f.Fault(n.Pos, "expects: there is no rule %q ('rlprep list rules')", id)
				}
			}
		}),
		yamlfile.On("on_finding", func(n *yamlfile.Node) {
			s := f.Text(n, "on_finding")
			if f.RejectFindings = s == "reject"; s != "" && !slices.Contains(onFinding, s) {
				f.Unknown(n.Pos, "value of on_finding", s, onFinding)
			}
		}),
	)
}

// onFinding are the values of the key: what an error about a row does.
var onFinding = []string{"fail", "reject"}

func (f *File) output(n *yamlfile.Node) {
	f.Mapping(n, "output",
		yamlfile.On("shards", func(n *yamlfile.Node) {
			if n.Kind != yamlfile.Map {
				f.Shards = f.files(n, "shards")
				return
			}
			f.SplitShards = map[string]int{}
			for _, e := range n.Keys {
				f.SplitShards[e.Name] = f.files(e.Value, "shards of "+e.Name)
			}
		}),
		yamlfile.On("compression", func(n *yamlfile.Node) {
			f.Compression = f.Text(n, "compression")
			if names := []string{"zstd", "snappy", "none"}; f.Compression != "" && !slices.Contains(names, f.Compression) {
				f.Unknown(n.Pos, "compression", f.Compression, names)
			}
		}),
	)
}

// files reads a number of files.
func (f *File) files(n *yamlfile.Node, what string) int {
	i, ok := n.Plain.(int64)
	if n.Kind != yamlfile.Plain || !ok || i < 1 || i > 1<<20 {
		f.Fault(n.Pos, "%s is %s, expected a number of files", what, n)
	}
	return int(i)
}
