package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL730", Name: "composition-refused", Rows: rule.Any,
	Title: "Hydra refuses an argument of the launch",
	Doc: `
Overrides follow Hydra's own grammar (hydra-core 1.3, OverrideParser.g4). An argument that Hydra cannot parse ends the launch before verl
loads anything. "a,b" is a sweep, which needs --multirun. A plain value has no keys below it.

Common causes:

- The shell removed the quotes of a list: data.train_files="['a','b']" is right.
- "key = value" has blanks, so Hydra gets three arguments.
- A blank follows the '\\' at the end of a line, so bash passes an argument " ".
- The lines of the script end in CR LF, so Hydra gets the CR.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "Hydra ends the launch"}},
	New:     func(p *rule.Pass) rule.Checker { return &refused{p, rule.BadArgument} },
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a list without brackets", Launch: `!=[{"message":"data.train_files=a,b: values for several runs","key":"data.train_files"}]`, Want: []string{"launch 1 data.train_files"}},
		{Title: "nothing refused", Launch: "!=[]"},
	},
})
