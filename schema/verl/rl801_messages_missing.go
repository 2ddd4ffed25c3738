package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL801", Name: "messages-missing", Rows: rule.SFT,
	Title: "a file has no messages column",
	Doc: `
MultiTurnSFTDataset reads 'messages' (data.messages_key) of the concatenated files (multiturn_sft_dataset.py): without it the
trainer dies with KeyError 'messages' at start. If one file of several lacks the column, its rows hold nothing.
`,
	Applies: always("verl fails with KeyError 'messages', or with an empty sample"),
	New:     missingColumn(messages),
	Unfixed: "what to learn is nowhere in the data, or under a name that only its maker knows",
	Examples: []rule.Example{
		{Title: "question and answer, never turned into messages", Files: []string{`{"question":"What is 6 times 12?","answer":"72"}`}, Want: []string{"0 -1 messages"}},
		{Title: "in one file of two", Files: []string{`{"messages":[{"role":"assistant","content":"72"}]}`, `{"id":1}`}, Want: []string{"1 -1 messages"}},
		{Title: "messages", Files: []string{`{"messages":[{"role":"user","content":"What is 6 times 12?"},{"role":"assistant","content":"72"}]}`}},
	},
})
