package verl

import (
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL718", Name: "agent-config", Rows: rule.RL,
	Title: "the file of agent_loop_config_path is not what verl reads",
	Doc: `
agent_loop.py:375-380 wants a YAML list at the top, each entry with name and Hydra's _target_. A mapping at the top fails with AttributeError "'str' object has no attribute 'name'", an entry without name with ConfigAttributeError, both when the workers start (executed in
January's tree); a wrong _target_ at its first use. A name of verl's own (single_turn_agent, tool_agent) replaces verl's agent without a word.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the agent-loop workers fail when they start"}},
	New: onLaunch(func(c *launchCheck) {
		doc := c.Document(keyAgents)
		switch {
		case doc.IsMissing():
			return
		case doc.Kind() != schema.List:
			c.at(keyAgents, "the file is no list at its top: %s", c.Consequence)
			return
		}
		for i := range doc.Len() {
			e := doc.Elem(i)
			name, target := e.Field("name").Text(), e.Field("_target_").Text()
			switch {
			case name == "":
				c.at(keyAgents, "entry %d has no name: %s", i, c.Consequence)
			case target == "":
				c.at(keyAgents, "agent loop %s has no _target_: it fails at its first sample", name)
			case slices.Contains(agents, name):
				c.atLevel(rule.Warning, keyAgents, "it registers "+name+", which replaces verl's own")
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a mapping", Launch: "actor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml\n" + `@actor_rollout_ref.rollout.agent.agent_loop_config_path={"react_agent":{"_target_":"my.Agent"}}`, Want: []string{"launch 1 actor_rollout_ref.rollout.agent.agent_loop_config_path"}},
		{Title: "no name, no target, verl's name", Launch: "actor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml\n" + `@actor_rollout_ref.rollout.agent.agent_loop_config_path=[{"_target_":"my.A"},{"name":"b"},{"name":"tool_agent","_target_":"my.C"}]`, Want: []string{"launch 1 actor_rollout_ref.rollout.agent.agent_loop_config_path", "launch 1 actor_rollout_ref.rollout.agent.agent_loop_config_path", "launch 1 actor_rollout_ref.rollout.agent.agent_loop_config_path"}},
		{Title: "a list", Launch: "actor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml\n" + `@actor_rollout_ref.rollout.agent.agent_loop_config_path=[{"name":"react_agent","_target_":"my.Agent"}]`},
	},
})
