package datasets

import (
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Options are what a user may change in a recipe.
type Options struct {
	Agent      string // "": as the recipe has it
	DataSource string // "": as the recipe has it
	// IndexStart is the index of the first row, by split of the input; a split that it lacks begins with 0.
	IndexStart map[string]int64
	// System is the system message, Instruction what follows the question in the user's; nil: as the recipe has it, "": none. Both
	// may hold {{column}}.
	System, Instruction *string
	// Target is the trainer whose form of the rows is wanted, where its script changed; the zero Target is the tree that the
	// recipe's Doc names.
	Target rule.Target
	// Fixed gives the form that raises none of Expects that rows are at fault for, and adds agent_name and extra_info.index where the script leaves them out.
	Fixed bool
	// Faithful gives the script's rows to the letter, also where it is silently wrong.
	Faithful bool
	Params   map[string]int64 // of the recipe's Params
	Seed     *int64           // nil: the script's own
}

// Param returns the value of a parameter.
func (o Options) Param(p Param) int64 {
	if v, given := o.Params[p.Name]; given {
		return v
	}
	return p.Default
}

// seed is what the draws are seeded with.
func (o Options) seed(script int64) int64 {
	if o.Seed != nil {
		return *o.Seed
	}
	return script
}

// agent is the agent_name of the rows: the user's, or the script's, or with Fixed that of the loop that can run them; "": no column.
func (o Options) agent(script, fixed string) string {
	switch {
	case o.Agent != "":
		return o.Agent
	case script == "" && o.Fixed:
		return fixed
	}
	return script
}

// dataSource is the data_source of the rows.
func (o Options) dataSource(script string) string {
	if o.DataSource != "" {
		return o.DataSource
	}
	return script
}

// system is the template of the system message, "" for none.
func (o Options) system(script string) string {
	if o.System != nil {
		return transform.LiteralSplit(*o.System)
	}
	return script
}

// user is the template of the user's message: ask is the question, and user is it with the script's instruction.
func (o Options) user(ask, user string) string {
	if o.Instruction == nil {
		return user
	}
	text := transform.LiteralSplit(*o.Instruction)
	switch {
	case text == "":
		return ask
	case strings.TrimLeft(text, " \t\r\n") != text:
		return ask + text
	}
	return ask + " " + text
}

// args makes the arguments of a step: names and values in turn.
func args(pairs ...any) transform.Object {
	var out transform.Object
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, transform.Member{Name: pairs[i].(string), Value: pairs[i+1]})
	}
	return out
}

// step is a use of a verb with arguments, names and values in turn.
func step(verb string, pairs ...any) Step { return Step{Verb: verb, Args: args(pairs...)} }

// prompt is the step that writes messages to path: system where it is not "", and user.
func prompt(path schema.Path, system, user string) Step {
	if system == "" {
		return step("prompt", "path", string(path), "user", user)
	}
	return step("prompt", "path", string(path), "system", system, "user", user)
}

// set is the step that gives every row the same text, which the user may have chosen. A source that has the column with another value is another
// dataset: an error.
func set(path schema.Path, text string) Step {
	text = transform.LiteralSplit(text)
	if v, _, err := transform.ParseValue(text); err != nil || v.Kind() != schema.Text || v.Text() != text {
		text = "str:" + text
	}
	return step("set", "path", string(path), "value", text)
}

// split is the step that writes the name of the split.
func split(path schema.Path) Step {
	return step("set", "path", string(path), "value", transform.SplitName)
}

// copyOf is the step that copies a column undecoded.
func copyOf(from, to schema.Path) Step { return step("copy", "from", string(from), "to", string(to)) }

// drop is the step that leaves columns out.
func drop(paths ...any) Step { return step("drop", "path", paths) }

// index are the steps that number the rows of each of the splits.
func (o Options) index(path schema.Path, splits []string) []Step {
	numbered := func(start int64) Step {
		if start == 0 {
			return step("index", "path", string(path))
		}
		return step("index", "path", string(path), "start", start)
	}
	same := true
	for _, s := range splits {
		same = same && o.IndexStart[s] == o.IndexStart[splits[0]]
	}
	if same {
		return []Step{numbered(o.IndexStart[splits[0]])}
	}
	var out []Step
	for _, s := range splits {
		x := numbered(o.IndexStart[s])
		x.Splits = []string{s}
		out = append(out, x)
	}
	return out
}
