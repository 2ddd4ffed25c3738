package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL822", Name: "chosen-is-rejected", Rows: rule.Preference,
	Title: "chosen and rejected are the same",
	Doc: `
If both answers are equal, the pair shows no preference. The reward model's loss is log 2 whatever it learns, so the pair only adds noise.
hh-rlhf has some such pairs. Leave them out.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "the pair teaches nothing"}},
	Reads:   reads("chosen", "rejected"),
	New:     func(p *rule.Pass) rule.Checker { return &chosenIsRejected{p} },
	Unfixed: "the data does not show which answer is the right one",
	Examples: []rule.Example{
		{Title: "equal answers", Files: []string{`{"prompt":"Hi","chosen":"Hello","rejected":"No"}
{"prompt":"Hi","chosen":"Hello","rejected":"Hello"}`}, Want: []string{"0 1 rejected"}},
		{Title: "different answers", Files: []string{`{"prompt":"Hi","chosen":"Hello","rejected":"No"}`}},
		{Title: "nulls: RL821 reports them", Files: []string{`{"prompt":"Hi","chosen":null,"rejected":null}`}},
	},
})

type chosenIsRejected struct{ *rule.Pass }

// Prejudge implements rule.Checker.
func (c *chosenIsRejected) Prejudge(k *rule.RowGroupFacts) bool {
	return k.At(0).Missing || k.At(1).Missing
}

// Row implements rule.Checker.
func (c *chosenIsRejected) Row(r schema.Row) {
	chosen, rejected := r.At(0), r.At(1)
	if chosen.Kind() == schema.Text && rejected.Kind() == schema.Text && chosen.Text() == rejected.Text() {
		c.Reportf(r.Pos().At("rejected"), rejected, "the same as chosen: %s", c.Consequence)
	}
}
