// Package catalog describes the rules, recipes and transforms that are registered: as objects for JSON, and as text. It is what explain and list show,
// and what docs/ is made from.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// The names of the fields below in JSON are part of what scripts may rely on (docs/scripting.md).

// A Rule describes a rule.
type Rule struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Level    string        `json:"level"` // for the last version of the framework
	Rows     string        `json:"rows"`
	Doc      string        `json:"doc"`
	Cites    []string      `json:"facts,omitempty"`
	Applies  []Severity    `json:"holds"`
	Fix      string        `json:"fix,omitempty"` // the command that does Fixes, without files
	Fixes    []Fix         `json:"mends"`
	Unfixed  string        `json:"unmended,omitempty"`
	HelpURL  string        `json:"help_url"`
	Examples []RuleExample `json:"examples"`
}

// A Fix is one way in which 'lint --fix' fixes what a rule finds.
type Fix struct {
	Unsafe bool   `json:"unsafe"`
	Title  string `json:"does"`
}

// String says by which flags it is done: "--fix: fills the nulls".
func (m Fix) String() string {
	if m.Unsafe {
		return "--fix --unsafe-fixes: " + m.Title
	}
	return "--fix: " + m.Title
}

// A Severity is how much a rule weighs in some versions of its framework.
type Severity struct {
	Versions    string `json:"versions,omitempty"`
	Trainer     string `json:"trainer,omitempty"`
	Level       string `json:"level"`
	Consequence string `json:"consequence,omitempty"`
}

// Where says to whom it applies: "verl >=0.9, trainer v1". The first that fits counts, so what follows another one (i > 0) without a
// condition is for the others.
func (h Severity) Where(f *rule.Framework, i int) string {
	s := f.Name + " " + h.Versions
	switch {
	case h.Versions == "" && h.Trainer == "" && i > 0:
		return "otherwise"
	case len(f.Versions) == 0:
		s = "every trainer"
	case h.Versions == "":
		s = "every version"
	}
	if h.Trainer != "" {
		s += ", trainer " + h.Trainer
	}
	return s
}

// A RuleExample is rows or a launch, with what the rule finds in them.
type RuleExample struct {
	Title  string   `json:"title,omitempty"`
	Files  []string `json:"files"`
	Val    []string `json:"val,omitempty"`
	Schema string   `json:"schema,omitempty"`
	Launch string   `json:"launch,omitempty"`
	Target string   `json:"target,omitempty"`
	Found  []Found  `json:"found"` // none: a good example
}

// A Found is a place where a rule finds something.
type Found struct {
	File   int    `json:"file"`   // from 0; -1: the launch
	Row    *int64 `json:"row"`    // from 0; null: the whole file
	Column string `json:"column"` // "": none
}

// String says where it was found: "row 1: agent_name", "file 1: row 0: index", "the whole file: agent_name".
func (f Found) String() string {
	s := "the whole file"
	if f.Row != nil {
		s = fmt.Sprintf("row %d", *f.Row)
	}
	if f.File < 0 {
		s = "the launch"
	}
	if f.File > 0 {
		s = fmt.Sprintf("file %d: %s", f.File, s)
	}
	if f.Column != "" {
		s += ": " + f.Column
	}
	return s
}

// newFound reads what Example.Want says, "file row path".
func newFound(want string) Found {
	var f Found
	var row int64
	words := strings.SplitN(want, " ", 3)
	if words[0] == "launch" {
		f.File = -1
	} else {
		_, _ = fmt.Sscan(words[0], &f.File) // no number: the first file
	}
	if len(words) > 1 && f.File >= 0 {
		if n, _ := fmt.Sscan(words[1], &row); n == 1 && row >= 0 {
			f.Row = &row
		}
	}
	if len(words) > 2 {
		f.Column = words[2]
	}
	return f
}

// Heading names the example: BAD or GOOD, and its title.
func (e RuleExample) Heading() string {
	s := "GOOD"
	if len(e.Found) > 0 {
		s = "BAD"
	}
	if e.Title != "" {
		s += ": " + e.Title
	}
	if e.Target != "" {
		s += " (" + e.Target + ")"
	}
	return s
}

// DescribedFor is the target whose level is shown of a rule: the last version of its framework, and of what every framework has the
// default target.
func DescribedFor(r *rule.Rule) rule.Target {
	if t := r.Framework.Latest(); t != (rule.Target{}) {
		return t
	}
	return rule.DefaultTarget()
}

// NewRule describes r.
func NewRule(r *rule.Rule) Rule {
	h, _ := r.Severity(DescribedFor(r))
	d := Rule{
		ID: r.ID, Name: r.Name, Title: r.Title, Level: h.Level.String(), Rows: r.Rows.String(), Doc: strings.Trim(r.Doc, "\n"),
		Cites: r.Cites, Fix: fixCommand(r), HelpURL: report.HelpURL(r), Applies: []Severity{}, Examples: []RuleExample{},
		Fixes: []Fix{}, Unfixed: r.Unfixed,
	}
	for _, m := range r.Fixes {
		d.Fixes = append(d.Fixes, Fix{m.Unsafe, m.Title})
	}
	for _, h := range r.Applies {
		d.Applies = append(d.Applies, Severity{h.Versions, h.Trainer, h.Level.String(), h.Consequence})
	}
	for _, e := range r.Examples {
		found := All(e.Want, newFound)
		d.Examples = append(d.Examples, RuleExample{e.Title, e.Files, e.Val, e.Schema, strings.TrimSpace(e.Launch), e.Target, found})
	}
	return d
}

