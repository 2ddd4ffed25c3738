package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL804", Name: "sft-role-unknown", Rows: rule.SFT,
	Title: "a message of an SFT sample has a role that chat templates do not know",
	Doc: `
Chat templates know system, user, assistant and tool, in lower case. They skip or refuse any other role. MultiTurnSFTDataset trains only on
the messages whose role is exactly 'assistant' (multiturn_sft_dataset.py, _process_single_message), so the model never learns the answers of
'gpt' or 'Assistant'.
`,
	Applies: always("a chat template passes over the message, and nothing is learnt from it"),
	Reads:   reads("messages[].role"),
	New:     func(p *rule.Pass) rule.Checker { return &roleUnknown{Pass: p, path: "messages[].role"} },
	Fixes:   fixRoles,
	Unfixed: unknownRole,
	Examples: []rule.Example{
		{Title: "ShareGPT's names", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
{"messages":[{"role":"human","content":"Hi"},{"role":"gpt","content":"Hello"}]}`}, Want: []string{"0 1 messages[].role"}},
		{Title: "upper case", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"Assistant","content":"Hello"}]}`}, Want: []string{"0 0 messages[].role"}},
		{Title: "null", Files: []string{`{"messages":[{"role":null,"content":"Hi"},{"role":"assistant","content":"Hello"}]}`}, Want: []string{"0 0 messages[].role"}, Unfixed: "unrecognised roles cannot be mapped"},
		{Title: "the four roles", Files: []string{`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},{"role":"tool","content":"ok"},{"role":"assistant","content":"Hello"}]}`}},
	},
})
