package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL707", Name: "mlflow-overflow", Rows: rule.RL,
	Title: "a worker runs more trajectories at once than mlflow keeps traces",
	Doc: `
mlflow keeps 1,000 live traces in a process (MLFLOW_TRACE_BUFFER_MAX_SIZE) and silently drops the others. 1,200 concurrent trajectories left
exactly 1,000 (executed with mlflow 3.17.2 and verl's rollout_trace.py). A worker starts all its trajectories of a step together: batch × n
/ workers of them. mlflow's export queue of 1,000 tasks (MLFLOW_ASYNC_TRACE_LOGGING_MAX_QUEUE_SIZE) overflows earlier: of 640 trajectories
with tools, 38 in 100 lost their tags.

Trace a few samples a step (max_samples_per_step_per_worker), raise both variables, or use more workers.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "mlflow keeps 1,000 live traces in each worker and silently drops the others"}},
	New: onLaunch(func(c *launchCheck) {
		if traced, _ := c.Traced(); !traced || c.Text(keyBackend) != "mlflow" {
			return
		}
		workers := max(c.Int(keyWorkers), 1)
		live := (c.TracesPerStep() + workers - 1) / workers
		if _, set := c.Variable("MLFLOW_TRACE_BUFFER_MAX_SIZE"); live <= 1000 || set {
			return
		}
		c.at(keyBackend, "%s traces a step and worker run at once: %s", number(live), c.Consequence)
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a large batch", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=mlflow\ndata.train_batch_size=1024\nactor_rollout_ref.rollout.n=16", Want: []string{"launch 2 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "with a limit", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=mlflow\ndata.train_batch_size=1024\nactor_rollout_ref.rollout.n=16\nactor_rollout_ref.rollout.trace.max_samples_per_step_per_worker=5"},
		{Title: "a small batch", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=mlflow\ndata.train_batch_size=256\nactor_rollout_ref.rollout.n=8"},
	},
})
