package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL005", Name: "struct-empty",
	Title: "a struct has no fields",
	Doc: `
Parquet cannot hold a struct without fields: pyarrow refuses to write one ('Cannot write struct type with no child field'),
and other writers make files that cannot be read. In JSON Lines a column that is {} in every row loads as Json with
datasets 5, and not at all with earlier ones. Write null, or leave the field out.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "it cannot be written to Parquet, and loaders handle it differently"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		walk(f.Schema, func(path schema.Path, field schema.Field) bool {
			if field.Type.Kind == schema.Struct && len(field.Type.Fields) == 0 {
				level := p.Level
				if f.Format != "" && f.Format != "parquet" {
					level = rule.Warning
				}
				p.Report(rule.Finding{Level: level, Pos: at(f, path), Message: "a struct without fields: " + p.Consequence})
			}
			return true
		})
	}),
	Unfixed: "Parquet cannot hold such a struct, so only text files have it",
	Examples: []rule.Example{
		{Title: "no tools in any row", Files: []string{`{"extra_info":{"index":0,"tools_kwargs":{}}}`}, Want: []string{"0 -1 extra_info.tools_kwargs"}},
		{Title: "null instead", Files: []string{`{"extra_info":{"index":0,"tools_kwargs":null}}`}},
		{Title: "a struct", Files: []string{`{"extra_info":{"index":0}}`}},
	},
})
