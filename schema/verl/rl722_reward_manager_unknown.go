package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL722", Name: "reward-manager-unknown", Rows: rule.RL,
	Title: "unknown reward manager",
	Doc: `
Up to 0.6 verl registers naive, dapo, batch and prime. The reward loop, always on since 0.7.1, knows naive, dapo, gdpo, rate_limited and
remote. For 'prime' or 'batch' it raises 'Unknown reward manager' when its workers start (reward_manager/registry.py; names executed on
0.9.1). 0.9 still accepts reward_model.reward_manager and moves it to reward.reward_manager.name (executed).
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the reward workers fail with ValueError: Unknown reward manager"}},
	New: onLaunch(func(c *launchCheck) {
		name, key := c.Manager()
		source := c.Text("reward.reward_manager.source")
		known := itemsFor(c.Target, rewardManagers)
		if loop, _, set := c.Value("reward_model.use_reward_loop"); set && !loop.Bool() && loop.Kind() != 0 {
			known = append(known, "batch", "prime")
		}
		if c.Set(key) && source != "importlib" && !slices.Contains(known, name) {
			c.at(key, "%s: verl %s has %s: %s", name, c.version(), strings.Join(known, ", "), c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "prime since the reward loop", Launch: "reward_model.reward_manager=prime", Want: []string{"launch 1 reward_model.reward_manager"}},
		{Title: "remote before it", Launch: "reward_model.reward_manager=remote", Target: "verl@0.6", Want: []string{"launch 1 reward_model.reward_manager"}},
		{Title: "dapo under either key", Launch: "reward.reward_manager.name=dapo"},
		{Title: "prime in 0.6", Launch: "reward_model.reward_manager=prime", Target: "verl@0.6"},
		{Title: "a custom manager", Launch: "reward.reward_manager.source=importlib\nreward.reward_manager.name=Mine"},
	},
})
