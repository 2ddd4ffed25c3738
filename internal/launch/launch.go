// Package launch tells what a launch of a training really gives the trainer. It interprets a shell script without starting,
// writing or reading anything (Interpret), parses Hydra's overrides by Hydra's own grammar (package hydra), and composes
// them over the YAML that the launch names and the defaults of the trainer's version (Compose). Every value keeps where it
// comes from.
package launch

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Source is where a value comes from.
type Source struct {
	Kind SourceKind
	File string   // as the user named it; "" of a default
	Line int      // from 1; 0: unknown
	Vars []string // shell variables that the value was made of, as the script writes them
	// Assumed: the value holds a placeholder for an argument that the script asks for.
	Assumed bool
	Note    string // of a default: the version
}

// A SourceKind says what kind of text a value stands in.
type SourceKind uint8

// The kinds of sources.
const (
	FromDefault  SourceKind = iota // of the trainer's version
	FromYAML                       // a configuration file that the launch names
	FromScript                     // a shell script
	FromArgument                   // rlprep's own command line
)

// String returns "run.sh:40 ($HOME)", "conf.yaml:7", "argument" or "default of verl 0.9".
func (s Source) String() string {
	var b strings.Builder
	switch s.Kind {
	case FromDefault:
		b.WriteString("default")
		if s.Note != "" {
			b.WriteString(" of " + s.Note)
		}
	case FromArgument:
		b.WriteString("argument")
	default:
		b.WriteString(s.File)
		if s.Line > 0 {
			fmt.Fprintf(&b, ":%d", s.Line)
		}
	}
	if len(s.Vars) > 0 {
		b.WriteString(" (from $" + strings.Join(s.Vars, ", $") + ")")
	}
	if s.Assumed {
		b.WriteString(" (holds a placeholder)")
	}
	return b.String()
}

// A Command is one call of a program that starts a training, or might.
type Command struct {
	File      string   // the script that has it, as the user named it; "" where it was given as arguments
	Line      int      // of its first word, from 1
	Argv      []string // argv[0] as written
	Env       []string // NAME=VALUE of the variables that the script exports to it, sorted
	Dir       string   // working directory
	Carrier   string   // the program that runs it: "srun", "ray", "docker", "ssh" …; "" for a command of the shell
	Overrides []Override
	Errors    []string // arguments that look like overrides but are not, with the reason

	sources []Source // of Argv
	refused []Source // of Errors
	bare    []string // arguments that are neither flags nor overrides
	bareAt  []Source
	lost    []Problem
}

// An Override is one argument of a Hydra program, with where it comes from.
type Override struct {
	hydra.Override
	Source Source
}

// MarshalJSON writes the form that docs/scripting.md describes.
func (o Override) MarshalJSON() ([]byte, error) {
	out := struct {
		Op      string  `json:"op"`
		Key     string  `json:"key"`
		Package *string `json:"package,omitempty"`
		Value   any     `json:"value"`
		Line    int     `json:"line,omitempty"`
		Assumed bool    `json:"assumed,omitempty"`
	}{o.Op, o.Key, nil, hydra.JSONValue(o.Value), o.Source.Line, o.Source.Assumed}
	if o.At {
		out.Package = &o.Package
	}
	return json.Marshal(out)
}

// programs are those whose calls are recorded.
var programs = []string{"python", "python3", "torchrun", "ray", "srun", "sbatch", "accelerate"}

// program returns the recorded program that name calls, "" for any other: a path and a minor version do not matter.
func program(name string) string {
	base := filepath.Base(name)
	for _, p := range programs {
		if base == p {
			return p
		}
	}
	if rest, ok := strings.CutPrefix(base, "python3."); ok && strings.Trim(rest, "0123456789") == "" {
		return "python3"
	}
	return ""
}

// Trains reports whether the command starts a training of the framework, or another of its programs: its module is the
// framework's, or it sets keys that only such programs have.
func (c *Command) Trains(p *rule.Profile) bool {
	inv := c.invocation()
	if inv.module == "" {
		return false
	}
	begins := func(text string, with []string) bool {
		return slices.ContainsFunc(with, func(s string) bool { return strings.HasPrefix(text, s) })
	}
	return begins(inv.module, p.Modules) || slices.ContainsFunc(c.Overrides, func(o Override) bool { return begins(o.Key, p.Keys) })
}

// Module returns the Python module or file that the command runs, "" where it runs none.
func (c *Command) Module() string { return c.invocation().module }
