package verl

import (
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL107", Name: "content-blank", Rows: rule.RL,
	Title: "a user message is blank",
	Doc: `
verl trains on an empty or blank user message as on any other, without a message (executed on verl 0.9.1). The model is then rewarded for
answering a question that nobody asked. This is a note, since the blank message may be intended. Usually a template lost the question.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "the model answers a question that nobody asked"}},
	Reads:   reads(promptContent, promptRole),
	New:     func(p *rule.Pass) rule.Checker { return &blank{p} },
	Unfixed: "the empty message may be intended",
	Examples: []rule.Example{
		{Title: "empty", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[{"role":"system","content":"Think."},{"role":"user","content":""}]}`}, Want: []string{"0 1 prompt[].content"}},
		{Title: "blank", Files: []string{`{"prompt":[{"role":"user","content":" \n"}]}`}, Want: []string{"0 0 prompt[].content"}},
		{Title: "a question", Files: []string{`{"prompt":[{"role":"user","content":" What is 6 times 12?"}]}`}},
		{Title: "an empty system message", Files: []string{`{"prompt":[{"role":"system","content":""},{"role":"user","content":"What is 6 times 12?"}]}`}},
	},
})

type blank struct{ *rule.Pass }

// Prejudge implements rule.Checker.
func (c *blank) Prejudge(k *rule.RowGroupFacts) bool { return k.At(0).Missing || k.At(1).Missing }

// Scans implements rule.Scanner.
func (c *blank) Scans(i int) bool { return i == 0 }

// Scan implements rule.Scanner.
func (c *blank) Scan(_ int, t schema.Texts, hits []int) []int {
	for i := range t.Len() {
		if isBlank(t.At(i)) {
			hits = append(hits, i)
		}
	}
	return hits
}

func isBlank(s string) bool { return (s == "" || s[0] <= ' ') && strings.TrimSpace(s) == "" }

// Row implements rule.Checker.
func (c *blank) Row(r schema.Row) {
	v := r.At(0)
	for i := range v.Len() {
		e := v.Elem(i)
		if e.Kind() != schema.Text || !isBlank(e.Text()) {
			continue
		}
		if roles := r.At(1); i < roles.Len() && roles.Elem(i).Text() == "user" {
			c.Reportf(r.Pos().At(promptContent), e, "message %d of the user is blank: %s", i, c.Consequence)
			return
		}
	}
}
