package verl

import (
	"slices"
	"strconv"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL718", Name: "agent-config", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 experimental/agent_loop/agent_loop.py:534-539", "verl@0.9.1 experimental/agent_loop/agent_loop.py:682-693", "verl@0.5.0 experimental/agent_loop/agent_loop.py:222-226"},
	Title: "verl cannot read the file of agent_loop_config_path",
	Doc: `
The worker of the agent loops reads the file when it starts (0.9.1 experimental/agent_loop/agent_loop.py:534-539, 0.5.0
agent_loop.py:222-226). The file must be a YAML list. Each entry has name and Hydra's _target_. A mapping or a text instead of the list, and
an entry that is not a mapping, fail with AttributeError "'str' object has no attribute 'name'". An entry without name fails with
ConfigAttributeError. verl uses _target_ for the first sample of that loop (agent_loop.py:682-693). Without it, the sample fails with
ConfigAttributeError 'Missing key run'. If it is not module.Class, the sample fails with InstantiationException 'Error locating target' (all
executed with OmegaConf 2.3 and hydra-core 1.3, over 27 files).

If two entries have one name, the second silently replaces the first. An entry with a name of verl's own (single_turn_agent, tool_agent)
silently replaces verl's agent. verl registers a name that is not a text, but no row can select it.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the agent-loop workers fail when they start"}},
	New: onLaunch(func(c *launchCheck) {
		if bad := c.DocumentError(keyAgents); bad != "" {
			c.at(keyAgents, "%s: %s", bad, c.Consequence)
			return
		}
		doc := c.Document(keyAgents)
		switch {
		case doc.IsMissing() || doc.Kind() == schema.Struct && doc.Len() == 0: // an empty file registers nothing
			return
		case doc.Kind() != schema.List:
			c.at(keyAgents, "the file is no list at its top: %s", c.Consequence)
			return
		}
		seen := map[string]bool{}
		for i := range doc.Len() {
			c.agentEntry(i, doc.Elem(i), seen)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a mapping", Launch: "actor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml\n" + `@actor_rollout_ref.rollout.agent.agent_loop_config_path={"react_agent":{"_target_":"my.Agent"}}`, Want: []string{"launch 1 actor_rollout_ref.rollout.agent.agent_loop_config_path"}},
		{Title: "no name, no target, verl's name", Launch: "actor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml\n" + `@actor_rollout_ref.rollout.agent.agent_loop_config_path=[{"_target_":"my.A"},{"name":"b"},{"name":"tool_agent","_target_":"my.C"}]`, Want: []string{"launch 1 actor_rollout_ref.rollout.agent.agent_loop_config_path", "launch 1 actor_rollout_ref.rollout.agent.agent_loop_config_path", "launch 1 actor_rollout_ref.rollout.agent.agent_loop_config_path"}},
		{Title: "a list", Launch: "actor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml\n" + `@actor_rollout_ref.rollout.agent.agent_loop_config_path=[{"name":"react_agent","_target_":"my.Agent"}]`},
		{Title: "not YAML", Launch: agentsAt + "@!" + keyAgents + "=a.yaml:3:4: did not find expected ',' or ']'", Want: agentsWant(1)},
		{Title: "a text as entry", Launch: agentsAt + "@" + keyAgents + `=["my.Agent"]`, Want: agentsWant(1)},
		{Title: "two of one name, a target without a module", Launch: agentsAt + "@" + keyAgents + `=[{"name":"a","_target_":"my.A"},{"name":"a","_target_":"my.B"},{"name":"b","_target_":"B"}]`, Want: agentsWant(2)},
		{Title: "a name that is not a text", Launch: agentsAt + "@" + keyAgents + `=[{"name":5,"_target_":"my.A"}]`, Want: agentsWant(1)},
		{Title: "target without underscores", Launch: agentsAt + "@" + keyAgents + `=[{"name":"b","target":"my.B"}]`, Want: agentsWant(1)},
		{Title: "an empty file", Launch: agentsAt + "@" + keyAgents + `={}`},
	},
})

const agentsAt = keyAgents + "=a.yaml\n"

func agentsWant(n int) []string { return slices.Repeat([]string{"launch 1 " + keyAgents}, n) }

// agentEntry judges an entry of the list; seen are the names before it.
func (c *launchCheck) agentEntry(i int, e schema.Value, seen map[string]bool) {
	given, target := e.Field("name"), e.Field("_target_")
	name := given.Text()
	_, _, dot := cutLast(target.Text())
	switch {
	case e.Kind() != schema.Struct:
		c.at(keyAgents, "entry %d is %s, not a mapping: %s", i, e.Excerpt(40), c.Consequence)
	case given.IsMissing():
		c.at(keyAgents, "entry %d has no name: %s", i, c.Consequence)
	case given.Kind() != schema.Text:
		c.atLevel(rule.Warning, keyAgents, "entry "+strconv.Itoa(i)+": the name "+given.Excerpt(40)+" is not a text: no row can select it")
	case target.IsMissing() && !e.Field("target").IsMissing():
		c.at(keyAgents, "agent loop %s has target in place of _target_: its first sample fails with ConfigAttributeError", name)
	case target.IsMissing():
		c.at(keyAgents, "agent loop %s has no _target_: its first sample fails with ConfigAttributeError", name)
	case !dot:
		c.at(keyAgents, "agent loop %s: _target_ %s is not module.Class: its first sample fails with InstantiationException", name, target.Excerpt(40))
	case seen[name]:
		c.atLevel(rule.Warning, keyAgents, "entry "+strconv.Itoa(i)+": a second agent loop of the name "+name+" replaces the first")
	case slices.Contains(agents, name):
		c.atLevel(rule.Warning, keyAgents, "it registers "+name+", which replaces verl's own")
	}
	seen[name] = true
}
