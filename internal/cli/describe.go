package cli

import (
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// The types below are what explain and list print as JSON, and what docs/ is made from. Their field names are part of what
// scripts may rely on (docs/scripting.md).

type ruleInfo struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Title    string         `json:"title"`
	Level    string         `json:"level"` // for the last version of the framework
	Rows     string         `json:"rows"`
	Doc      string         `json:"doc"`
	Cites    []string       `json:"facts,omitempty"`
	Applies  []severityInfo `json:"holds"`
	Manual   string         `json:"fix,omitempty"`
	Fixes    []fixInfo      `json:"mends"`
	Unfixed  string         `json:"unmended,omitempty"`
	HelpURL  string         `json:"help_url"`
	Examples []ruleExample  `json:"examples"`
}

// A fixInfo is one way in which 'lint --fix' fixes what a rule finds.
type fixInfo struct {
	Unsafe bool   `json:"unsafe"`
	Title  string `json:"does"`
}

// String says by which flags it is done: "--fix: fills the nulls".
func (m fixInfo) String() string {
	if m.Unsafe {
		return "--fix --unsafe-fixes: " + m.Title
	}
	return "--fix: " + m.Title
}

type severityInfo struct {
	Versions    string `json:"versions,omitempty"`
	Trainer     string `json:"trainer,omitempty"`
	Level       string `json:"level"`
	Consequence string `json:"consequence,omitempty"`
}

// where says to whom it applies: "verl >=0.9, trainer v1". The first that fits counts, so what follows another one (i > 0) without a
// condition is for the others.
func (h severityInfo) where(f *rule.Framework, i int) string {
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

type ruleExample struct {
	Title  string      `json:"title,omitempty"`
	Files  []string    `json:"files"`
	Val    []string    `json:"val,omitempty"`
	Schema string      `json:"schema,omitempty"`
	Launch string      `json:"launch,omitempty"`
	Target string      `json:"target,omitempty"`
	Found  []foundInfo `json:"found"` // none: a good example
}

type foundInfo struct {
	File   int    `json:"file"`   // from 0; -1: the launch
	Row    *int64 `json:"row"`    // from 0; null: the whole file
	Column string `json:"column"` // "": none
}

// String says where it was found: "row 1: agent_name", "file 1: row 0: index", "the whole file: agent_name".
func (f foundInfo) String() string {
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

// newFoundInfo reads what Example.Want says, "file row path".
func newFoundInfo(want string) foundInfo {
	var f foundInfo
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

// heading names the example: BAD or GOOD, and its title.
func (e ruleExample) heading() string {
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

// describedFor is the target whose level is shown of a rule: the last version of its framework, and of what every framework has the
// default target.
func describedFor(r *rule.Rule) rule.Target {
	if t := r.Framework.Latest(); t != (rule.Target{}) {
		return t
	}
	return rule.DefaultTarget()
}

func describeRule(r *rule.Rule) ruleInfo {
	h, _ := r.Severity(describedFor(r))
	d := ruleInfo{
		ID: r.ID, Name: r.Name, Title: r.Title, Level: h.Level.String(), Rows: r.Rows.String(), Doc: strings.Trim(r.Doc, "\n"),
		Cites: r.Cites, Manual: r.ManualFor(""), HelpURL: report.HelpURL(r), Applies: []severityInfo{}, Examples: []ruleExample{},
		Fixes: []fixInfo{}, Unfixed: r.Unfixed,
	}
	for _, m := range r.Fixes {
		d.Fixes = append(d.Fixes, fixInfo{m.Unsafe, m.Title})
	}
	for _, h := range r.Applies {
		d.Applies = append(d.Applies, severityInfo{h.Versions, h.Trainer, h.Level.String(), h.Consequence})
	}
	for _, e := range r.Examples {
		found := describeAll(e.Want, newFoundInfo)
		d.Examples = append(d.Examples, ruleExample{e.Title, e.Files, e.Val, e.Schema, strings.TrimSpace(e.Launch), e.Target, found})
	}
	return d
}

type recipeInfo struct {
	Name     string      `json:"name"`
	Title    string      `json:"title"`
	Rows     string      `json:"rows"`
	Doc      string      `json:"doc"`
	Splits   []string    `json:"splits"`
	Source   string      `json:"source,omitempty"`
	Inputs   []inputInfo `json:"inputs"`
	Expects  []string    `json:"expects,omitempty"`
	Examples []rowsInfo  `json:"examples"`
}

type inputInfo struct {
	Split   string   `json:"split"`
	Glob    string   `json:"glob"`
	Columns []string `json:"columns"`
}

type rowsInfo struct {
	Title string `json:"title,omitempty"`
	Split string `json:"split,omitempty"`
	Args  string `json:"args,omitempty"`
	In    string `json:"in"`
	Out   string `json:"out,omitempty"`
	Error string `json:"error,omitempty"`
}

func describeRecipe(r *datasets.Recipe) recipeInfo {
	d := recipeInfo{
		Name: r.Name, Title: r.Title, Rows: r.Rows.String(), Doc: strings.Trim(r.Doc, "\n"),
		Splits: r.Splits, Source: r.Source, Expects: r.Expects, Inputs: []inputInfo{}, Examples: []rowsInfo{},
	}
	for _, split := range r.Splits {
		for _, in := range r.Inputs(split) {
			info := inputInfo{Split: split, Glob: in.Glob, Columns: []string{}}
			for _, f := range in.Fields {
				info.Columns = append(info.Columns, f.String())
			}
			d.Inputs = append(d.Inputs, info)
		}
	}
	for _, e := range r.Examples {
		d.Examples = append(d.Examples, rowsInfo{Split: e.Split, In: e.In, Out: e.Out})
	}
	return d
}

type transformInfo struct {
	Name     string     `json:"name"`
	Title    string     `json:"title"`
	Doc      string     `json:"doc"`
	Args     []argInfo  `json:"args"`
	Examples []rowsInfo `json:"examples"`
}

type argInfo struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Doc      string `json:"doc"`
	Required bool   `json:"required"`
}

func describeTransform(v *transform.Verb) transformInfo {
	d := transformInfo{Name: v.Name, Title: v.Title, Doc: strings.Trim(v.Doc, "\n"), Args: []argInfo{}, Examples: []rowsInfo{}}
	for _, a := range v.Args {
		d.Args = append(d.Args, argInfo{a.Name, a.Type, a.Doc, a.Required})
	}
	for _, e := range v.Examples {
		d.Examples = append(d.Examples, rowsInfo{Title: e.Title, Args: e.Args, In: e.In, Out: e.Out, Error: e.Error})
	}
	return d
}

// describeAll describes each of a registry; the slice is never nil, so JSON has [] for none.
func describeAll[T, D any](all []T, describe func(T) D) []D {
	out := make([]D, 0, len(all))
	for _, v := range all {
		out = append(out, describe(v))
	}
	return out
}
