package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL737", Name: "python-missing", Rows: rule.Any,
	Cites: []string{"verl@0.9.1 utils/import_utils.py:259", "verl@0.9.1 trainer/ppo/utils.py:129-135", "verl@0.9.1 utils/dataset/rl_dataset.py:582-590", "verl@0.9.1 trainer/sft_trainer.py:472-483", "verl@0.5.0 trainer/main_ppo.py:262-289"},
	Title: "a Python file that the launch names lacks the function or the class, or verl cannot call it",
	Doc: `
verl loads the reward function and the dataset class by the path of a Python file. The keys are custom_reward_function.path and name
(compute_score if no name is set), and data.custom_cls. If the file has no such name, verl fails with 'Object not found in module'
(utils/import_utils.py:259; executed on 0.9.1). The reward managers naive and dapo call the function with the keywords data_source,
solution_str, ground_truth and extra_info (reward_loop/reward_manager/naive.py:78; up to 0.6 workers/reward_manager/naive.py), and with
those of reward_kwargs. A function with other parameters fails with TypeError at the first score.

verl creates a dataset class with keywords, too: config, data_files, processor, tokenizer and, since 0.6, max_samples (0.9.1
trainer/ppo/utils.py:129-135; 0.6.1 trainer/main_ppo.py:383). An SFT trainer uses config, parquet_files, tokenizer, since 0.6 max_samples
and since 0.7 processor (0.9.1 trainer/sft_trainer.py:481). An RL trainer accepts only classes that inherit from torch.utils.data.Dataset
(0.9.1 utils/dataset/rl_dataset.py:586).

rlprep reads the file and does not run it. It assumes that a name exists if the file imports it or creates it at run time.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the training fails"}},
	New:     func(p *rule.Pass) rule.Checker { return &pythonMissing{p} },
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "another name", Launch: "custom_reward_function.path=r.py\n&custom_reward_function.path=def compute_scor(data_source, solution_str, ground_truth, extra_info=None):|    return 1", Want: []string{"launch 1 custom_reward_function.path"}},
		{Title: "arguments that verl does not pass", Launch: "custom_reward_function.path=r.py\n&custom_reward_function.path=def compute_score(solution_str, ground_truth):|    return 1", Want: []string{"launch 1 custom_reward_function.path"}},
		{Title: "a class that does not exist", Launch: "data.custom_cls.path=d.py\ndata.custom_cls.name=Mine\n&data.custom_cls.path=class Other:|    pass", Want: []string{"launch 2 data.custom_cls.name"}},
		{Title: "a class that is not a Dataset", Launch: customAt + "class Mine:|    def __init__(self, **kwargs):|        pass", Want: []string{"launch 2 data.custom_cls.name"}},
		{Title: "a function", Launch: customAt + "def Mine(**kwargs):|    return 1", Want: []string{"launch 2 data.custom_cls.name"}},
		{Title: "a Dataset without __init__", Launch: customAt + "from torch.utils.data import Dataset|class Mine(Dataset):|    def __len__(self):|        return 1", Want: []string{"launch 2 data.custom_cls.name"}},
		{Title: "a class of 0.5, without max_samples", Launch: customAt + customOld, Want: []string{"launch 2 data.custom_cls.name"}},
		{Title: "the same in 0.5", Launch: customAt + customOld, Target: "verl@0.5"},
		{Title: "a class of SFT", Launch: "%module=verl.trainer.sft_trainer\n" + customAt + customOld, Want: []string{"launch 3 data.custom_cls.name"}},
		{Title: "as verl's SFT makes it", Launch: "%module=verl.trainer.sft_trainer\n" + customAt + "class Mine(Dataset):|    def __init__(self, parquet_files, tokenizer, config, processor=None, max_samples: int = -1):|        pass"},
		{Title: "a class with the __init__ of verl's own", Launch: customAt + "from verl.utils.dataset import RLHFDataset|class Mine(RLHFDataset):|    def __getitem__(self, item):|        return {}"},
		{Title: "as verl calls it", Launch: "custom_reward_function.path=r.py\n&custom_reward_function.path=def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):|    return 1"},
		{Title: "an imported name", Launch: "custom_reward_function.path=r.py\n&custom_reward_function.path=from mine import compute_score"},
		{Title: "a file that does not exist here", Launch: "custom_reward_function.path=r.py"},
	},
})

// Parts of examples with a dataset class.
const (
	customAt  = "data.custom_cls.path=d.py\ndata.custom_cls.name=Mine\n&data.custom_cls.path="
	customOld = "class Mine(Dataset):|    def __init__(self, data_files, tokenizer, config, processor=None):|        pass"
)

type pythonMissing struct{ *rule.Pass }

// Files implements rule.Checker.
func (m *pythonMissing) Files(files []*rule.File) {
	l := launchOf(m.Pass)
	if l == nil || !l.RL() && l.Program() != sftProgram {
		return
	}
	c := &launchCheck{Pass: m.Pass, Launch: l, files: files}
	if path, key := c.Reward(); path != "" && l.RL() {
		name := c.Text(strings.TrimSuffix(key, "path") + "name")
		if name == "" {
			name = "compute_score"
		}
		if text, here := c.Python(key); here {
			c.function(key, path, name, text)
		}
	}
	if text, here := c.Python(keyCustomCls); here {
		c.datasetClass(c.Text(keyCustomCls), c.Text(keyCustomName), text)
	}
}

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

const keyCustomName = "data.custom_cls.name"

// datasetClass judges a dataset class.
func (c *launchCheck) datasetClass(path, name, text string) {
	at := keyCustomName
	if !c.Set(at) {
		at = keyCustomCls
	}
	found := c.hasName(at, path, name, text)
	d := classOf(text, name)
	keywords := c.datasetKeywords()
	switch why := misfit(d.args, keywords); {
	case found.sure && found.args != nil && c.RL():
		c.at(at, "%s of %s is a function, not a class: %s with TypeError", name, path, c.Consequence)
	case !d.found:
	case d.bare:
		c.at(at, "%s of %s has no __init__, and torch's Dataset takes no arguments (it is made with %s): %s with TypeError", name, path, strings.Join(keywords, ", "), c.Consequence)
	case !d.based && c.RL():
		c.at(at, "%s of %s inherits from nothing: TypeError 'must inherit from torch.utils.data.Dataset': %s", name, path, c.Consequence)
	case d.sure && why != "":
		c.at(at, "%s of %s: %s (it is made with %s): %s with TypeError", name, path, strings.Replace(why, "it ", "its __init__ ", 1), strings.Join(keywords, ", "), c.Consequence)
	}
}

// datasetKeywords are the keywords with which verl makes a dataset (0.5.0 trainer/main_ppo.py:284, fsdp_sft_trainer.py:820; 0.6.1 main_ppo.py:383,
// fsdp_sft_trainer.py:857; 0.7.1 main_ppo.py:381, sft_trainer.py:471; 0.9.1 trainer/ppo/utils.py:129, sft_trainer.py:481).
func (l *Launch) datasetKeywords() []string {
	keywords := []string{"config", "data_files", "processor", "tokenizer"}
	if !l.RL() {
		keywords = []string{"config", "parquet_files", "tokenizer"}
		if l.Target.Within(">=0.7") && !strings.Contains(l.module, "fsdp_sft_trainer") {
			keywords = append(keywords, "processor")
		}
	}
	if l.Target.Within(">=0.6") {
		keywords = append(keywords, "max_samples")
	}
	slices.Sort(keywords)
	return keywords
}

// RewardModel reports whether a reward model runs, whose address reward functions get as further keywords.
func (l *Launch) RewardModel() bool {
	return l.Bool("reward_model.enable") || l.Bool("reward.reward_model.enable")
}
