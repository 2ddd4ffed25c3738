package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL821", Name: "preference-null", Rows: rule.Preference,
	Title: "prompt, chosen or rejected is null in some rows",
	Doc: `
RMDataset passes each column to the tokenizer, which does not accept None. The step whose batch contains the row fails (rm_dataset.py,
__getitem__). Leave such rows out.
`,
	Applies: always("the tokenizer fails, and the step dies"),
	Reads:   reads(preferenceColumns...),
	New:     func(p *rule.Pass) rule.Checker { return &preferenceNull{Pass: p} },
	Fixes:   []rule.Fix{dropFound},
	Examples: []rule.Example{
		{Title: "no second answer", Files: []string{`{"prompt":"Hi","chosen":"Hello","rejected":"No"}
{"prompt":"Hi","chosen":"Hello","rejected":null}`}, Want: []string{"0 1 rejected"}},
		{Title: "texts", Files: []string{`{"prompt":"Hi","chosen":"Hello","rejected":"No"}`}},
	},
})

type preferenceNull struct{ *rule.Pass }

// Prejudge implements rule.Checker.
func (c *preferenceNull) Prejudge(k *rule.RowGroupFacts) bool {
	for i := range preferenceColumns {
		if at := k.At(i); !at.Missing && at.Nulls != 0 {
			return false
		}
	}
	return true
}

// Row implements rule.Checker.
func (c *preferenceNull) Row(r schema.Row) {
	for i, path := range preferenceColumns {
		if r.At(i).IsNull() {
			c.Reportf(r.Pos().At(path), schema.Value{}, "null: %s", c.Consequence)
		}
	}
}
