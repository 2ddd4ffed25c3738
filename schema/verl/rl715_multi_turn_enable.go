package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL715", Name: "multi-turn-enable", Rows: rule.RL,
	Title: "multi_turn.enable is true, but nothing selects a multi-turn agent loop",
	Doc: `
verl copies multi_turn.enable into meta_info, and the agent loop reads it nowhere else (ray_trainer.py:1237). agent_name or
default_agent_loop selects the agent loop. Only fully_async reads the key: if it is False there, single_turn_agent overwrites agent_name of
every sample (detach_utils.py:66 in 0.9.1, read only), so the column is lost.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "multi_turn.enable selects nothing: every sample runs as single_turn_agent"}},
	New: onLaunch(func(c *launchCheck) {
		has, known := c.agentColumn()
		if fullyAsync(c.Launch) {
			if !c.Bool(keyMulti) && (has || c.Text(keyAgent) == "tool_agent") {
				c.atLevel(rule.Error, keyMulti, "false: fully_async then runs every sample as single_turn_agent, whatever its agent_name")
			}
			return
		}
		_, tools, _ := c.Tools()
		if c.Bool(keyMulti) && c.Set(keyMulti) && !tools && known && !has && c.Text(keyAgent) == "single_turn_agent" && !c.runtimeColumns() {
			c.at(keyMulti, "%s", c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "enabled, and no row selects", Files: []string{`{"prompt":[]}`}, Launch: "actor_rollout_ref.rollout.multi_turn.enable=true", Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.enable"}},
		{Title: "fully_async without it", Files: []string{`{"agent_name":"tool_agent"}`}, Launch: "%module=verl.experimental.fully_async_policy.fully_async_main\nactor_rollout_ref.rollout.n=4", Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.enable"}},
		{Title: "rows name their agent", Files: []string{`{"agent_name":"tool_agent"}`}, Launch: "actor_rollout_ref.rollout.multi_turn.enable=true"},
	},
})
