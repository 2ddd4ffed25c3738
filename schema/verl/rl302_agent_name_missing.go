package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL302", Name: "agent-name-missing", Rows: rule.RL,
	Title: "rows have tools_kwargs or interaction_kwargs, but no agent_name",
	Doc: `
Only its agent_name selects the agent loop of a sample. Without the column every sample runs in rollout.agent.default_agent_loop, which is
single_turn_agent by default. Tools are then never offered, tools_kwargs are never read, and training continues without a message (executed
on verl 0.9.1; verl issues 3257, 2340). multi_turn.enable selects nothing. verl's own gsm8k_multiturn_w_tool.py writes such files.

Add the column to every file. If the launch sets default_agent_loop=tool_agent, this rule reports nothing.
`,
	Applies: always("every sample runs as single_turn_agent, and its tools are never offered"),
	New:     func(p *rule.Pass) rule.Checker { return &agentMissing{p} },
	Fixes:   []rule.Fix{setAgent("writes the agent of --agent")},
	Advise:  adviseToolAgent,
	Unfixed: "rlprep does not guess the agent: set --agent",
	Examples: []rule.Example{
		{Title: "verl's gsm8k_multiturn_w_tool.py", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}],"extra_info":{"index":0,"need_tools_kwargs":true,"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Want: []string{"0 -1 agent_name"}},
		{Title: "an interaction, up to verl 0.7", Files: []string{`{"extra_info":{"interaction_kwargs":{"name":"gsm8k","ground_truth":"72"}}}`}, Target: "verl@0.7", Want: []string{"0 -1 agent_name"}},
		{Title: "with agent_name", Files: []string{`{"agent_name":"tool_agent","extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}},
		{Title: "the launch chooses the agent", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Launch: "actor_rollout_ref.rollout.agent.default_agent_loop=tool_agent"},
		{Title: "a custom dataset class may add it", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Launch: "data.custom_cls.path=mine.py"},
		{Title: "SGLang's multi-turn of 0.5", Target: "verl@0.5", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Launch: "actor_rollout_ref.rollout.name=sglang\nactor_rollout_ref.rollout.multi_turn.enable=true"},
		{Title: "no tools", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}],"extra_info":{"index":0}}`}},
		{Title: "a column of nulls, as a union leaves it", Files: []string{`{"extra_info":{"index":0,"tools_kwargs":null}}`}},
	},
})

type agentMissing struct{ *rule.Pass }

// Files implements rule.Checker.
func (c *agentMissing) Files(files []*rule.File) {
	l := launchOf(c.Pass)
	if l != nil && l.Text(keyAgent) != "single_turn_agent" && l.Text(keyAgent) != "" || l.runtimeColumns() {
		return // RL729 says what a dataset class of the user's may do
	}
	if l != nil && l.Target.Within(hasSyncRollout) && l.Text(keyMode) == "sync" && l.Text(rollout+"name") == "sglang" && l.Bool(keyMulti) {
		return // SGLang's own multi-turn reads tools_kwargs (v0.5.0 sglang_rollout.py:575, 1023; v0.6.1 :597, 1087)
	}
	for _, group := range rule.Together(files) {
		named := false
		for _, f := range group {
			named = named || kindOf(f.Schema, agentName) != schema.Missing
		}
		for _, f := range group {
			if !named {
				c.file(f)
			}
		}
	}
}

func (c *agentMissing) file(f *rule.File) {
	at := schema.FilePos(f.Name).At(agentName)
	switch {
	case given(f.Schema, toolsKwargs):
		c.Reportf(at, schema.Value{}, "no such column, but there is %s: %s", toolsKwargs, c.Consequence)
	case given(f.Schema, interaction) && c.Env.Target.Within(hasInteractions):
		c.Reportf(at, schema.Value{}, "no such column, but there is %s: every sample runs as single_turn_agent, and the interaction never begins", interaction)
	case given(f.Schema, interaction): // removed by 63dc08501, 2026-04-20
		c.Report(rule.Finding{Level: rule.Warning, Pos: at, Message: "no such column, but there is " + string(interaction) +
			": every sample runs as single_turn_agent, and verl 0.8 and later have no interactions"})
	}
}

// given reports whether the column holds anything: a union of structs leaves columns that are only ever null.
func given(s *schema.Schema, path schema.Path) bool {
	k := kindOf(s, path)
	return k != schema.Missing && k != schema.Null
}
