package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL004", Name: "column-duplicate",
	Title: "two columns have the same name",
	Doc: `
Arrow finds columns by name, so two columns of one name fail at load: ArrowInvalid 'Multiple matches for FieldRef.Name'
(executed on datasets 5.2). Of two struct fields of one name, only the last is read. Names that differ in case are different
names. A join, or a concat of pandas frames side by side, makes such columns.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the loader fails with 'Multiple matches for FieldRef.Name', or sees the last one only"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		if f.Schema == nil {
			return
		}
		repeated(schema.Field{Type: schema.StructOf(f.Schema.Fields...)}, "", func(path schema.Path) {
			p.Reportf(at(f, path), schema.Value{}, "there is more than one: %s", p.Consequence)
		})
	}),
	Unfixed: "the data does not show which of the columns is the right one",
	Examples: []rule.Example{
		{Title: "after a join", Files: []string{`{"id":1,"prompt":[{"role":"user","content":"Hi"}]}`}, Edit: func(f []*rule.File) { f[0].Schema.Fields = append(f[0].Schema.Fields, f[0].Schema.Fields[0]) }, Want: []string{"0 -1 id"}},
		{Title: "inside a struct", Files: []string{`{"extra_info":{"index":1}}`}, Edit: func(f []*rule.File) {
			t := &f[0].Schema.Fields[0].Type
			t.Fields = append(t.Fields, t.Fields[0])
		}, Want: []string{"0 -1 extra_info.index"}},
		{Title: "another case is another name", Files: []string{`{"id":1,"ID":2}`}},
	},
})

// repeated calls report for each name that a struct at or below path has twice.
func repeated(field schema.Field, path schema.Path, report func(schema.Path)) {
	seen := map[string]int{}
	for _, c := range field.Type.Fields {
		below := path.Elem()
		if field.Type.Kind == schema.Struct {
			below = path.Field(c.Name)
			if seen[c.Name]++; seen[c.Name] == 2 {
				report(below)
			}
			if seen[c.Name] > 1 {
				continue
			}
		}
		repeated(c, below, report)
	}
}
