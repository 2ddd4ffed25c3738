package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL725", Name: "truncation-dead", Rows: rule.RL,
	Title: "data.truncation asks for a cut that this version does not make",
	Doc: `
Since 0.7 verl reads data.truncation and never uses it (rl_dataset.py; 51d27376c). Its value makes no difference. Prompts longer than
max_prompt_length crash 0.7 ('Sizes of tensors must match'). Since 0.8 they are cut on the left with a warning (agent_loop.py:407-416).
data.filter_overlong_prompts=True drops them. Read only.
`,
	Applies: []rule.Severity{
		{Versions: ">=0.8", Level: rule.Info, Consequence: "the key has no effect: prompts that are too long are cut on the left"},
		{Versions: "0.7", Level: rule.Warning, Consequence: "the key has no effect: a prompt that is too long ends the step"},
	},
	New: onLaunch(func(c *launchCheck) {
		if cut := c.Text("data.truncation"); c.Set("data.truncation") && cut != "error" && !(cut == "left" && c.Target.Within(cutsLeft)) && !c.Bool("data.filter_overlong_prompts") {
			c.at("data.truncation", "%s: %s", cut, c.Consequence)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "left in 0.7", Launch: "data.truncation=left", Target: "verl@0.7", Want: []string{"launch 1 data.truncation"}},
		{Title: "middle", Launch: "data.truncation=middle", Want: []string{"launch 1 data.truncation"}},
		{Title: "left, as 0.9 cuts", Launch: "data.truncation=left"},
		{Title: "long prompts are dropped", Launch: "data.truncation=right\ndata.filter_overlong_prompts=true"},
	},
})
