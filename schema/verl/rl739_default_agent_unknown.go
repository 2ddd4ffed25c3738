package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL739", Name: "default-agent-unknown", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 experimental/agent_loop/agent_loop.py:610-612", "verl@0.9.1 experimental/agent_loop/agent_loop.py:678-680", "verl@0.6.1 experimental/agent_loop/agent_loop.py:346-348", "verl@0.6.1 experimental/agent_loop/agent_loop.py:383-385"},
	Title: "unknown agent loop in default_agent_loop",
	Doc: `
Rows without agent_name run in rollout.agent.default_agent_loop (0.9.1 experimental/agent_loop/agent_loop.py:610-612). If neither verl nor
agent_loop_config_path registers the name, the rollout worker fails with AssertionError 'Agent loop NAME not registered'
(agent_loop.py:678-680). V1 then loses every sample, and the step of the older trainer fails (executed on 0.9.1). Put your own names that
are registered elsewhere into --known-agents.
`,
	Applies: byTrainer("'Agent loop … not registered'"),
	New: onLaunch(func(c *launchCheck) {
		name := c.Text(keyAgent)
		if !c.Set(keyAgent) || name == "" || knownAgents(c.Pass)(name) || c.runtimeColumns() || c.Program() == recipeProgram {
			return
		}
		registered, known := c.Agents()
		all := slices.Concat(agents, registered)
		near := ""
		if n := schema.Nearest(name, all); n != "" {
			near = "; did you mean " + n + "?"
		}
		if !known {
			c.atLevel(rule.Warning, keyAgent, name+": not one of verl's own, and "+c.Text(keyAgents)+", which may register it, cannot be read here")
			return
		}
		c.at(keyAgent, "%s: there are %s%s: %s", name, strings.Join(all, ", "), near, c.Consequence)
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a typing error", Launch: "actor_rollout_ref.rollout.agent.default_agent_loop=tool_agnet", Want: []string{"launch 1 actor_rollout_ref.rollout.agent.default_agent_loop"}},
		{Title: "registered by the launch", Launch: "actor_rollout_ref.rollout.agent.default_agent_loop=react_agent\nactor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml\n" + `@actor_rollout_ref.rollout.agent.agent_loop_config_path=[{"name":"react_agent","_target_":"my.Agent"}]`},
		{Title: "perhaps registered: a warning", Launch: "actor_rollout_ref.rollout.agent.default_agent_loop=react_agent\nactor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml", Want: []string{"launch 1 actor_rollout_ref.rollout.agent.default_agent_loop"}},
		{Title: "verl's own", Launch: "actor_rollout_ref.rollout.agent.default_agent_loop=tool_agent"},
	},
})
