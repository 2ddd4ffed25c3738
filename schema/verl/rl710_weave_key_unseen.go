package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL710", Name: "weave-key-unseen", Rows: rule.RL,
	Title: "traces go to weave, and the script exports no WANDB_API_KEY",
	Doc: `
weave.init needs the key in the environment of the worker, or in ~/.netrc of every node. Without a key, the worker's constructor fails
before the first step. With a wrong or exhausted account training continues, but every batch of traces is lost, and only a log line reports
it (executed with weave 0.54 against a loopback server: 401 and 403 are not retried). A script that does not export the key is fine if the
node has it.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "weave.init fails on a node that has no key"}},
	New: onLaunch(func(c *launchCheck) {
		key, _ := c.Variable("WANDB_API_KEY")
		if traced, _ := c.Traced(); traced && c.Text(keyBackend) == "weave" && key == "" {
			c.at(keyBackend, "no WANDB_API_KEY in the script or --env: %s", c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "no key", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=weave", Want: []string{"launch 2 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "exported", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=weave\n$WANDB_API_KEY=key"},
	},
})
