package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL306", Name: "tools-kwargs-null", Cites: []string{"verl@b178a3cd5 rl_dataset.py:356-358", "verl@b178a3cd5 tool_agent_loop.py:421-439"}, Rows: rule.RL,
	Title: "a row that runs with tools has no tools_kwargs",
	Doc: `
If tools_kwargs of a row is null, tools_kwargs.get(name, {}) fails in the tool agent (tool_agent_loop.py, _call_tool). verl catches the
exception, the model reads "Error executing tool 'calc_gsm8k_reward': 'NoneType' object has no attribute 'get'", and the tool rewards
nothing. If the file lacks the field, the tool is created without arguments. There is no error then, but a tool that needs arguments rewards
0 (executed on verl 0.9.1). need_tools_kwargs only makes verl log a warning.

Give the row its tools_kwargs. If rows without tools must be in the same file, write a struct without arguments there, not null.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "each call fails with 'NoneType' object has no attribute 'get', which the model reads as the tool's answer"}},
	Reads: func(p *rule.Pass) []schema.Path {
		paths := []schema.Path{needTools, agentName}
		if leaf := firstLeaf(p.Schema, toolsKwargs); leaf != "" {
			paths = append(paths, leaf)
		}
		return paths
	},
	New: func(p *rule.Pass) rule.Checker {
		return &toolsNull{Pass: p, column: firstLeaf(p.Schema, toolsKwargs) != "", typed: given(p.Schema, toolsKwargs)}
	},
	Unfixed: "the arguments of the tool are not in the data",
	Examples: []rule.Example{
		{Title: "needed, and null", Files: []string{`{"extra_info":{"need_tools_kwargs":true,"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}
{"extra_info":{"need_tools_kwargs":true,"tools_kwargs":null}}`}, Want: []string{"0 1 extra_info.tools_kwargs"}},
		{Title: "needed, and no such field", Files: []string{`{"agent_name":"tool_agent","extra_info":{"need_tools_kwargs":true}}`}, Want: []string{"0 0 extra_info.tools_kwargs"}},
		{Title: "extra_info is null in a row of the tool agent", Files: []string{`{"agent_name":"tool_agent","extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}
{"agent_name":"tool_agent","extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"7"}}}}}
{"agent_name":"tool_agent","extra_info":null}`}, Want: []string{"0 2 extra_info.tools_kwargs"}},
		{Title: "needed, and there", Files: []string{`{"agent_name":"tool_agent","extra_info":{"need_tools_kwargs":true,"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}},
		{Title: "a row of the single-turn agent needs none", Files: []string{`{"agent_name":"single_turn_agent","extra_info":{"need_tools_kwargs":false,"tools_kwargs":null}}
{"agent_name":"tool_agent","extra_info":{"need_tools_kwargs":true,"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}},
		{Title: "tools without arguments", Files: []string{`{"agent_name":"tool_agent","extra_info":{"index":0}}`}},
	},
})

type toolsNull struct {
	*rule.Pass
	column, typed bool // the file has tools_kwargs; it is not of null type
}

// Prejudge implements rule.Checker.
func (c *toolsNull) Prejudge(k *rule.RowGroupFacts) bool {
	need, agent := k.At(0), k.At(1)
	if c.column && k.At(2).Nulls == 0 {
		return true
	}
	unneeded := need.Missing || need.Nulls == k.Rows
	return unneeded && (agent.Missing || !c.typed)
}

// Row implements rule.Checker.
func (c *toolsNull) Row(r schema.Row) {
	if c.column {
		if v := r.At(2); !v.IsNull() || v.Depth() >= toolsDepth {
			return // there; RL308 looks inside
		}
	}
	need := truthy(r.At(0))
	at := r.Pos().At(toolsKwargs)
	switch {
	case need && c.column:
		c.Reportf(at, schema.Value{}, "null, and need_tools_kwargs is true: %s", c.Consequence)
	case need:
		c.Report(rule.Finding{Level: rule.Warning, Pos: at, Message: "no such field, and need_tools_kwargs is true: tools are made without arguments, and one that needs them rewards 0"})
	case c.typed && r.At(1).Text() == "tool_agent":
		c.Report(rule.Finding{Level: rule.Warning, Pos: at, Message: "null in a row of the tool agent: " + c.Consequence})
	}
}

// truthy is Python's bool of a value.
func truthy(v schema.Value) bool {
	return v.Bool() || v.Int() != 0 || v.Text() != ""
}
