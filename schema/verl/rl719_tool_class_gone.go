package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL719", Name: "tool-class-gone", Rows: rule.RL,
	Title: "the tool configuration names a class or a type that verl no longer ships",
	Doc: `
verl 0.8 removed every tool of its own. class_name verl.tools.gsm8k_tool.Gsm8kTool fails with AttributeError "'NoneType' object has no
attribute 'loader'" when the worker starts. type: mcp fails with ValueError "'mcp' is not a valid ToolType" (tool_registry.py:36-62; both
executed on 0.9.1). verl 0.8 also removed examples/sglang_multiturn.

Copy the class from verl 0.7.1 into your own package, and write its new name into the tool configuration.
`,
	Applies: []rule.Severity{{Versions: ">=0.8", Level: rule.Error, Consequence: "the agent-loop workers fail when they start"}},
	New: onLaunch(func(c *launchCheck) {
		tools, _, _ := c.Tools()
		for _, t := range tools {
			module, _, _ := strings.Cut(strings.TrimPrefix(t.Class, "verl.tools."), ".")
			switch {
			case strings.HasPrefix(t.Class, "verl.tools.") && slices.Contains(goneTools, module):
				c.at(keyTools, "class_name %s: verl %s ships no such module: %s", t.Class, c.version(), c.Consequence)
			case t.Type == "mcp":
				c.at(keyTools, "type mcp of %s: verl %s knows no such type: %s", t.Class, c.version(), c.Consequence)
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "verl's gsm8k tool", Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml\n" + `@actor_rollout_ref.rollout.multi_turn.tool_config_path={"tools":[{"class_name":"verl.tools.gsm8k_tool.Gsm8kTool","config":{"type":"native"},"tool_schema":{"function":{"name":"calc_gsm8k_reward"}}}]}`, Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.tool_config_path"}},
		{Title: "mcp", Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml\n" + `@actor_rollout_ref.rollout.multi_turn.tool_config_path={"tools":[{"class_name":"my.MCP","config":{"type":"mcp"}}]}`, Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.tool_config_path"}},
		{Title: "a custom tool", Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml\n" + `@actor_rollout_ref.rollout.multi_turn.tool_config_path={"tools":[{"class_name":"my.tools.Gsm8kTool","config":{"type":"native"}}]}`},
		{Title: "0.7 has it", Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml\n" + `@actor_rollout_ref.rollout.multi_turn.tool_config_path={"tools":[{"class_name":"verl.tools.gsm8k_tool.Gsm8kTool","config":{"type":"native"}}]}`, Target: "verl@0.7"},
	},
})

// goneTools are the modules of verl.tools that 0.8 removed.
var goneTools = []string{"geo3k_tool", "gsm8k_tool", "image_zoom_in_tool", "mcp_base_tool", "mcp_search_tool", "sandbox_fusion_tools", "search_tool", "utils"}
