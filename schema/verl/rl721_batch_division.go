package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL721", Name: "batch-division", Rows: rule.RL,
	Title: "the trainer cannot divide the batch",
	Doc: `
The older trainer splits train_batch_size × rollout.n trajectories into equal chunks for rollout.agent.num_workers workers. If that is
impossible, it fails with AssertionError 'only support equal chunk' (protocol.py:871). If a chunk is not a multiple of n, the rollouts of a
sample go to two workers, and traces repeat (step, sample_index, rollout_n) (executed).

V1 makes unequal chunks, which does no harm (10 rows, 8 workers: executed). But train_batch_size must be a multiple of gen_batch_size, else
V1 fails with ValueError (executed on 0.9.1).
`,
	Applies: []rule.Severity{
		{Trainer: trainerV1, Level: rule.Error, Consequence: "verl refuses it with ValueError"},
		{Level: rule.Error, Consequence: "the first step fails with AssertionError: only support equal chunk"},
	},
	New: onLaunch(func(c *launchCheck) {
		b, n, w, g := c.Int(keyBatch), c.Int(keyN), c.Int(keyWorkers), c.Int(keyGenBatch)
		if b <= 0 || n <= 0 || fullyAsync(c.Launch) {
			return
		}
		if c.V1() {
			if g > 0 && b%g != 0 {
				c.at(keyGenBatch, "train_batch_size %d is no multiple of gen_batch_size %d: %s", b, g, c.Consequence)
			}
			return
		}
		if g > 0 {
			b = g
		}
		if w <= 0 || c.Text(keyMode) == "sync" {
			return
		}
		switch {
		case b*n%w != 0:
			c.at(keyBatch, "%d samples × %d rollouts do not divide by %d workers: %s", b, n, w, c.Consequence)
		case b*n/w%n != 0 && c.Text(keyBackend) != "":
			c.atLevel(rule.Warning, keyBatch, "a worker gets "+number(b*n/w)+" trajectories, no multiple of "+number(n)+" rollouts: a sample is traced by two workers, with the same rollout_n")
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "the older trainer, 8 workers", Launch: "trainer.use_v1=false\ndata.train_batch_size=12\nactor_rollout_ref.rollout.n=5", Target: "verl@0.9-v0", Want: []string{"launch 2 data.train_batch_size"}},
		{Title: "V1 and gen_batch_size", Launch: "data.train_batch_size=12\ndata.gen_batch_size=8", Want: []string{"launch 2 data.gen_batch_size"}},
		{Title: "rollouts of a sample in two workers, traced", Launch: "actor_rollout_ref.rollout.trace.backend=weave\ndata.train_batch_size=12\nactor_rollout_ref.rollout.n=6", Target: "verl@0.8", Want: []string{"launch 2 data.train_batch_size"}},
		{Title: "V1 chunks unequally", Launch: "data.train_batch_size=12\nactor_rollout_ref.rollout.n=5"},
		{Title: "256 × 16 over 8", Launch: "data.train_batch_size=256\nactor_rollout_ref.rollout.n=16", Target: "verl@0.8"},
	},
})
