package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL301", Name: "agent-name-null", Cites: []string{"verl@b178a3cd5 agent_loop.py:504"}, Rows: rule.RL,
	Title: "agent_name is null in some rows",
	Doc: `
verl applies rollout.agent.default_agent_loop only if the whole column is absent. A null in an existing column is
looked up as an agent loop called None: AssertionError 'Agent loop None not registered' (agent_loop.py, _run_agent_loop),
after the models are loaded. The V1 trainer logs it and trains without the sample; when every sample of a batch fails, its
replay buffer raises. The step of the older trainer fails (executed on verl 0.9.1). If only some of the files have the column, it is
filled with nulls in the others.

Give every row a name, or drop the column from every file.
`,
	Applies: byTrainer("'Agent loop None not registered'"),
	Reads:   reads(agentName),
	New:     func(p *rule.Pass) rule.Checker { return &agentNull{p} },
	Fixes: []rule.Fix{
		setAgent("writes the agent of --agent"),
		fixes.DropNull("drops a column that is null in every row of every file"),
	},
	Advise:  adviseToolAgent,
	Unfixed: "rlprep does not guess the agent: set --agent",
	Examples: []rule.Example{
		{Title: "one row that pandas skipped", Files: []string{`{"agent_name":"tool_agent"}
{"agent_name":null}
{"agent_name":"tool_agent"}`}, Want: []string{"0 1 agent_name"}},
		{Title: "null in every row", Files: []string{`{"agent_name":null}
{"agent_name":null}`}, Want: []string{"0 0 agent_name", "0 1 agent_name"}},
		{Title: "the column in one file only", Files: []string{`{"agent_name":"tool_agent"}`, `{"id":1}`}, Want: []string{"1 -1 agent_name"}},
		{Title: "a name in every row", Files: []string{`{"agent_name":"tool_agent"}
{"agent_name":"single_turn_agent"}`}},
		{Title: "no column at all: the default applies", Files: []string{`{"id":1}`, `{"id":2}`}},
		{Title: "validation runs without tools", Files: []string{`{"agent_name":"tool_agent"}`}, Val: []string{`{"id":2}`}},
	},
})

type agentNull struct{ *rule.Pass }

// Files implements rule.Checker.
func (c *agentNull) Files(files []*rule.File) {
	for _, group := range rule.Together(files) {
		var with string
		for _, f := range group {
			if kindOf(f.Schema, agentName) != schema.Missing {
				with = f.Name
				break
			}
		}
		for _, f := range group {
			if with != "" && kindOf(f.Schema, agentName) == schema.Missing {
				c.Reportf(schema.FilePos(f.Name).At(agentName), schema.Value{}, "no such column, but %s has one, so it is null in every row here: %s", with, c.Consequence)
			}
		}
	}
}

// Prejudge implements rule.Checker.
func (c *agentNull) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	return at.Missing || at.Nulls == 0
}

// Row implements rule.Checker.
func (c *agentNull) Row(r schema.Row) {
	if r.At(0).IsNull() {
		c.Reportf(r.Pos().At(agentName), schema.Value{}, "null, but the column is present: %s", c.Consequence)
	}
}
