package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL009", Name: "column-in-some-files",
	Title: "a column is in some of the files only",
	Doc: `
If the files are given as a list, concatenate_datasets silently fills the column with nulls for the files that lack it, so
readers of the column get None there. If they are given as one glob, a column that only the first file has is filled
with nulls too, and a column that the first file lacks fails: CastError "column names don't match" (executed on datasets 5.2).
Other rules judge prompt, data_source, reward_model, agent_name, extra_info and messages; this rule reports them for a glob only.

Write the column in every file, or drop it from all.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "the loader fills it with nulls"}},
	New:     eachDataset(columnsDiffer),
	Unfixed: "the data does not show whether the missing values are intentional",
	Examples: []rule.Example{
		{Title: "a source column kept in one file", Files: []string{`{"id":1}`, `{"id":2,"difficulty":3}`}, Want: []string{"0 -1 difficulty"}},
		{Title: "lost in one of three", Files: []string{`{"id":1,"images":["a"]}`, `{"id":2}`, `{"id":3,"images":["b"]}`}, Want: []string{"1 -1 images"}},
		{Title: "one glob: the first file lacks it", Files: []string{`{"id":1}`, `{"id":2,"difficulty":3}`}, Edit: glob, Want: []string{"1 -1 difficulty"}},
		{Title: "the same in all", Files: []string{`{"id":1,"difficulty":2}`, `{"id":2,"difficulty":3}`}},
		{Title: "validation has other columns", Files: []string{`{"id":1}`}, Val: []string{`{"id":2,"difficulty":3}`}},
		{Title: "agent_name has a rule of its own (RL301)", Files: []string{`{"agent_name":"tool_agent"}`, `{"agent_name":"tool_agent"}`}},
	},
})

// judged are the columns whose absence rules of a trainer judge.
var judged = map[string]bool{"prompt": true, "data_source": true, "reward_model": true, "agent_name": true, "extra_info": true,
	"messages": true, "chosen": true, "rejected": true}

func columnsDiffer(p *rule.Pass, files []*rule.File) {
	if alike(files) {
		return
	}
	first := files[0]
	if isGlob(files) {
		for _, f := range files[1:] {
			for _, c := range f.Schema.Fields {
				if _, i := first.Schema.Column(c.Name); i < 0 {
					p.Report(rule.Finding{Level: rule.Error, Pos: at(f, schema.Path("").Field(c.Name)),
						Message: "the first file of the glob has no such column: the loader fails with CastError, column names don't match"})
				}
			}
		}
	}
	for _, name := range allColumns(files) {
		if judged[name] {
			continue
		}
		if _, i := first.Schema.Column(name); i < 0 && isGlob(files) {
			continue // reported above
		}
		for _, f := range files {
			if _, i := f.Schema.Column(name); i < 0 {
				p.Reportf(at(f, schema.Path("").Field(name)), schema.Value{}, "no such column, but other files have it: %s", p.Consequence)
			}
		}
	}
}

// allColumns returns the names of the columns of all files, in order of first appearance.
func allColumns(files []*rule.File) []string {
	var out []string
	seen := map[string]bool{}
	for _, f := range files {
		for _, c := range f.Schema.Fields {
			if !seen[c.Name] {
				seen[c.Name] = true
				out = append(out, c.Name)
			}
		}
	}
	return out
}
