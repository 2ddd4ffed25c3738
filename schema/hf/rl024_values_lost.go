package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL024", Name: "values-lost-on-load",
	Title: "a column has values that loaders read as null",
	Doc: `
parquet-java annotates an INTERVAL as UNKNOWN, which says "always null" in Parquet. Arrow believes it: pyarrow, and with it HF datasets
and verl, load null in every row, and no message says so (executed on pyarrow 26: a file by parquet-java 1.13 with 200 intervals gives 200
nulls). rlprep keeps the values as bytes wherever it rewrites the column.

Write the column as a number (of days, or of milliseconds) or as text with the tool that made the file, or drop it.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "every value is lost on load"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		walk(f.Schema, func(path schema.Path, field schema.Field) bool {
			if field.Type.Name == schema.UnknownName {
				p.Reportf(at(f, path), schema.Value{}, "%s values, annotated as UNKNOWN: Arrow reads null: %s", field.Type, p.Consequence)
			}
			return true
		})
	}),
	Unfixed: "only the tool that wrote the values knows their meaning",
	Examples: []rule.Example{
		{Title: "an INTERVAL by parquet-java", Files: []string{`{"id":1,"took":"000000000000"}`}, Schema: "took: unknown", Want: []string{"0 -1 took"}},
		{Title: "inside a struct", Files: []string{`{"extra_info":{"index":0,"took":"000000000000"}}`}, Schema: "extra_info.took: unknown", Want: []string{"0 -1 extra_info.took"}},
		{Title: "bytes", Files: []string{`{"id":1,"took":"000000000000"}`}, Schema: "took: binary"},
		{Title: "only nulls", Files: []string{`{"id":1,"took":null}`}, Schema: "took: null"},
	},
})
