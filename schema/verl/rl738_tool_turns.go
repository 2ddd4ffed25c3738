package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL738", Name: "tool-turns", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 experimental/agent_loop/tool_agent_loop.py:292", "verl@0.9.1 experimental/agent_loop/tool_agent_loop.py:317", "verl@0.5.0 experimental/agent_loop/tool_agent_loop.py:85", "verl@0.5.0 experimental/agent_loop/tool_agent_loop.py:99"},
	Title: "tools are configured, but the limits of turns and calls prevent every tool call",
	Doc: `
tool_agent ends a sample after multi_turn.max_assistant_turns answers (0.9.1 experimental/agent_loop/tool_agent_loop.py:292; 0.5.0
tool_agent_loop.py:85). With 1 the first answer is the last, and its tool calls are not run. Of the calls in an answer it runs the first
max_parallel_calls (tool_agent_loop.py:317). With 0 it runs none. With -1 it runs all but the last, so none if there is only one. Executed
on 0.9.1 with a model that calls a tool once: with verl's defaults 48 of 48 calls are run, and with each of these settings 0 of 48.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "no tool call is ever run"}},
	New: onLaunch(func(c *launchCheck) {
		if _, configured, _ := c.Tools(); !configured {
			return
		}
		if v, _, _ := c.Value(rollout + "multi_turn.max_assistant_turns"); v.Kind() == schema.Int && v.Int() == 1 {
			c.at(rollout+"multi_turn.max_assistant_turns", "the first answer is the last: %s", c.Consequence)
		}
		if v, _, set := c.Value(rollout + "multi_turn.max_parallel_calls"); set && v.Kind() == schema.Int && v.Int() < 0 {
			c.at(rollout+"multi_turn.max_parallel_calls", "of the calls of an answer the last %d are dropped: of a single call none is run", -v.Int())
		} else if set && v.Kind() == schema.Int && v.Int() == 0 {
			c.at(rollout+"multi_turn.max_parallel_calls", "of the calls of an answer none is taken: %s", c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "one turn, no calls", Launch: toolsAt + "actor_rollout_ref.rollout.multi_turn.max_assistant_turns=1\nactor_rollout_ref.rollout.multi_turn.max_parallel_calls=0", Want: []string{"launch 2 actor_rollout_ref.rollout.multi_turn.max_assistant_turns", "launch 3 actor_rollout_ref.rollout.multi_turn.max_parallel_calls"}},
		{Title: "all but the last call", Launch: toolsAt + "actor_rollout_ref.rollout.multi_turn.max_parallel_calls=-1", Want: []string{"launch 2 actor_rollout_ref.rollout.multi_turn.max_parallel_calls"}},
		{Title: "no tools", Launch: "actor_rollout_ref.rollout.multi_turn.max_assistant_turns=1"},
		{Title: "five turns", Launch: toolsAt + "actor_rollout_ref.rollout.multi_turn.max_assistant_turns=5"},
	},
})
