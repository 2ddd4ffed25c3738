package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL711", Name: "rollout-mode-sync", Cites: []string{"verl@b178a3cd5 workers/config/rollout.py:244"}, Rows: rule.RL,
	Title: "rollout.mode is sync: there is no agent loop",
	Doc: `
Since 0.7 verl refuses the mode sync: ValueError 'Rollout mode sync has been removed' (workers/config/rollout.py:244; bd512a0ad). Up to 0.6
sync is the default, and it runs no agent loop: verl silently ignores agent_name, tools and traces. There the launch needs
rollout.mode=async, and data.return_raw_chat=True (RL712). Read only.
`,
	Applies: []rule.Severity{
		{Versions: ">=0.7", Level: rule.Error, Consequence: "verl refuses it: ValueError \"Rollout mode 'sync' has been removed\""},
		{Versions: "<0.7", Level: rule.Warning, Consequence: "no agent loop runs"},
	},
	New: onLaunch(func(c *launchCheck) {
		if c.Text(keyMode) != "sync" {
			return
		}
		if !c.Target.Within(hasSyncRollout) {
			c.at(keyMode, "%s", c.Consequence)
			return
		}
		_, tools, _ := c.Tools()
		column, _ := c.agentColumn()
		switch {
		case c.Text(keyBackend) != "":
			c.at(keyMode, "sync: %s, and %s records nothing", c.Consequence, c.Text(keyBackend))
		case column:
			c.at(keyMode, "sync: %s, and the column agent_name is ignored", c.Consequence)
		case tools && c.Text(rollout+"name") != "sglang":
			c.at(keyMode, "sync: %s, and the tools are never offered", c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "an old script on 0.7 or later", Launch: "actor_rollout_ref.rollout.mode=sync", Want: []string{"launch 1 actor_rollout_ref.rollout.mode"}},
		{Title: "a trace on 0.6, mode not set", Launch: "actor_rollout_ref.rollout.trace.backend=weave", Target: "verl@0.6", Want: []string{"launch 0 actor_rollout_ref.rollout.mode"}},
		{Title: "agent_name on 0.5", Files: []string{`{"agent_name":"tool_agent"}`}, Launch: "data.train_batch_size=1", Target: "verl@0.5", Want: []string{"launch 0 actor_rollout_ref.rollout.mode"}},
		{Title: "async", Launch: "actor_rollout_ref.rollout.mode=async"},
		{Title: "0.6 with nothing to lose", Launch: "data.train_batch_size=8", Target: "verl@0.6"},
	},
})
