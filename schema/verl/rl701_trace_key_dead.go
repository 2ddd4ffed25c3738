package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL701", Name: "trace-key-dead", Rows: rule.RL,
	Title: "the trace is configured under trainer.rollout_trace, which verl does not read",
	Doc: `
Only commits of one week in July 2025 read trainer.rollout_trace (ec4433cd5 to def5b28e3). In 0.5.0 it is read and immediately overwritten
(agent_loop.py:228). With '+' in front Hydra takes any key, so the launch starts, and nothing is traced.

Write actor_rollout_ref.rollout.trace.backend, without '+' (read only: no version of 0.5 to 0.9 reads the old key).
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "verl reads only actor_rollout_ref.rollout.trace, so this traces nothing"}},
	New: onLaunch(func(c *launchCheck) {
		for _, key := range []string{"backend", "token2text"} {
			if key = "trainer.rollout_trace." + key; c.Set(key) {
				c.at(key, "%s", c.Consequence)
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "as an old tutorial has it", Launch: "trainer.rollout_trace.backend=weave\ntrainer.rollout_trace.token2text=true", Want: []string{"launch 1 trainer.rollout_trace.backend", "launch 2 trainer.rollout_trace.token2text"}},
		{Title: "the key that is read", Launch: "actor_rollout_ref.rollout.trace.backend=weave"},
	},
})
