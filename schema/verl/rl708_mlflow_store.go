package verl

import (
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL708", Name: "mlflow-store", Rows: rule.RL,
	Title: "with this mlflow store, or without one, workers fail or their traces are scattered",
	Doc: `
Every agent-loop worker (8 by default) opens MLFLOW_TRACKING_URI itself. If the variable is not set, each worker uses
sqlite:////tmp/mlruns.db of its own node (rollout_trace.py:99). Executed with mlflow 3.17.2:

- All workers create an sqlite file that does not exist yet, at the same time: 3 of 4 crashed in its migration.
- A relative sqlite path is a different file for each worker.
- mlflow refuses file: and ./folder ('filesystem tracking backend is in maintenance mode'), and the run ends.
- On a server, workers that create the experiment at the same time write into "Default".

Set MLFLOW_TRACKING_URI to a server, and create the experiment before the launch (mlflow experiments create).
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "workers share no store"}},
	New: onLaunch(func(c *launchCheck) {
		if c.Text(keyBackend) != "mlflow" || c.Text(keyMode) == "sync" {
			return
		}
		uri, _ := c.Variable("MLFLOW_TRACKING_URI")
		workers := c.Int(keyWorkers)
		path, sqlite := strings.CutPrefix(uri, "sqlite:///")
		switch {
		case strings.HasPrefix(uri, "file:") || uri != "" && !strings.Contains(uri, ":"):
			c.atLevel(rule.Error, keyBackend, "MLFLOW_TRACKING_URI="+uri+": mlflow 3 refuses a folder as store, and the run ends")
		case sqlite && !strings.HasPrefix(path, "/"):
			c.at(keyBackend, "MLFLOW_TRACKING_URI=%s is relative: every worker has a file of its own", uri)
		case (sqlite || uri == "") && workers > 1:
			if uri == "" {
				uri = "not set: sqlite:////tmp/mlruns.db on each node"
			}
			c.at(keyBackend, "MLFLOW_TRACKING_URI %s; where the file is not there yet, %d workers create it at once, and most crash", uri, workers)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "not set", Launch: "actor_rollout_ref.rollout.trace.backend=mlflow", Want: []string{"launch 1 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "a folder", Launch: "actor_rollout_ref.rollout.trace.backend=mlflow\n$MLFLOW_TRACKING_URI=./mlruns", Want: []string{"launch 1 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "a relative file", Launch: "actor_rollout_ref.rollout.trace.backend=mlflow\n$MLFLOW_TRACKING_URI=sqlite:///mlruns.db", Want: []string{"launch 1 actor_rollout_ref.rollout.trace.backend"}},
		{Title: "a server", Launch: "actor_rollout_ref.rollout.trace.backend=mlflow\n$MLFLOW_TRACKING_URI=http://mlflow:5000"},
		{Title: "another backend", Launch: "actor_rollout_ref.rollout.trace.backend=weave"},
	},
})
