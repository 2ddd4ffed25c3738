package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL731", Name: "override-lost", Rows: rule.Any,
	Title: "an override of the script never reaches verl",
	Doc: `
bash ends a command at the end of a line, unless the last character of the line is '\\'. The next lines are then separate commands: bash prints
"data.seed=1: command not found" and continues, and the training runs without these overrides. A '\\' does not continue a line if a blank or a CR follows
it, or if it is in a comment: a comment line between two lines of overrides ends the command (executed with bash 5.2).
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the training runs without it"}},
	New:     func(p *rule.Pass) rule.Checker { return &refused{p, rule.LostArgument} },
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a line without a backslash before it", Launch: `!=[{"message":"bash takes data.seed=1 for a command of its own: the line before does not end in a backslash","key":"data.seed","kind":2}]`, Want: []string{"launch 1 data.seed"}},
		{Title: "nothing lost", Launch: "!=[]"},
	},
})
