package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL101", Name: "prompt-missing", Cites: []string{"verl@b178a3cd5 rl_dataset.py:247", "verl@b178a3cd5 rl_dataset.py:297"}, Rows: rule.RL,
	Title: "a file has no prompt column",
	Doc: `
RLHFDataset reads 'prompt' (data.prompt_key) of every row (rl_dataset.py, _build_messages). Without the column the first batch fails with
KeyError 'prompt', after the models are loaded. With filter_overlong_prompts=True every row is skipped as an error, and the dataloader is
empty. If one file of several lacks the column, its rows get None.

The usual cause is a raw dataset that was never preprocessed (verl issues 758 and 1827). Rename its question column and make it a list of
messages, or run a recipe.
`,
	Applies: always("verl fails with KeyError 'prompt' on the first batch"),
	New:     missingColumn(prompt),
	Unfixed: "the data has no questions, or has them in a column with an unknown name",
	Examples: []rule.Example{
		{Title: "raw gsm8k, never preprocessed", Files: []string{`{"question":"What is 6 times 12?","answer":"#### 72"}`}, Want: []string{"0 -1 prompt"}},
		{Title: "messages instead of prompt", Files: []string{`{"messages":[{"role":"user","content":"What is 6 times 12?"}]}`}, Want: []string{"0 -1 prompt"}},
		{Title: "a prompt", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}`}},
	},
})
