package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL709", Name: "trace-project-default", Rows: rule.RL,
	Title: "traces go to verl's default project, together with those of other runs",
	Doc: `
The project of a trace is trainer.project_name, and verl_examples by default. Since 0.7.1 trace.project_name replaces it, and defaults to
it. The experiment is gsm8k by default. If two runs keep both defaults, their traces cannot be distinguished: a trace has the experiment's
name, but no name of the run.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "traces do not distinguish the runs"}},
	New: onLaunch(func(c *launchCheck) {
		if traced, _ := c.Traced(); !traced {
			return
		}
		for _, key := range []string{"project_name", "experiment_name"} {
			if !c.Set("trainer."+key) && !c.Set(rollout+"trace."+key) {
				c.at("trainer."+key, "not set: traces go under %s: %s", c.Text("trainer."+key), c.Consequence)
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "no experiment", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=weave\ntrainer.project_name=mine", Want: []string{"launch 0 trainer.experiment_name"}},
		{Title: "both", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=weave\ntrainer.project_name=mine\ntrainer.experiment_name=one"},
	},
})
