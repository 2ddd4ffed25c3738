package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL002", Name: "row-group-empty", Cites: []string{"datasets@5.0.2.dev0 parquet.py:206"},
	Title: "a file, or its first row group, has no rows",
	Doc: `
HF datasets uses the number of rows of the first row group as its batch size. An empty first row group fails: ArrowInvalid 'BatchSize must
be greater than 0, got 0' (executed on datasets 5.2). One empty shard ends the run, in a list and in a glob. An empty JSON Lines file fails
with ValueError 'Instruction "train" corresponds to no data!'. Empty row groups after the first do no harm. A writer leaves an empty row
group when a filter dropped every row, or when the writer was opened, flushed and closed.

Write the file again without the empty group, or leave the file out.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the loader fails"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		switch {
		case f.Rows == 0:
			p.Reportf(schema.FilePos(f.Name), schema.Value{}, "no rows: %s", p.Consequence)
		case len(f.RowGroups) > 0 && f.RowGroups[0] == 0:
			p.Reportf(schema.FilePos(f.Name), schema.Value{}, "the first row group has no rows: %s with 'BatchSize must be greater than 0'", p.Consequence)
		}
	}),
	Fixes:   []rule.Fix{fixes.Rewrite("writes the file without empty row groups", nil)},
	Unfixed: "the file has no rows to write",
	Examples: []rule.Example{
		{Title: "an empty shard", Files: []string{`{"id":1}`, ``}, Want: []string{"1 -1"}, Unfixed: "the file has no rows to write"},
		{Title: "an empty first row group", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) { f[0].RowGroups = []int64{0, 1} }, Want: []string{"0 -1"}},
		{Title: "rows", Files: []string{`{"id":1}`}},
		{Title: "an empty row group further on", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) { f[0].RowGroups = []int64{1, 0} }},
	},
})
