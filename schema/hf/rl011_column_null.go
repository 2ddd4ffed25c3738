package hf

import (
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL011", Name: "column-null-type",
	Title: "a column is of null type here, and of another in other files",
	Doc: `
If a column was null in every row when the file was written, or an empty list in every row, its type is null. In a list of
files it takes the type of the others, and nothing is lost. If that file comes first in a glob, loading fails (Couldn't cast
array of type string to null). Before a struct it fails in a list too. RL008 reports these cases (executed on datasets
5.2). A column of null type in every file is harmless and not reported.

Drop the column, or write it with its true type.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "it loads in this order of the files, but may fail in another"}},
	New:     eachDataset(nullHere),
	Fixes:   []rule.Fix{fixes.OneType("gives it the type that it has in the other files")},
	Examples: []rule.Example{
		{Title: "null in every row of one file", Files: []string{`{"id":1,"note":"a"}`, `{"id":2,"note":null}`}, Want: []string{"1 -1 note"}},
		{Title: "an empty list in every row", Files: []string{`{"id":1,"tags":["a"]}`, `{"id":2,"tags":[]}`}, Want: []string{"1 -1 tags"}},
		{Title: "inside a struct", Files: []string{`{"extra_info":{"index":0,"level":"a"}}`, `{"extra_info":{"index":1,"level":null}}`}, Want: []string{"1 -1 extra_info.level"}},
		{Title: "null in every row of every file", Files: []string{`{"id":1,"note":null,"tags":[]}`, `{"id":2,"note":null,"tags":[]}`}},
		{Title: "a null before a struct: RL008 reports it", Files: []string{`{"meta":null}`, `{"meta":{"a":1}}`}},
		{Title: "null in some rows", Files: []string{`{"id":1,"note":null}
{"id":2,"note":"a"}`}},
		{Title: "null in every row, with a type", Files: []string{`{"id":1,"note":null}`}, Schema: "note: string"},
	},
})

// nullHere reports what is of null type in one file and not in another, where RL008 does not.
func nullHere(p *rule.Pass, files []*rule.File) {
	if isGlob(files) || alike(files) {
		return
	}
	typed := map[schema.Path]bool{}
	eachType(files, func(_ *rule.File, path schema.Path, t schema.Type) {
		typed[path] = typed[path] || !t.OnlyNull()
	})
	eachType(files, func(f *rule.File, path schema.Path, t schema.Type) {
		if t.OnlyNull() && typed[path] && !beforeStruct(files, f, path) {
			p.Reportf(at(f, path), schema.Value{}, "%s, and of another type in other files: %s", t, p.Consequence)
		}
	})
}

// eachType calls see for each column and each field of a struct.
func eachType(files []*rule.File, see func(f *rule.File, path schema.Path, t schema.Type)) {
	for _, f := range files {
		walk(f.Schema, func(path schema.Path, field schema.Field) bool {
			see(f, path, field.Type)
			return field.Type.Kind == schema.Struct
		})
	}
}

// beforeStruct reports whether path, null in f, is a struct in a later file and has no type before it.
func beforeStruct(files []*rule.File, f *rule.File, path schema.Path) bool {
	for _, g := range files {
		field, ok := g.Schema.Lookup(path)
		if ok && !field.Type.OnlyNull() {
			return field.Type.Kind == schema.Struct && slices.Index(files, g) > slices.Index(files, f)
		}
	}
	return false
}
