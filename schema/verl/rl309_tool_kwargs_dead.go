package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL309", Name: "tool-kwargs-dead", Cites: []string{"verl@b178a3cd5 tool_agent_loop.py:426-427"}, Rows: rule.RL,
	Title: "tools_kwargs has keys that nothing reads",
	Doc: `
The tool agent reads only create_kwargs of a tool's entry (tool_agent_loop.py, _call_tool). Before the agent loop existed, the multi-turn
rollout of sglang read execute_kwargs, calc_reward_kwargs and release_kwargs. verl now ignores them, and every other key. Arguments beside
create_kwargs never reach the tool.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "the tool agent reads only create_kwargs"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		field, _ := f.Schema.Lookup(toolsKwargs)
		for _, tool := range field.Type.Fields {
			if tool.Type.Kind != schema.Struct {
				continue
			}
			for _, c := range tool.Type.Fields {
				if c.Name != "create_kwargs" {
					p.Reportf(schema.FilePos(f.Name).At(toolsKwargs.Field(tool.Name).Field(c.Name)), schema.Value{}, "nothing reads this: %s", p.Consequence)
				}
			}
		}
	}),
	Unfixed: "nothing reads the keys, so they do no harm; rlprep drop removes them",
	Examples: []rule.Example{
		{Title: "execute_kwargs", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"},"execute_kwargs":{"timeout":3}}}}}`}, Want: []string{"0 -1 extra_info.tools_kwargs.calc_gsm8k_reward.execute_kwargs"}},
		{Title: "only create_kwargs", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}},
	},
})
