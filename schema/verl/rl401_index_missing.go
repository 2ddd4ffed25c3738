package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL401", Name: "index-missing", Cites: []string{"verl@b178a3cd5 rl_dataset.py:353", "verl@b178a3cd5 rl_dataset.py:359"}, Rows: rule.RL,
	Title: "extra_info has no index",
	Doc: `
A rollout trace identifies the row by extra_info.index (its sample_index); nothing else connects it to the data. Without the field every row
is sample 0 (rl_dataset.py: extra_info.get("index", 0)), and rollout_n counts on over all of them. If only some files have the field, the
rows of the others get None. The V1 trainer of 0.9 traces nothing. So this matters with trainer.use_v1=False, in earlier versions, and in
your own agent loops that trace (executed on verl 0.9.1).
`,
	Applies: traced("every row traces as sample 0"),
	New: whenTraced(eachFile(func(p *rule.Pass, f *rule.File) {
		switch kindOf(f.Schema, extraInfo) {
		case schema.Missing, schema.Null, schema.Struct: // RL017 has the others
			if kindOf(f.Schema, extraIndex) == schema.Missing && kindOf(f.Schema, "index") == schema.Missing {
				p.Reportf(schema.FilePos(f.Name).At(extraIndex), schema.Value{}, "no such field: %s", p.Consequence)
			}
		}
	})),
	Fixes:   []rule.Fix{fillIndex("numbers the rows, with numbers that no other row of the split has")},
	Unfixed: "non-integer indexes cannot be renumbered",
	Examples: []rule.Example{
		{Title: "extra_info without index", Files: []string{`{"extra_info":{"split":"train"}}`}, Want: []string{"0 -1 extra_info.index"}},
		{Title: "no extra_info", Files: []string{`{"id":3}`}, Want: []string{"0 -1 extra_info.index"}},
		{Title: "with index", Files: []string{`{"extra_info":{"split":"train","index":0}}`}},
		{Title: "a launch that traces nothing: a warning", Target: "verl@0.8", Files: []string{`{"extra_info":{"split":"train"}}`}, Launch: "trainer.total_epochs=1", Want: []string{"0 -1 extra_info.index"}},
		{Title: "at top level: RL405", Files: []string{`{"index":0,"extra_info":{"split":"train"}}`}},
	},
})
