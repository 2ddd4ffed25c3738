package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL201", Name: "data-source-missing", Cites: []string{"verl@b178a3cd5 reward_score/__init__.py:107", "verl@b178a3cd5 reward_manager/naive.py:42"}, Rows: rule.RL,
	Title: "a file has no data_source column",
	Doc: `
The reward managers read data_source of every row (reward_manager/naive.py and its siblings), even if custom_reward_function is set. Without
the column every sample fails with KeyError 'data_source', in the first validation or step. If one file of several lacks the column, its
rows get None.

Add the column with the name of a scorer: 'openai/gsm8k' for gsm8k.
`,
	Applies: byTrainer("KeyError 'data_source'"),
	New:     missingColumn(dataSource),
	Unfixed: "the data does not show which scorer is the right one",
	Examples: []rule.Example{
		{Title: "no such column", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}],"reward_model":{"ground_truth":"72"}}`}, Want: []string{"0 -1 data_source"}},
		{Title: "not in the validation file", Files: []string{`{"data_source":"openai/gsm8k"}`}, Val: []string{`{"split":"test"}`}, Want: []string{"1 -1 data_source"}},
		{Title: "there", Files: []string{`{"data_source":"openai/gsm8k"}`}},
	},
})
