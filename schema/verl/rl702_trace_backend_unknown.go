package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL702", Name: "trace-backend-unknown", Rows: rule.RL,
	Title: "unknown trace backend",
	Doc: `
rollout_trace.py compares the name with 'weave', 'mlflow' and, since 0.8, 'trackio'. The name must be exact. With any other name, such as
'MLflow' or 'wandb', it does nothing: there is no error, and there are no traces (rollout_trace.py:100-113 in 0.9.1).
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "verl silently ignores any other name: nothing is traced"}},
	New: onLaunch(func(c *launchCheck) {
		v, pos, set := c.Value(keyBackend)
		if !set || v.IsNull() || slices.Contains(c.Backends(), v.Text()) {
			return
		}
		near := ""
		for _, b := range []string{"mlflow", "trackio", "weave"} {
			if strings.EqualFold(b, v.Text()) && v.Kind() == schema.Text {
				near = b + " in lower case is meant? "
			}
		}
		c.Reportf(pos, v, "%s: verl %s knows %s; %s%s", v.Excerpt(40), c.version(), strings.Join(c.Backends(), ", "), near, c.Consequence)
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "another case", Launch: "actor_rollout_ref.rollout.trace.backend=MLflow", Want: []string{"launch 1 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "a logger's name", Launch: "trainer.use_v1=false\nactor_rollout_ref.rollout.trace.backend=wandb", Want: []string{"launch 2 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "trackio before 0.8", Launch: "actor_rollout_ref.rollout.trace.backend=trackio", Target: "verl@0.7", Want: []string{"launch 1 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "mlflow", Launch: "actor_rollout_ref.rollout.trace.backend=mlflow"},
		{Title: "none", Launch: "actor_rollout_ref.rollout.trace.backend=null"},
	},
})
