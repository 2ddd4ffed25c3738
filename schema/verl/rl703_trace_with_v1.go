package verl

import (
	"slices"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL703", Name: "trace-with-v1", Rows: rule.RL,
	Title: "a trace backend is configured, but the V1 trainer traces nothing",
	Doc: `
Since verl 0.9 the V1 trainer is the default (trainer.use_v1=True; bc6fb966c). Its agent-loop worker passes trace=False for every trajectory
(v1/agent_loop_tq.py: "TODO add trace support"; executed on 0.9.1: 0 spans of 12 trajectories). verl still creates the project and the
experiment, and both stay empty.

With trainer.use_v1=False verl traces. Without traces, trainer.rollout_data_dir makes either trainer write prompts, responses and scores.
`,
	Applies: []rule.Severity{{Versions: ">=0.9", Trainer: trainerV1, Level: rule.Warning, Consequence: "the V1 trainer records no trajectory; trainer.use_v1=False does"}},
	New: onLaunch(func(c *launchCheck) {
		if c.V1() && c.Set(keyBackend) && slices.Contains(c.Backends(), c.Text(keyBackend)) {
			c.at(keyBackend, "%s", c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "verl's own mlflow example on 0.9", Launch: "actor_rollout_ref.rollout.trace.backend=mlflow", Want: []string{"launch 1 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "the older trainer", Launch: "actor_rollout_ref.rollout.trace.backend=mlflow\ntrainer.use_v1=false"},
		{Title: "verl 0.8", Launch: "actor_rollout_ref.rollout.trace.backend=mlflow", Target: "verl@0.8"},
		{Title: "no backend", Launch: "actor_rollout_ref.rollout.trace.backend=null"},
	},
})
