package transform

import (
	"fmt"
	"strings"
)

// A Step is one use of a verb, as a pipeline file or a recipe says it.
type Step struct {
	Verb   string
	Args   Object
	Splits []string // of the input that the step is for; nil: all
}

// SplitName is replaced by the name of the split in the arguments of steps.
const SplitName = "${split}"

// SplitType is the Type of an argument that is the name of the split where it is not given.
const SplitType = "split"

// Make makes the step for the rows of a split. An error names the verb that does not exist, or the argument at fault.
func (s Step) Make(split string) (RowStep, error) {
	v := Find(s.Verb)
	if v == nil {
		return nil, fmt.Errorf("no step is called %q", s.Verb)
	}
	args := Args{}
	for _, m := range s.Args {
		args[m.Name] = m.Value
	}
	return v.For(args, split)
}

// For makes the verb's step for the rows of a split, whose name takes the place of SplitName in the arguments; "$${split}" stays "${split}".
func (v *Verb) For(args Args, split string) (RowStep, error) {
	out := Args{}
	for name, value := range args {
		out[name] = withSplit(value, split)
	}
	for _, a := range v.Args {
		if _, given := out[a.Name]; a.Type == SplitType && !given {
			out[a.Name] = split
		}
	}
	return v.New(out)
}

// withSplit returns v with the name of the split in place of SplitName.
func withSplit(v any, split string) any {
	switch x := v.(type) {
	case string:
		if !strings.Contains(x, SplitName) {
			return x
		}
		parts := strings.Split(x, "$"+SplitName)
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], SplitName, split)
		}
		return strings.Join(parts, SplitName)
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = withSplit(e, split)
		}
		return out
	case Object:
		out := make(Object, len(x))
		for i, m := range x {
			out[i] = Member{Name: m.Name, Value: withSplit(m.Value, split)}
		}
		return out
	}
	return v
}

// LiteralSplit returns text in which SplitName, where the text has it, is not taken for the name of a split.
func LiteralSplit(text string) string { return strings.ReplaceAll(text, SplitName, "$"+SplitName) }
