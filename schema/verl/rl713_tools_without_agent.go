package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL713", Name: "tools-without-agent", Rows: rule.RL,
	Title: "tools are configured, but no sample runs in an agent loop that offers them",
	Doc: `
Each row's agent_name selects the agent loop. If the files have no such column, rollout.agent.default_agent_loop selects it: the default is
single_turn_agent, which offers no tools. multi_turn.enable selects nothing. So a launch with multi_turn.tool_config_path over rows without
agent_name trains single-turn, without a message (executed on verl 0.9.1; verl issues 2986, 2966). verl's README example
(gsm8k_multiturn_w_tool.py with run_qwen2.5-3b_gsm8k_multiturn.sh) is such a pair. gsm8k_tool_agent_loop.py writes the column.

Add agent_name=tool_agent to every file, or set actor_rollout_ref.rollout.agent.default_agent_loop=tool_agent (0.6 and later).
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "every sample runs as single_turn_agent, and its tools are never offered"}},
	New: onLaunch(func(c *launchCheck) {
		_, configured, _ := c.Tools()
		if at := "data.tool_config_path"; !configured && c.Set(at) && c.Text(at) != "" && c.Target.Within(">=0.6") {
			c.at(at, "the agent loop reads multi_turn.tool_config_path alone, and the launch does not set it: no sample is offered these tools")
			return
		}
		key := keyTools
		if c.Text(keyTools) == "" {
			key = keyFunctions
		}
		if agent := c.Text(keyAgent); !configured || agent != "single_turn_agent" && agent != "" || c.runtimeColumns() {
			return
		}
		if c.Target.Within(hasSyncRollout) && (c.Text(keyMode) == "sync") {
			return // RL711; sglang's own multi-turn reads the tools
		}
		switch has, known := c.agentColumn(); {
		case known && !has:
			c.at(key, "no file has a column agent_name, and default_agent_loop is single_turn_agent: %s", c.Consequence)
		case !known:
			c.atLevel(rule.Warning, key, "only rows whose agent_name is tool_agent are offered these tools: without the column every sample runs as single_turn_agent")
		}
	}),
	Advise:  adviseToolAgent,
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "verl's README example", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}],"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Launch: "actor_rollout_ref.rollout.multi_turn.enable=true\nactor_rollout_ref.rollout.multi_turn.tool_config_path=tools.yaml", Want: []string{"launch 2 actor_rollout_ref.rollout.multi_turn.tool_config_path"}},
		{Title: "data that is not here", Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=tools.yaml", Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.tool_config_path"}},
		{Title: "rows name their agent", Files: []string{`{"agent_name":"tool_agent"}`}, Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=tools.yaml"},
		{Title: "the launch names it", Files: []string{`{"prompt":[]}`}, Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=tools.yaml\nactor_rollout_ref.rollout.agent.default_agent_loop=tool_agent"},
		{Title: "only the key of the dataset", Launch: "data.tool_config_path=tools.yaml", Want: []string{"launch 1 data.tool_config_path"}},
		{Title: "no tools", Files: []string{`{"prompt":[]}`}, Launch: "actor_rollout_ref.rollout.multi_turn.tool_config_path=null"},
	},
})
