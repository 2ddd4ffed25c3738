package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL712", Name: "raw-chat-missing", Rows: rule.RL,
	Title: "an agent loop of verl 0.5 or 0.6 without data.return_raw_chat=True",
	Doc: `
Up to 0.6 the dataset passes raw_prompt to the agent loop only with data.return_raw_chat=True. The default is False, and the loop fails with
KeyError 'raw_prompt' at the first step. Since 0.7 the dataset always passes it (51d27376c). Read only.
`,
	Applies: []rule.Severity{{Versions: "<0.7", Level: rule.Error, Consequence: "the agent loop fails with KeyError 'raw_prompt'"}},
	New: onLaunch(func(c *launchCheck) {
		if c.Text(keyMode) == "async" && !c.Bool("data.return_raw_chat") {
			c.at("data.return_raw_chat", "not true with rollout.mode=async: %s", c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "only async", Launch: "actor_rollout_ref.rollout.mode=async", Target: "verl@0.6", Want: []string{"launch 0 data.return_raw_chat"}},
		{Title: "both", Launch: "actor_rollout_ref.rollout.mode=async\ndata.return_raw_chat=true", Target: "verl@0.6"},
		{Title: "0.7", Launch: "actor_rollout_ref.rollout.mode=async", Target: "verl@0.7"},
	},
})
