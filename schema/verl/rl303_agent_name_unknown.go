package verl

import (
	"slices"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL303", Name: "agent-name-unknown", Rows: rule.RL,
	Title: "agent_name names no agent loop of verl",
	Doc: `
verl registers single_turn_agent and tool_agent; your own names come from agent_loop_config_path. Any other name fails in the rollout worker
with AssertionError 'Agent loop NAME not registered' (agent_loop.py, _run_agent_loop). The V1 trainer logs it and trains without the sample.
The step of the older trainer fails (executed on verl 0.9.1). The name must be exact: an empty text, or a name with a trailing space, is
another name.

Put your own names into --known-agents. Names that the launch registers (lint --config, agent_loop_config_path) are known.
`,
	Applies: byTrainer("'Agent loop … not registered'"),
	Reads:   reads(agentName),
	New:     func(p *rule.Pass) rule.Checker { return newAgentUnknown(p) },
	Fixes:   []rule.Fix{fixes.Unsafe(replaceAgent("writes the agent of --agent"))},
	Advise:  adviseNearest,
	Unfixed: "rlprep does not guess the agent: set --agent",
	Examples: []rule.Example{
		{Title: "a typo in one row", Files: []string{`{"agent_name":"tool_agent"}
{"agent_name":"tool_agent"}
{"agent_name":"tool_agnt"}`}, Want: []string{"0 2 agent_name"}},
		{Title: "empty", Files: []string{`{"agent_name":""}`}, Want: []string{"0 0 agent_name"}},
		{Title: "a space behind it", Files: []string{`{"agent_name":"tool_agent "}`}, Want: []string{"0 0 agent_name"}},
		{Title: "a custom agent that is not declared", Files: []string{`{"agent_name":"react_agent"}`}, Want: []string{"0 0 agent_name"}},
		{Title: "both of verl's", Files: []string{`{"agent_name":"tool_agent"}
{"agent_name":"single_turn_agent"}`}},
		{Title: "a pandas categorical", Files: []string{`{"agent_name":"tool_agent"}`}, Schema: "agent_name: dictionary<values=string, indices=int32, ordered=0>"},
		{Title: "registered by the launch", Files: []string{`{"agent_name":"react_agent"}`}, Launch: "actor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml\n" + `@actor_rollout_ref.rollout.agent.agent_loop_config_path=[{"name":"react_agent","_target_":"my.Agent"}]`},
		{Title: "perhaps registered by the launch: a warning", Files: []string{`{"agent_name":"react_agent"}`}, Launch: "actor_rollout_ref.rollout.agent.agent_loop_config_path=a.yaml", Want: []string{"0 0 agent_name"}},
		{Title: "null: another rule reports it", Files: []string{`{"agent_name":"tool_agent"}
{"agent_name":null}`}},
	},
})

type agentUnknown struct {
	*rule.Pass
	registered []string // by the launch
	partial    []string // by the version
	unread     string   // the launch's agent_loop_config_path, where it cannot be read here
}

func newAgentUnknown(p *rule.Pass) *agentUnknown {
	c := &agentUnknown{Pass: p, partial: itemsFor(p.Env.Target, partialLoops)}
	if l := launchOf(p); l != nil {
		var known bool
		if c.registered, known = l.Agents(); !known {
			c.unread = l.Text(keyAgents)
		}
	}
	return c
}

func (c *agentUnknown) known(v schema.Value) bool {
	if v.Kind() != schema.Text {
		return false
	}
	return rule.Known(v.Text(), agents, c.Env.KnownAgents) || slices.Contains(c.registered, v.Text()) || slices.Contains(c.partial, v.Text())
}

// knownAgents reports of an agent whether it is one of verl's, or one that the launch or --known-agents names.
func knownAgents(p *rule.Pass) func(string) bool {
	c := newAgentUnknown(p)
	return func(agent string) bool { return c.known(schema.TextValue(agent)) }
}

// Prejudge implements rule.Checker.
func (c *agentUnknown) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	if at.Missing {
		return true
	}
	for _, v := range at.Dict {
		if !c.known(v) {
			return false
		}
	}
	return at.Dict != nil
}

// Row implements rule.Checker.
func (c *agentUnknown) Row(r schema.Row) {
	v := r.At(0)
	if v.IsMissing() || v.IsNull() || v.Kind() == schema.Binary || c.known(v) || !utf8.ValidString(v.Text()) {
		return // RL301, RL015, RL006
	}
	if c.unread != "" {
		c.Report(rule.Finding{Level: rule.Warning, Pos: r.Pos().At(agentName), Value: v.Excerpt(80),
			Message: v.Excerpt(40) + ": not one of verl's own, and " + c.unread + ", which may register it, cannot be read here"})
		return
	}
	c.Reportf(r.Pos().At(agentName), v, "%s: %s", v.Excerpt(40), c.Consequence)
}
