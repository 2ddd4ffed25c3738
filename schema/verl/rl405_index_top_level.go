package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = rule.Add(rule.Rule{
	ID: "RL405", Name: "index-top-level", Facts: []string{"R033"}, Rows: rule.RL,
	Title: "index is a column of its own, and extra_info has none",
	Doc: `
RLHFDataset sets row["index"] from extra_info.index, 0 where there is none, so a top-level column index is overwritten and
every row is sample 0 (rl_dataset.py, __getitem__). verl-recipe's collabllm script writes one. Move it into extra_info.
`,
	Holds: traced("the column is overwritten, and every row traces as sample 0"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		if kindOf(f.Schema, "index") != schema.Missing && kindOf(f.Schema, extraIndex) == schema.Missing {
			p.Reportf(schema.FilePos(f.Name).At("index"), schema.Value{}, "there is no extra_info.index: %s", p.Consequence)
		}
	}),
	Fix:      "add extra_info.index=@row",
	Mends:    []rule.Mend{{Do: rule.MoveIndex, Unsafe: true, Does: "moves the column to extra_info.index"}},
	Unmended: "extra_info holds no field",
	Examples: []rule.Example{
		{Title: "as collabllm writes it", Files: []string{`{"index":"9a6e","extra_info":{"split":"train"}}`}, Want: []string{"0 -1 index"}},
		{Title: "both (RL013 names the one that is overwritten)", Files: []string{`{"index":7,"extra_info":{"index":0}}`}},
		{Title: "in extra_info", Files: []string{`{"extra_info":{"index":0}}`}},
	},
})
