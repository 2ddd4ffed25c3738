package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL730", Name: "composition-refused", Rows: rule.Any,
	Title: "the launch has an argument that Hydra does not take",
	Doc: `
Overrides follow Hydra's own grammar (hydra-core 1.3, OverrideParser.g4). An argument that it cannot parse ends the launch before anything is loaded. "a,b" is a sweep, which needs --multirun. A key below a plain value does
not exist. A common cause is a list whose quotes the shell removed: data.train_files="['a','b']" is right. Others are "key = value", which Hydra gets as three arguments, a blank after the '\\' at the end of a line, which bash hands over as an argument " ", and the CR of a script whose lines end in CR LF.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "Hydra ends the launch"}},
	New:     func(p *rule.Pass) rule.Checker { return &refused{p, rule.BadArgument} },
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a list without brackets", Launch: `!=[{"message":"data.train_files=a,b: values for several runs","key":"data.train_files"}]`, Want: []string{"launch 1 data.train_files"}},
		{Title: "nothing refused", Launch: "!=[]"},
	},
})
