package toy

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "TOY001", Name: "answer-missing", Rows: "pairs",
	Title: "there is no column answer",
	Doc: `
toy.train asks every row for its answer: where the file has no such column, it fails with KeyError 'answer' before the first step.
`,
	Applies: []rule.Severity{{Versions: ">=2", Level: rule.Error, Consequence: "toy fails with KeyError 'answer'"}, {Level: rule.Warning, Consequence: "toy 1 trains without answers"}},
	New:     func(p *rule.Pass) rule.Checker { return &answerMissing{p} },
	Unfixed: "answers are not in the data",
	Examples: []rule.Example{
		{Title: "a question alone", Files: []string{`{"question":"What is 6 times 12?"}`}, Want: []string{"0 -1 answer"}},
		{Title: "both", Files: []string{`{"question":"What is 6 times 12?","answer":"72"}`}},
	},
})

type answerMissing struct{ *rule.Pass }

// Files implements rule.Checker.
func (c *answerMissing) Files(files []*rule.File) {
	for _, f := range files {
		if f.Schema == nil {
			continue
		}
		if _, ok := f.Schema.Lookup("answer"); !ok {
			c.Reportf(schema.FilePos(f.Name).At("answer"), schema.Value{}, "no such column: %s", c.Consequence)
		}
	}
}
