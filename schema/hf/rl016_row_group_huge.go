package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL016", Name: "row-group-huge",
	Title: "a row group takes more than a gigabyte",
	Doc: `
HF datasets reads batches with as many rows as the first row group has, so the loader holds a whole decoded row group in memory. A text
column near 2 GiB reaches the limit of an Arrow chunk. Row groups of 64 to 100 MB are usual. The size is estimated from the file's size and
the row group's share of the rows.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "the loader decodes it in one piece"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		for i, rows := range f.RowGroups {
			if f.Rows > 0 && float64(f.Bytes)*float64(rows)/float64(f.Rows) > 1<<30 {
				pos := schema.FilePos(f.Name)
				pos.RowGroup = i
				p.Reportf(pos, schema.Value{}, "%d rows in about %d MiB, compressed: %s", rows, f.Bytes/f.Rows*rows>>20, p.Consequence)
				return
			}
		}
	}),
	Unfixed: "rlprep reshard writes smaller ones",
	Examples: []rule.Example{
		{Title: "one row group of 5 GB", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) { f[0].Bytes = 5 << 30 }, Want: []string{"0 -1"}},
		{Title: "the same in ten", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) {
			f[0].Bytes, f[0].Rows = 5<<30, 1000
			for range 10 {
				f[0].RowGroups = append(f[0].RowGroups[:0:0], 100, 100, 100, 100, 100, 100, 100, 100, 100, 100)
			}
		}},
	},
})
