package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL738", Name: "tool-turns", Rows: rule.RL,
	Title: "tools are configured, and the limits of turns and calls let none run",
	Doc: `
tool_agent ends a sample when it has had multi_turn.max_assistant_turns answers: with 1 the first answer is the last, and its tool calls are not run. Of the calls of an answer it runs max_parallel_calls: with 0 none (tool_agent_loop.py; executed on 0.9.1: no call was answered).
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "no tool call is ever run"}},
	New: onLaunch(func(c *launchCheck) {
		if _, configured, _ := c.Tools(); !configured {
			return
		}
		if v, _, _ := c.Value(rollout + "multi_turn.max_assistant_turns"); v.Kind() == schema.Int && v.Int() == 1 {
			c.at(rollout+"multi_turn.max_assistant_turns", "the first answer is the last: %s", c.Consequence)
		}
		if v, _, set := c.Value(rollout + "multi_turn.max_parallel_calls"); set && v.Kind() == schema.Int && v.Int() <= 0 {
			c.at(rollout+"multi_turn.max_parallel_calls", "of the calls of an answer none is taken: %s", c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "one turn, no calls", Launch: toolsAt + "actor_rollout_ref.rollout.multi_turn.max_assistant_turns=1\nactor_rollout_ref.rollout.multi_turn.max_parallel_calls=0", Want: []string{"launch 2 actor_rollout_ref.rollout.multi_turn.max_assistant_turns", "launch 3 actor_rollout_ref.rollout.multi_turn.max_parallel_calls"}},
		{Title: "no tools", Launch: "actor_rollout_ref.rollout.multi_turn.max_assistant_turns=1"},
		{Title: "five turns", Launch: toolsAt + "actor_rollout_ref.rollout.multi_turn.max_assistant_turns=5"},
	},
})
