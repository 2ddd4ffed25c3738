package datasets

import "github.com/rlprep/rlprep/schema/rule"

const ownRows = "its rows are the script's own"

var _ = Add(Recipe{
	Name:  "multiturn",
	Title: "three short conversations, to try SFT of many turns with",
	Doc: `
The rows of verl's examples/data_preprocess/multiturn.py (verl@b178a3cd5, 2026-01-29), value for value: two conversations to train
on and one to test with. The script writes them itself, so nothing is read and nothing can be changed: there is no --source, and no
pipeline file to make of it.
`,
	Script: "examples/data_preprocess/multiturn.py", Rows: rule.SFT, Index: NoIndex, Splits: trainTest,
	Sources: []Source{{Generated: true, Splits: trainTest, Inputs: func(split string) []Input { return Inputs(nil, split+".jsonl") }}},
	NoUse: map[string]string{"agent": ownRows, "data-source": ownRows, "index-start": ownRows, "index-scope": ownRows, "system": ownRows,
		"instruction": ownRows, "fixed": ownRows},
	Steps: func(Options) []Step { return nil },
	Examples: []Example{{Split: "train", In: `{"messages":[{"role":"user","content":"Hello."},{"role":"assistant","content":"Hello!"}]}`,
		Out: `{"messages":[{"role":"user","content":"Hello."},{"role":"assistant","content":"Hello!"}]}`}},
	Sample: raw("multiturn"),
})
