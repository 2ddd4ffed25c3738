package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL705", Name: "trace-cap", Rows: rule.RL,
	Title: "trace.max_samples_per_step_per_worker is 0, unset or unknown",
	Doc: `
The value N selects N samples of each worker and step, with all their rollouts. A step has N × agent.num_workers × rollout.n traces. verl
accepts 0, which turns tracing off. null, the default, traces every trajectory; verl's own page on rollout traces mentions dozens of
gigabytes a day. verl knows the key since 0.7 (53d975379). Earlier versions do not read it: Hydra refuses it, or accepts it with '+'.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "0 samples are traced"}},
	New: onLaunch(func(c *launchCheck) {
		v, _, set := c.Value(keyCap)
		switch traced, _ := c.Traced(); {
		case set && !c.Target.Within(hasTraceCap):
			c.at(keyCap, "verl %s does not know this key: every trajectory is traced", c.version())
		case set && c.Text(keyBackend) != "" && v.Kind() == schema.Int && v.Int() == 0:
			c.at(keyCap, "0: no sample is traced")
		case traced && !c.capped():
			if n := c.TracesPerStep(); n >= 1000 {
				c.atLevel(rule.Info, keyCap, "not set: all "+number(n)+" trajectories of a step are traced")
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "0 for no limit", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=weave\nactor_rollout_ref.rollout.trace.max_samples_per_step_per_worker=0", Want: []string{"launch 3 actor_rollout_ref.rollout.trace.max_samples_per_step_per_worker"}},
		{Title: "not set, 5,120 trajectories a step", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=weave\nactor_rollout_ref.rollout.n=5", Want: []string{"launch 0 actor_rollout_ref.rollout.trace.max_samples_per_step_per_worker"}},
		{Title: "before 0.7", Launch: "actor_rollout_ref.rollout.mode=async\nactor_rollout_ref.rollout.trace.backend=weave\nactor_rollout_ref.rollout.trace.max_samples_per_step_per_worker=5", Target: "verl@0.6", Want: []string{"launch 3 actor_rollout_ref.rollout.trace.max_samples_per_step_per_worker"}},
		{Title: "five a worker", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=weave\nactor_rollout_ref.rollout.trace.max_samples_per_step_per_worker=5"},
	},
})
