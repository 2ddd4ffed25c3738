package transform

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "set",
	Title: "give every row the same value",
	Doc: `
Writes one constant to a column, or to a field of a struct: structs on the way are made where there are none. It reads
nothing and costs nothing a row: a constant is one dictionary page, and every other column is copied undecoded.

A value is text unless it says otherwise: 'str:', 'int:', 'float:', 'bool:', 'json:' and 'null:TYPE' before it give a
type. Numbers, booleans, lists and mappings of a pipeline file are taken as they are.
`,
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "what to write: agent_name, extra_info.split", Required: true},
		{Name: "value", Type: "value", Doc: "the constant: tool_agent, int:3, bool:true, json:{\"a\":1}, null:string", Required: true},
		afterArg,
		{Name: "if", Type: "string", Values: []string{"refuse", "same", "replace", "fill", "keep"}, Doc: "if the path exists: refuse (an error), same (no change if it has this value, else an error; when not given), replace, fill (nulls only), keep (no change)"},
	},
	New: newSet,
	Examples: []Example{
		{
			Title: "every row gets the agent loop that runs it",
			Args:  `{"path":"agent_name","value":"tool_agent","after":"data_source"}`,
			In:    `{"data_source":"openai/gsm8k","ability":"math"}`,
			Out:   `{"data_source":"openai/gsm8k","agent_name":"tool_agent","ability":"math"}`,
		},
		{
			Title: "a field in a struct that is not there yet, with a type",
			Args:  `{"path":"extra_info.need_tools_kwargs","value":"bool:true"}`,
			In:    `{"a":"x"}`,
			Out:   `{"a":"x","extra_info":{"need_tools_kwargs":true}}`,
		},
		{
			Title: "only where there is none",
			Args:  `{"path":"agent_name","value":"tool_agent","if":"fill"}`,
			In:    `{"agent_name":null}` + "\n" + `{"agent_name":"single_turn_agent"}`,
			Out:   `{"agent_name":"tool_agent"}` + "\n" + `{"agent_name":"single_turn_agent"}`,
		},
		{
			Title: "only where the file has no such column",
			Args:  `{"path":"ability","value":"math","if":"keep"}`,
			In:    `{"ability":null}` + "\n" + `{"ability":"nlp"}`,
			Out:   `{"ability":null}` + "\n" + `{"ability":"nlp"}`,
		},
		{
			Title: "text that looks like a type",
			Args:  `{"path":"note","value":"str:int:3"}`,
			In:    `{"a":1}`,
			Out:   `{"a":1,"note":"int:3"}`,
		},
		{
			Title: "a path through a column that is no struct",
			Args:  `{"path":"extra_info.index","value":"int:0"}`,
			In:    `{"extra_info":"{}"}`,
			Error: `column "extra_info" is string, expected struct`,
		},
	},
})

// Set writes one constant to every row. A column that holds just this value already is left alone, unless If says
// otherwise.
type Set struct {
	Path  schema.Path
	Value schema.Value
	Type  schema.Type
	After schema.Path
	If    ConflictPolicy
	Keep  bool // an existing column stays as it is, whatever it holds
}

// Plan returns one constant Put. It fails where the path leads through a column that is no struct.
func (s Set) Plan(in *schema.Schema) (*Plan, error) {
	if err := checkPut(in, s.Path); err != nil {
		return nil, err
	}
	if _, there := in.Lookup(s.Path); there && s.Keep {
		return &Plan{}, nil
	}
	v := s.Value
	return &Plan{Puts: []Put{{Path: s.Path, After: s.After, Type: s.Type, OnExisting: s.If, Const: &v}}}, nil
}

// checkPut returns an error where path cannot be written: it lies in a list, or leads through something that exists
// and is no struct.
func checkPut(in *schema.Schema, path schema.Path) error {
	if err := checkTarget(path); err != nil {
		return err
	}
	for p := path.Parent(); p != ""; p = p.Parent() {
		if f, ok := in.Lookup(p); ok && f.Type.Kind != schema.Struct {
			return fmt.Errorf("%w: %q cannot be written below it", wrongType(p, f.Type, "struct"), path)
		}
	}
	return nil
}

func newSet(args Args) (RowStep, error) {
	r := newArgs("set", args)
	s := Set{Path: r.path("path", ""), After: r.path("after", ""), If: AllowEqual, Keep: r.text("if", "") == "keep"}
	if !s.Keep {
		s.If = r.present(AllowEqual)
	}
	if v, given := args["value"]; given {
		var err error
		if s.Value, s.Type, err = ValueOf(v); err != nil {
			r.failAt("value", "argument value: %w", err)
		}
	}
	return r.done(s)
}
