package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL405", Name: "index-top-level", Cites: []string{"verl@b178a3cd5 rl_dataset.py:353"}, Rows: rule.RL,
	Title: "index is a column of its own, and extra_info has none",
	Doc: `
RLHFDataset sets row["index"] from extra_info.index, and to 0 if that field is missing. It overwrites a top-level column index, so every row
is sample 0 (rl_dataset.py, __getitem__). verl-recipe's collabllm script writes such a column. Move it into extra_info.
`,
	Applies: traced("the column is overwritten, and every row traces as sample 0"),
	New: whenTraced(eachFile(func(p *rule.Pass, f *rule.File) {
		if kindOf(f.Schema, "index") != schema.Missing && kindOf(f.Schema, extraIndex) == schema.Missing {
			p.Reportf(schema.FilePos(f.Name).At("index"), schema.Value{}, "there is no extra_info.index: %s", p.Consequence)
		}
	})),
	Fixes:   []rule.Fix{fixes.Unsafe(moveIndex("moves the column to extra_info.index"))},
	Unfixed: "extra_info has no fields to move it into",
	Examples: []rule.Example{
		{Title: "as collabllm writes it", Files: []string{`{"index":"9a6e","extra_info":{"split":"train"}}`}, Want: []string{"0 -1 index"}},
		{Title: "both (RL013 names the one that is overwritten)", Files: []string{`{"index":7,"extra_info":{"index":0}}`}},
		{Title: "in extra_info", Files: []string{`{"extra_info":{"index":0}}`}},
	},
})
