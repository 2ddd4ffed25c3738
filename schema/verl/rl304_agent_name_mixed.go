package verl

import (
	"iter"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL304", Name: "agent-name-mixed", Rows: rule.RL,
	Title: "a split mixes agent loops, for verl 0.7",
	Doc: `
In 0.7.0 tool_agent gives each sample turn_scores and tool_rewards, and single_turn_agent does not. verl cannot join a batch in which one
worker has only rows of one agent and another worker has rows of the other. It fails with a bare AssertionError in DataProto.concat, or with
'key turn_scores length … is not equal to batch size'. Commit 968233075 (2026-02-13, 0.7.1) fixed it. Earlier and later versions mix the
agents without problems (executed on verl 0.9.1).
`,
	Applies: []rule.Severity{{Versions: "0.7", Level: rule.Warning, Consequence: "in 0.7.0 a batch that mixes them fails in DataProto.concat"}},
	Reads:   reads(agentName),
	New:     func(p *rule.Pass) rule.Checker { return &agentMixed{Pass: p} },
	Unfixed: "the data does not show which rows to remove",
	Examples: []rule.Example{
		{Title: "both in one split", Target: "verl@0.7", Files: []string{`{"agent_name":"tool_agent"}
{"agent_name":"tool_agent"}
{"agent_name":"single_turn_agent"}`}, Want: []string{"0 2 agent_name"}},
		{Title: "both in one split, in 0.9", Files: []string{`{"agent_name":"tool_agent"}
{"agent_name":"single_turn_agent"}`}},
		{Title: "one in train, one in validation", Target: "verl@0.7", Files: []string{`{"agent_name":"tool_agent"}`}, Val: []string{`{"agent_name":"single_turn_agent"}`}},
	},
})

type agentMixed struct {
	*rule.Pass
	seen []string // of this task
}

// Row implements rule.Checker: each name is emitted once a task.
func (c *agentMixed) Row(r schema.Row) {
	v := r.At(0)
	if v.Kind() != schema.Text || rule.Known(v.Text(), c.seen, nil) {
		return
	}
	c.seen = append(c.seen, v.Clone().Text())
	c.Emit(rule.NewKey("agents"), r, rule.Hash(v.Text()))
}

// Group implements rule.Checker: the first row of each name but the first.
func (c *agentMixed) Group(_ rule.Key, hits iter.Seq[rule.Hit]) {
	var told []rule.Hit
next:
	for h := range hits {
		other := false
		for _, t := range told {
			if rule.SameDataset(t.File, h.File) {
				if t.Value == h.Value {
					continue next
				}
				other = true
			}
		}
		if told = append(told, h); other {
			c.Reportf(h.Pos().At(agentName), schema.Value{}, "another agent loop than in rows before: %s", c.Consequence)
		}
	}
}
