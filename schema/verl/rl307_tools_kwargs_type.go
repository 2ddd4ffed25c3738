package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL307", Name: "tools-kwargs-not-struct", Cites: []string{"verl@b178a3cd5 tool_agent_loop.py:421-439"}, Rows: rule.RL,
	Title: "tools_kwargs, or the entry of a tool in it, is not a struct",
	Doc: `
The tool agent calls tools_kwargs.get(name, {}).get("create_kwargs", {}) (tool_agent_loop.py, _call_tool). JSON in a string has no get. verl
catches the exception, the model reads "Error executing tool …: 'str' object has no attribute 'get'", and the tool rewards nothing (executed
on verl 0.9.1).

Write {"calc_gsm8k_reward": {"create_kwargs": {"ground_truth": "72"}}} as a dict, not with json.dumps.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "each call fails with 'str' object has no attribute 'get', which the model reads as the tool's answer"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		report := func(path schema.Path, t schema.Type) {
			p.Reportf(schema.FilePos(f.Name).At(path), schema.Value{}, "%s instead of a struct: %s", t, p.Consequence)
		}
		field, ok := f.Schema.Lookup(toolsKwargs)
		if !ok || field.Type.Kind == schema.Null {
			return
		}
		if field.Type.Kind != schema.Struct {
			report(toolsKwargs, field.Type)
			return
		}
		for _, tool := range field.Type.Fields {
			create, i := tool.Type.Field("create_kwargs")
			switch k := tool.Type.Kind; {
			case k != schema.Struct && k != schema.Null:
				report(toolsKwargs.Field(tool.Name), tool.Type)
			case i >= 0 && create.Type.Kind != schema.Struct && create.Type.Kind != schema.Null:
				report(toolsKwargs.Field(tool.Name).Field("create_kwargs"), create.Type)
			}
		}
	}),
	Fixes:   []rule.Fix{readJSON},
	Unfixed: "the data does not show the arguments of the tool",
	Examples: []rule.Example{
		{Title: "written with json.dumps", Files: []string{`{"extra_info":{"tools_kwargs":"{\"calc_gsm8k_reward\": {\"create_kwargs\": {}}}"}}`}, Want: []string{"0 -1 extra_info.tools_kwargs"}, Unfixed: "an object without keys"},
		{Title: "one tool with json.dumps", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":"{}","search":{"create_kwargs":{"q":"a"}}}}}`}, Want: []string{"0 -1 extra_info.tools_kwargs.calc_gsm8k_reward"}, Unfixed: "an object without keys"},
		{Title: "its arguments with json.dumps", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":"{}"}}}}`}, Want: []string{"0 -1 extra_info.tools_kwargs.calc_gsm8k_reward.create_kwargs"}, Unfixed: "an object without keys"},
		{Title: "a list of names", Files: []string{`{"extra_info":{"tools_kwargs":["search"]}}`}, Want: []string{"0 -1 extra_info.tools_kwargs"}, Unfixed: "is list"},
		{Title: "arguments of a row, with json.dumps", Files: []string{`{"extra_info":{"tools_kwargs":"{\"calc_gsm8k_reward\": {\"create_kwargs\": {\"ground_truth\": \"72\"}}}"}}`}, Want: []string{"0 -1 extra_info.tools_kwargs"}},
		{Title: "structs", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}},
		{Title: "null", Files: []string{`{"extra_info":{"tools_kwargs":null}}`}},
	},
})
