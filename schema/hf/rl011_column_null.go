package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = rule.Add(rule.Rule{
	ID: "RL011", Name: "column-null-type", Facts: []string{"S011"},
	Title: "a column is of null type",
	Doc: `
A column that was null in every row, or an empty list in every row, when the file was written has no type but null. One such file
loads, and in a list of files it takes the type of the others. But as the first file of a glob it fails (Couldn't cast array of type
string to null), and before a struct it fails in a list too: RL008 says so where it happens (executed on datasets 5.2).

Drop the column, or write it with its true type.
`,
	Holds: []rule.Holding{{Level: rule.Info, Consequence: "its type is undecided until another file is put beside it"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		walk(f.Schema, func(path schema.Path, field schema.Field) bool {
			if onlyNull(field.Type) {
				p.Reportf(at(f, path), schema.Value{}, "%s: %s", field.Type, p.Consequence)
				return false
			}
			return true
		})
	}),
	Fix: "drop {column}",
	Examples: []rule.Example{
		{Title: "null in every row", Files: []string{`{"id":1,"note":null}`}, Want: []string{"0 -1 note"}},
		{Title: "an empty list in every row", Files: []string{`{"id":1,"tags":[]}`}, Want: []string{"0 -1 tags"}},
		{Title: "inside a struct", Files: []string{`{"extra_info":{"index":0,"tools_kwargs":null}}`}, Want: []string{"0 -1 extra_info.tools_kwargs"}},
		{Title: "null in some rows", Files: []string{`{"id":1,"note":null}
{"id":2,"note":"a"}`}},
		{Title: "null in every row, but of a type", Files: []string{`{"id":1,"note":null}`}, Schema: "note: string"},
	},
})
