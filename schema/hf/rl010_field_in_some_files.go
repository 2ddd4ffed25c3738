package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL010", Name: "field-in-some-files",
	Title: "a field of a struct is in some of the files only",
	Doc: `
HF datasets merges the structs of a column over the files of a list. A field that a file lacks is None in all its rows (executed on
datasets 5.2), so dict.get(key, default) returns None, not the default. This is a warning, since it does no harm if nothing reads the
field. RL308 and RL401 judge tools_kwargs and index.

For structs in lists the types differ, and the loader fails (RL008).
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "it is null in every row here"}},
	New:     eachDataset(fieldsDiffer),
	Unfixed: "the data does not show whether the missing values are intentional",
	Examples: []rule.Example{
		{Title: "a further key in extra_info", Files: []string{`{"extra_info":{"index":0}}`, `{"extra_info":{"index":1,"level":"a"}}`}, Want: []string{"0 -1 extra_info.level"}},
		{Title: "further down", Files: []string{`{"extra_info":{"tools_kwargs":{"a":{"x":1}}}}`, `{"extra_info":{"tools_kwargs":{"b":{"x":1}}}}`},
			Want: []string{"0 -1 extra_info.tools_kwargs.b", "1 -1 extra_info.tools_kwargs.a"}},
		{Title: "the same in all", Files: []string{`{"extra_info":{"index":0}}`, `{"extra_info":{"index":1}}`}},
		{Title: "a whole column: RL009 reports it", Files: []string{`{"id":0}`, `{"id":1,"extra_info":{"index":1}}`}},
	},
})

func fieldsDiffer(p *rule.Pass, files []*rule.File) {
	if isGlob(files) || alike(files) {
		return // RL008 has the casts of a glob
	}
	paths := map[schema.Path]bool{}
	var order []schema.Path
	for _, f := range files {
		structFields(f.Schema, func(path schema.Path) {
			if !paths[path] {
				paths[path] = true
				order = append(order, path)
			}
		})
	}
	for _, path := range order {
		for _, f := range files {
			parent, ok := f.Schema.Lookup(path.Parent())
			if _, i := parent.Type.Field(path.Base()); ok && parent.Type.Kind == schema.Struct && i < 0 {
				found := rule.Finding{Pos: at(f, path), Message: "no such field, but other files have it: " + p.Consequence}
				if p.Env.Target.Unread(path) {
					found.Level = rule.Info
				}
				p.Report(found)
			}
		}
	}
}

// structFields calls f for the path of each field of a struct that stands in no list.
func structFields(s *schema.Schema, f func(schema.Path)) {
	walk(s, func(path schema.Path, field schema.Field) bool {
		if field.Type.Kind != schema.Struct {
			return false
		}
		for _, c := range field.Type.Fields {
			f(path.Field(c.Name))
		}
		return true
	})
}
