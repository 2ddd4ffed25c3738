package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL025", Name: "line-broken",
	Title: "a line of JSON Lines is not a JSON object",
	Doc: `
HF datasets reads the whole file and fails on the first line that is not JSON (DatasetGenerationError), so one broken line costs all rows.
Common causes: a writer that was stopped within a line, two writers on one file, a log message between the rows, single quotes as str(dict)
writes them. The other rules skip such a line and check the other lines.

Repair or remove the line. 'rlprep run --max-rejects N --rejects FILE' writes the other rows, and writes the broken lines to FILE.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "HF datasets cannot load the file"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		for _, b := range f.Broken {
			pos := schema.FilePos(f.Name)
			pos.Row, pos.Line = b.Row, b.Line
			p.Reportf(pos, schema.Value{}, "%s: %s", b.Message, p.Consequence)
		}
	}),
	Unfixed: "only the program that wrote the line knows what it was",
	Examples: []rule.Example{
		{Title: "a writer that was stopped", Files: []string{`{"id":1}`}, Want: []string{"0 1"}, Edit: func(f []*rule.File) {
			f[0].Broken = []rule.BrokenRow{{Row: 1, Line: 2, Message: "column 8: text without a closing quote"}}
		}},
		{Title: "whole lines", Files: []string{"{\"id\":1}\n{\"id\":2}"}},
	},
})
