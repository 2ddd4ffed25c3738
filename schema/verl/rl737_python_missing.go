package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL737", Name: "python-missing", Rows: rule.RL,
	Title: "a Python file that the launch names lacks the function or the class, or verl cannot call it",
	Doc: `
verl loads the reward function (custom_reward_function.path and name, compute_score where none is named) and the dataset class (data.custom_cls) by the path of a file: 'Object not found in module' where the file has no such name (utils/import_utils.py:259; executed on 0.9.1). The reward managers naive and dapo call the function with the keywords data_source, solution_str, ground_truth and extra_info
(reward_loop/reward_manager/naive.py:78; up to 0.6 workers/reward_manager/naive.py), beside those of reward_kwargs: a function that takes others fails with TypeError at the first score.

The file is read, not run: names that it imports or makes are taken to be there.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the training fails"}},
	New: onLaunch(func(c *launchCheck) {
		if path, key := c.Reward(); path != "" {
			name := c.Text(strings.TrimSuffix(key, "path") + "name")
			if name == "" {
				name = "compute_score"
			}
			if text, here := c.Python(key); here {
				c.function(key, path, name, text)
			}
		}
		if text, here := c.Python(keyCustomCls); here {
			c.hasName("data.custom_cls.name", c.Text(keyCustomCls), c.Text("data.custom_cls.name"), text)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "another name", Launch: "custom_reward_function.path=r.py\n&custom_reward_function.path=def compute_scor(data_source, solution_str, ground_truth, extra_info=None):|    return 1", Want: []string{"launch 1 custom_reward_function.path"}},
		{Title: "arguments that verl does not pass", Launch: "custom_reward_function.path=r.py\n&custom_reward_function.path=def compute_score(solution_str, ground_truth):|    return 1", Want: []string{"launch 1 custom_reward_function.path"}},
		{Title: "a class that is not there", Launch: "data.custom_cls.path=d.py\ndata.custom_cls.name=Mine\n&data.custom_cls.path=class Other:|    pass", Want: []string{"launch 2 data.custom_cls.name"}},
		{Title: "as verl calls it", Launch: "custom_reward_function.path=r.py\n&custom_reward_function.path=def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):|    return 1"},
		{Title: "an imported name", Launch: "custom_reward_function.path=r.py\n&custom_reward_function.path=from mine import compute_score"},
		{Title: "a file that is not here", Launch: "custom_reward_function.path=r.py"},
	},
})

// hasName reports a name that a Python file does not define.
func (c *launchCheck) hasName(key, path, name, text string) definition {
	d := defined(text, name)
	if name == "" || d.found || !d.sure {
		return d
	}
	near := ""
	if n := schema.Nearest(name, topNames(text)); n != "" {
		near = "; did you mean " + n + "?"
	}
	c.at(key, "%s has no %s%s: %s with AttributeError 'Object not found in module'", path, name, near, c.Consequence)
	return d
}

// function judges a reward function.
func (c *launchCheck) function(key, path, name, text string) {
	at := strings.TrimSuffix(key, "path") + "name"
	if !c.Set(at) {
		at = key
	}
	d := c.hasName(at, path, name, text)
	if manager, _ := c.Manager(); !d.found || !d.sure || manager != "naive" && manager != "dapo" || c.RewardModel() {
		return
	}
	keywords := []string{"data_source", "solution_str", "ground_truth", "extra_info"}
	for _, k := range c.Keys() {
		if arg, ok := strings.CutPrefix(k, strings.TrimSuffix(key, "path")+"reward_kwargs."); ok {
			keywords = append(keywords, arg)
		}
	}
	slices.Sort(keywords)
	if why := misfit(d.args, keywords); why != "" {
		c.at(at, "%s of %s: %s (it is called with %s): the first score fails with TypeError", name, path, why, strings.Join(keywords, ", "))
	}
}

// RewardModel reports whether a reward model runs, whose address reward functions get as further keywords.
func (l *Launch) RewardModel() bool {
	return l.Bool("reward_model.enable") || l.Bool("reward.reward_model.enable")
}
