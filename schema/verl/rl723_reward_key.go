package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL723", Name: "reward-key", Rows: rule.RL,
	Title: "this version of verl does not read a key of the reward",
	Doc: `
verl reads reward.custom_reward_function since 0.7.1 (67dc84b96). Earlier versions have only custom_reward_function. The reward loop ignores
data.reward_fn_key: it always reads the column data_source (reward_loop managers; always on since 0.7.1). Read only.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "this version does not read the key"}},
	New: onLaunch(func(c *launchCheck) {
		if key := "reward.custom_reward_function.path"; !c.Target.Within(hasRewardLoop) && c.Set(key) {
			c.atLevel(rule.Error, key, "verl "+c.version()+" has custom_reward_function.path alone: Hydra refuses the key, or with '+' nobody reads it")
		}
		if key := "data.reward_fn_key"; c.Target.Within(hasRewardLoop) && c.Set(key) && c.Text(key) != "data_source" {
			c.at(key, "%s: the reward loop reads data_source, whatever this key says", c.Text(key))
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "another column for the scorer", Launch: "data.reward_fn_key=source", Want: []string{"launch 1 data.reward_fn_key"}},
		{Title: "the later key on 0.6", Launch: "reward.custom_reward_function.path=r.py", Target: "verl@0.6", Want: []string{"launch 1 reward.custom_reward_function.path"}},
		{Title: "the later key", Launch: "reward.custom_reward_function.path=r.py\ndata.reward_fn_key=data_source"},
	},
})