// A Recipe describes a recipe.
type Recipe struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Rows     string   `json:"rows"`
	Doc      string   `json:"doc"`
	Splits   []string `json:"splits"`
	Script   string   `json:"script"`
	Agent    string   `json:"agent,omitempty"` // of every row, as the script has it
	Index    string   `json:"index"`           // what extra_info.index counts
	Random   string   `json:"random,omitempty"`
	Differs  string   `json:"differs,omitempty"`
	Source   string   `json:"source,omitempty"` // where there is one
	Sources  []Source `json:"sources"`
	Inputs   []Input  `json:"inputs"`
	Params   []Param  `json:"params"`
	Seed     *int64   `json:"seed,omitempty"`
	Steps    string   `json:"steps"` // of a pipeline file, in YAML
	Expects  []string `json:"expects,omitempty"`
	Examples []Rows   `json:"examples"`
}

// A Source is a dataset that a recipe reads.
type Source struct {
	Key string `json:"key,omitempty"` // of --source KEY=PATH
	Hub string `json:"hub,omitempty"`
}

// A Param is an argument of a recipe's script.
type Param struct {
	Name    string `json:"name"`
	Default int64  `json:"default"`
	Doc     string `json:"doc"`
}

// An Input is files that a recipe reads.
type Input struct {
	Split   string   `json:"split"`
	Glob    string   `json:"glob"`
	Columns []string `json:"columns"`
}

// Rows are an example: rows before and after.
type Rows struct {
	Title string `json:"title,omitempty"`
	Split string `json:"split,omitempty"`
	Args  string `json:"args,omitempty"`
	In    string `json:"in"`
	Out   string `json:"out,omitempty"`
	Error string `json:"error,omitempty"`
}

// NewRecipe describes r.
func NewRecipe(r *datasets.Recipe) Recipe {
	d := Recipe{
		Name: r.Name, Title: r.Title, Rows: r.Rows.String(), Doc: strings.Trim(r.Doc, "\n"), Script: r.Script, Agent: r.Agent, Index: r.Index,
		Random: r.Random, Differs: r.Differs, Splits: r.Splits, Expects: r.Expects, Sources: []Source{}, Inputs: []Input{}, Params: []Param{},
		Seed: r.Seed, Steps: pipefile.StepsYAML(r.Steps(datasets.Options{})), Examples: []Rows{},
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		d.Sources = append(d.Sources, Source{s.Key, s.Hub})
		d.Inputs = append(d.Inputs, inputs(s)...)
	}
	if len(d.Sources) == 1 {
		d.Source = d.Sources[0].Hub
	}
	for _, p := range r.Params {
		d.Params = append(d.Params, Param{p.Name, p.Default, p.Doc})
	}
	for _, e := range r.Examples {
		d.Examples = append(d.Examples, Rows{Split: e.Split, In: e.In, Out: e.Out})
	}
	return d
}

// inputs describes the files of a source.
func inputs(s *datasets.Source) (out []Input) {
	for _, split := range s.Splits {
		for _, in := range s.Inputs(split) {
			info := Input{Split: s.SplitOf(split), Glob: in.Glob, Columns: []string{}}
			for _, f := range in.Fields {
				info.Columns = append(info.Columns, f.String())
			}
			out = append(out, info)
		}
	}
	return out
}

// A Transform describes a transform.
type Transform struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Doc      string `json:"doc"`
	Args     []Arg  `json:"args"`
	Examples []Rows `json:"examples"`
}

// An Arg is an argument of a transform.
type Arg struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Doc      string `json:"doc"`
	Required bool   `json:"required"`
}

// NewTransform describes v.
func NewTransform(v *transform.Verb) Transform {
	d := Transform{Name: v.Name, Title: v.Title, Doc: strings.Trim(v.Doc, "\n"), Args: []Arg{}, Examples: []Rows{}}
	for _, a := range v.Args {
		d.Args = append(d.Args, Arg{a.Name, a.Type, a.Doc, a.Required})
	}
	for _, e := range v.Examples {
		d.Examples = append(d.Examples, Rows{Title: e.Title, Args: e.Args, In: e.In, Out: e.Out, Error: e.Error})
	}
	return d
}

// All describes each of a registry; the slice is never nil, so JSON has [] for none.
func All[T, D any](all []T, describe func(T) D) []D {
	out := make([]D, 0, len(all))
	for _, v := range all {
		out = append(out, describe(v))
	}
	return out
}

// fixCommand returns the command that does the fixes of r, without files; "" where r has none.
func fixCommand(r *rule.Rule) string {
	switch {
	case len(r.Fixes) == 0:
		return ""
	case slices.ContainsFunc(r.Fixes, func(f rule.Fix) bool { return !f.Unsafe }):
		return "lint --fix"
	}
	return "lint --fix --unsafe-fixes"
}
