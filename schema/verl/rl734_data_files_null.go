package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL734", Name: "data-files-null", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 utils/dataset/rl_dataset.py:97-98", "verl@0.9.1 utils/dataset/rl_dataset.py:162-167", "verl@0.9.1 trainer/ppo/ray_trainer.py:378-394", "verl@0.9.1 trainer/ppo/v1/trainer_base.py:710-724", "verl@0.5.0 utils/dataset/rl_dataset.py:92-93"},
	Title: "the launch has no training or no validation file",
	Doc: `
main_ppo loads data.train_files and data.val_files, whatever the values of trainer.test_freq and trainer.val_before_train (0.9.1
trainer/ppo/ray_trainer.py:378-394, trainer/ppo/v1/trainer_base.py:710-724). Null fails with TypeError "'NoneType' object is not
subscriptable" (utils/dataset/rl_dataset.py:167; executed on 0.9.1 with both trainers). If you have no validation data, set data.val_files
to the training file, trainer.test_freq=-1 and trainer.val_before_train=False.
`,
	Applies: always("verl fails with TypeError when it loads the data"),
	New: onLaunch(func(c *launchCheck) {
		for _, key := range []string{"data.train_files", "data.val_files"} {
			if v, _, set := c.Value(key); set && c.Program() == ppoProgram && (v.IsNull() || v.Kind() == 0) && c.Text(keyCustomCls) == "" {
				c.at(key, "it is null: %s", c.Consequence)
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "no validation", Launch: "data.train_files=train.parquet\ndata.val_files=null", Want: []string{"launch 2 data.val_files"}},
		{Title: "both", Launch: "data.train_files=train.parquet\ndata.val_files=test.parquet"},
	},
})
