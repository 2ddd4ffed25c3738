package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL729", Name: "dataset-class-own", Rows: rule.RL,
	Title: "a custom dataset class may change rows when it loads them",
	Doc: `
data.custom_cls.path replaces RLHFDataset. Such a class may add agent_name, index or other columns when it loads the rows, as verl's own
recipes do (retool, deepeyes). Columns that the files lack may therefore exist in training. Rules about missing columns have a lower level
here.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "missing columns may be added when the class loads the rows"}},
	New: onLaunch(func(c *launchCheck) {
		if c.runtimeColumns() {
			c.at(keyCustomCls, "%s: %s", c.Text(keyCustomCls), c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "retool's class", Launch: "data.custom_cls.path=recipe/retool/retool.py", Want: []string{"launch 1 data.custom_cls.path"}},
		{Title: "verl's own", Launch: "data.custom_cls.path=null"},
	},
})
