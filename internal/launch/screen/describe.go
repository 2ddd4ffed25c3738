// Package screen shows what a launch gives the trainer: the commands that it calls, and of each training the facts that its framework's
// profile names, by their groups, each with the line that it comes from. It reads no flags; launch has read the files.
package screen

import (
	"encoding/json"
	"fmt"

	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Value is a value with where it comes from.
type Value struct {
	Value   any      `json:"value"`
	From    string   `json:"from"`
	File    string   `json:"file,omitempty"`
	Line    int      `json:"line,omitempty"`
	Vars    []string `json:"vars,omitempty"`
	Assumed bool     `json:"assumed,omitempty"`
	Note    string   `json:"note,omitempty"`
}

func newValue(v any, s launch.Source, note string) Value {
	return Value{Value: v, From: s.String(), File: s.File, Line: s.Line, Vars: s.Vars, Assumed: s.Assumed, Note: note}
}

// A Command is a command as --json shows it.
type Command struct {
	Line      int               `json:"line"`
	File      string            `json:"file,omitempty"`
	Argv      []string          `json:"argv"`
	Carrier   string            `json:"inner,omitempty"`
	Module    string            `json:"module,omitempty"`
	Overrides []launch.Override `json:"overrides"`
	Errors    []string          `json:"errors,omitempty"`
}

// A Training is what one training does.
type Training struct {
	Command  int              `json:"command"` // index in commands, or in assumed
	Module   string           `json:"module"`
	Target   string           `json:"target"`
	Facts    map[string]Value `json:"facts"`
	Config   map[string]Value `json:"config"`
	Problems []string         `json:"problems,omitempty"`
	Notes    []string         `json:"notes,omitempty"`

	names  []string // of Facts, in order
	groups map[string]string
	minor  map[string]bool // those that are shown only where the launch sets them
}

// A Report is what --json prints.
type Report struct {
	Launch    string      `json:"launch"`
	Commands  []Command   `json:"commands"`
	Assumed   []Command   `json:"assumed,omitempty"`
	Missing   string      `json:"missing,omitempty"`
	Effective *Training   `json:"effective"`
	Further   []*Training `json:"further,omitempty"` // trainings after the first
	Notes     []string    `json:"notes,omitempty"`
	Lint      *Lint       `json:"lint,omitempty"`
}

// Judged is what a check of a launch and its data found.
type Judged struct {
	Lint  *Lint                             // nil: it was not checked
	Train map[*launch.Training][]*rule.File // the training data of each training; nil where it is not here
}

// Lint says how many problems 'rlprep lint --config' finds for the launch.
type Lint struct {
	Errors   int64  `json:"errors"`
	Warnings int64  `json:"warnings"`
	Infos    int64  `json:"infos"`
	Unread   int    `json:"unread,omitempty"` // files that cannot be read
	Failed   string `json:"failed,omitempty"` // why it could not be checked
	// FootersOnly: the data is large, so that only the launch and the footers of the data were checked.
	FootersOnly bool `json:"footers_only,omitempty"`
	// Command shows the problems; "" where the launch is not in a file.
	Command string `json:"command,omitempty"`
}

// Describe gathers what a launch calls, and what each of its trainings does. Judged is what its check found; its zero value where there was none.
func Describe(l *launch.Launch, judged Judged) *Report {
	r := &Report{Lint: judged.Lint, Launch: l.Name, Commands: describeCommands(l.Result.Commands), Missing: l.Result.Missing}
	if len(l.Result.Assumed) > 0 {
		r.Assumed = describeCommands(l.Result.Assumed)
	}
	for _, n := range l.Result.Notes {
		at := l.Name
		if n.Line > 0 {
			at += fmt.Sprintf(":%d", n.Line)
		}
		r.Notes = append(r.Notes, at+": "+n.Text)
	}
	for _, t := range l.Trainings {
		e := newTraining(t, judged.Train[t])
		for i := range l.Result.Commands {
			if &l.Result.Commands[i] == t.Config.Command {
				e.Command = i
			}
		}
		for i := range l.Result.Assumed {
			if &l.Result.Assumed[i] == t.Config.Command {
				e.Command = i
			}
		}
		if r.Effective == nil {
			r.Effective = e
		} else {
			r.Further = append(r.Further, e)
		}
	}
	return r
}

func describeCommands(commands []launch.Command) []Command {
	out := []Command{}
	for i := range commands {
		c := &commands[i]
		overrides := c.Overrides
		if overrides == nil {
			overrides = []launch.Override{}
		}
		out = append(out, Command{c.Line, c.File, c.Argv, c.Carrier, c.Module(), overrides, c.Errors})
	}
	return out
}

// newTraining gathers what a training does.
func newTraining(t *launch.Training, train []*rule.File) *Training {
	cfg := t.Config
	module, _ := cfg.Module()
	e := &Training{Module: module, Target: t.Target.String(), Facts: map[string]Value{}, Config: map[string]Value{}, Notes: cfg.Notes, groups: map[string]string{}, minor: map[string]bool{}}
	for _, f := range t.Facts(train) {
		e.names = append(e.names, f.Name)
		e.groups[f.Name], e.minor[f.Name] = f.Group, f.Minor
		e.Facts[f.Name] = newValue(json.RawMessage(f.Value.AppendJSON(nil)), sourceOf(t, f.Keys), f.Note)
	}
	for _, key := range cfg.Leaves() {
		if n := cfg.Get(key); n != nil {
			e.Config[key] = newValue(hydra.JSONValue(n.Any()), n.Source, "")
		}
	}
	for _, p := range cfg.Problems {
		e.Problems = append(e.Problems, fmt.Sprintf("%s: %s", p.Source, p.Text))
	}
	return e
}

// sourceOf is where a fact comes from: the first of its keys that the launch sets, else the first.
func sourceOf(t *launch.Training, keys []string) launch.Source {
	for _, key := range keys {
		if n := t.Config.Get(key); n != nil && t.Config.Set(key) {
			return n.Source
		}
	}
	for _, key := range keys {
		if n := t.Config.Get(key); n != nil {
			return n.Source
		}
	}
	return launch.Source{Note: launch.OptionsFor(t.Target).Version}
}
