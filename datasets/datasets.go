// Package datasets holds the recipes: how a published dataset becomes samples that a trainer takes. One file adds one
// recipe or the recipes of one dataset, with their doc and their examples, and registers them with Add.
package datasets

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A Recipe turns a dataset into samples.
type Recipe struct {
	Name     string // as the trainer's own script is called: "gsm8k_tool_agent_loop"
	Title    string // one line, no capital, no full stop
	Doc      string // plain text: what comes out, its source (framework, version, file), what to mind
	Rows     rule.Kind
	Versions string   // of the trainer that has the script, as in rule.Severity; "": all
	Splits   []string // in the order of the dataset
	Source   string   // where the dataset is: hf://datasets/OWNER/NAME@COMMIT/FOLDER; "": the user has to say
	Inputs   func(split string) []Input
	Steps    func(Options) []transform.RowStep
	Expects  []string // ids of rules that faithful rows are known to raise; shown as warnings, never blocking
	Examples []Example
	// Sample holds SPLIT.jsonl for each split: raw rows in the shape of the dataset, written for this project, for --demo and for the
	// tests. What the original script makes of them is in testdata/NAME: SPLIT.want.jsonl and want.schema.txt. nil: no --demo.
	Sample fs.FS
	// RealRows are the SHA-256 of all rows that the original script makes of the whole dataset, by split: compact JSON, one row a line,
	// no newline at the end. Where the dataset is on this machine, a test compares them.
	RealRows map[string]string
}

// An Input is one kind of file that a recipe reads. Line formats have no footer, so the recipe says the columns.
type Input struct {
	Glob   string // below the dataset's root, as the hub lays it out
	Fields []schema.Field
}

// Options are what a user may change in a recipe.
type Options struct {
	Split      string
	Agent      string // "": as the recipe has it
	DataSource string // "": as the recipe has it
	IndexStart int64
	// System is the system message, Instruction what follows the question in the user's; nil: as the recipe has it, "": none. Both
	// may hold {{column}}.
	System, Instruction *string
	// Target is the trainer whose form of the rows is wanted, where its script changed; the zero Target is the tree that the
	// recipe's Doc names.
	Target rule.Target
	// Fixed gives the form that raises none of Expects.
	Fixed bool
}

// messages are those of a prompt with the options' system message and instruction: system and user are the recipe's own, of which user
// begins with the question's template, ask.
func (o Options) messages(system, ask, user string) []transform.Message {
	var out []transform.Message
	if o.System != nil {
		system = *o.System
	}
	if system != "" {
		out = append(out, transform.Message{Role: "system", Template: system})
	}
	return append(out, transform.Message{Role: "user", Template: o.user(ask, user)})
}

// user is the template of the user's message.
func (o Options) user(ask, user string) string {
	switch {
	case o.Instruction == nil:
		return user
	case *o.Instruction == "":
		return ask
	case strings.TrimLeft(*o.Instruction, " \t\r\n") != *o.Instruction:
		return ask + *o.Instruction
	}
	return ask + " " + *o.Instruction
}

// An Example is rows in and the rows that come out, both JSON Lines; go test runs it, explain and docs show it.
type Example struct {
	Split   string
	In, Out string
}

var recipes = map[string]*Recipe{}

// Add registers a recipe; it is called in a variable declaration. It panics on a name that is taken.
func Add(r Recipe) *Recipe {
	if recipes[r.Name] != nil {
		panic("datasets: name taken: " + r.Name)
	}
	recipes[r.Name] = &r
	return &r
}

// All returns every recipe, sorted by name.
func All() []*Recipe {
	out := make([]*Recipe, 0, len(recipes))
	for _, r := range recipes {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Recipe) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Find returns the recipe of that name, nil where there is none.
func Find(name string) *Recipe { return recipes[name] }
