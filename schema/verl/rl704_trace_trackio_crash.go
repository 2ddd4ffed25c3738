package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL704", Name: "trace-trackio-crash", Rows: rule.RL,
	Title: "tracing to trackio ends the first rollout",
	Doc: `
trackio.init sets a context variable in the constructor of the Ray actor. The actor's methods run in another context, so the first
trackio.log raises 'Call trackio.init() before trackio.log()'. The handler that should log this error raises it again (executed on verl
0.9.1 with trackio 0.43; 0.8 has the same code and was not run). The default trainer of 0.9 traces nothing at all (RL703). trackio works as
a trainer.logger.
`,
	Applies: []rule.Severity{
		{Versions: ">=0.9", Level: rule.Error, Consequence: "the first rollout fails with 'Call trackio.init() before trackio.log()'"},
		{Versions: "0.8", Level: rule.Warning, Consequence: "the first rollout probably fails with 'Call trackio.init() before trackio.log()', as in 0.9"},
	},
	New: onLaunch(func(c *launchCheck) {
		if traced, _ := c.Traced(); traced && c.Text(keyBackend) == "trackio" {
			c.at(keyBackend, "%s", c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "trackio as trace backend", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=trackio", Want: []string{"launch 2 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "trackio as logger", Launch: `trainer.logger=["console","trackio"]`},
		{Title: "the V1 trainer, which does not trace", Launch: "actor_rollout_ref.rollout.trace.backend=trackio"},
	},
})
