package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL716", Name: "tool-config-mismatch", Rows: rule.RL,
	Title: "tools_kwargs and the tool configuration name different tools",
	Doc: `
The tool agent reads tools_kwargs[NAME] to create a tool. NAME is tool_schema.function.name of the YAML (tool_agent_loop.py, _call_tool).
verl never reads a key that the YAML lacks. If no row has the key of a tool, the tool is created without arguments: verl's gsm8k tool then
always rewards 0 (executed on verl 0.9.1).
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "under another name a tool never finds its arguments"}},
	New: onLaunch(func(c *launchCheck) {
		tools, _, known := c.Tools()
		if !known {
			return
		}
		var names []string
		for _, t := range tools {
			names = append(names, t.Name)
		}
		for _, f := range c.train() {
			keys := toolKeys(f.Schema)
			for _, key := range keys {
				if !slices.Contains(names, key) {
					c.Reportf(schema.FilePos(f.Name).At(toolsKwargs.Field(key)), schema.Value{}, "the launch configures %s, not %s: %s", strings.Join(names, ", "), key, c.Consequence)
				}
			}
			if len(keys) == 0 {
				continue
			}
			for _, name := range names {
				if name != "" && !slices.Contains(keys, name) {
					c.atLevel(rule.Info, keyTools, "no row of "+f.Name+" has tools_kwargs."+name+": the tool is made without arguments")
				}
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "another name in the rows", Files: []string{`{"agent_name":"tool_agent","extra_info":{"tools_kwargs":{"gsm8k":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml\n@actor_rollout_ref.rollout.multi_turn.tool_config_path=" + `{"tools":[{"class_name":"my.Tool","tool_schema":{"function":{"name":"calc_gsm8k_reward"}}}]}`, Want: []string{"0 -1 extra_info.tools_kwargs.gsm8k", "launch 1 actor_rollout_ref.rollout.multi_turn.tool_config_path"}},
		{Title: "the same name", Files: []string{`{"agent_name":"tool_agent","extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml\n@actor_rollout_ref.rollout.multi_turn.tool_config_path=" + `{"tools":[{"class_name":"my.Tool","tool_schema":{"function":{"name":"calc_gsm8k_reward"}}}]}`},
		{Title: "tools that need no arguments", Files: []string{`{"agent_name":"tool_agent"}`}, Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml\n@actor_rollout_ref.rollout.multi_turn.tool_config_path=" + `{"tools":[{"class_name":"my.Search","tool_schema":{"function":{"name":"search"}}}]}`},
	},
})
