package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL706", Name: "trace-text", Rows: rule.RL,
	Title: "traces will hold token numbers, not text",
	Doc: `
Without token2text a trace has only prompt_ids and response_ids. Before verl 0.8 token2text adds text only to ToolAgentLoop.run. Those
versions do not trace single_turn_agent itself (rollout_trace.py:199-217 of 0.7), so the key has no effect on it. Text makes traces larger:
in 0.9.1 every turn repeats its whole context (executed).
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "traces hold token numbers only"}},
	New: onLaunch(func(c *launchCheck) {
		traced, _ := c.Traced()
		switch has, known := c.agentColumn(); {
		case !traced:
		case !c.Bool(keyToken):
			c.atLevel(rule.Info, keyToken, "false: traces hold token numbers, no text (trace.token2text=True adds it)")
		case !c.Target.Within(tracesAllText) && known && !has && c.Text(keyAgent) != "tool_agent":
			c.atLevel(rule.Warning, keyToken, "no effect: before verl 0.8 only tool_agent's traces get text, and no row selects it")
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "not set", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=mlflow", Want: []string{"launch 0 actor_rollout_ref.rollout.trace.token2text"}},
		{Title: "single_turn_agent in 0.7", Files: []string{`{"prompt":[]}`}, Launch: "actor_rollout_ref.rollout.trace.backend=mlflow\nactor_rollout_ref.rollout.trace.token2text=true", Target: "verl@0.7", Want: []string{"launch 2 actor_rollout_ref.rollout.trace.token2text"}},
		{Title: "with text", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=mlflow\nactor_rollout_ref.rollout.trace.token2text=true"},
	},
})
