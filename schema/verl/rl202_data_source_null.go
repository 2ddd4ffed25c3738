package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL202", Name: "data-source-null", Cites: []string{"verl@b178a3cd5 reward_score/__init__.py:107", "verl@b178a3cd5 reward_manager/naive.py:42"}, Rows: rule.RL,
	Title: "data_source is null in some rows",
	Doc: `
default_compute_score calls data_source.startswith, so a null fails with AttributeError: 'NoneType' object has no attribute 'startswith'
(reward_score/__init__.py). V1 logs the error and trains without the sample. The step of the older trainer fails (executed on verl 0.9.1).

Nulls come from joins, and from concatenated files of which one had no such column.
`,
	Applies: byTrainer("'NoneType' object has no attribute 'startswith'"),
	Reads:   reads(dataSource),
	New:     func(p *rule.Pass) rule.Checker { return &null{Pass: p, path: dataSource} },
	Fixes:   []rule.Fix{dropFound},
	Examples: []rule.Example{
		{Title: "null after a join", Files: []string{`{"data_source":"openai/gsm8k"}
{"data_source":null}
{"data_source":"openai/gsm8k"}`}, Want: []string{"0 1 data_source"}},
		{Title: "null in every row", Files: []string{`{"data_source":null}`}, Want: []string{"0 0 data_source"}},
		{Title: "never null", Files: []string{`{"data_source":"openai/gsm8k"}
{"data_source":"lighteval/MATH"}`}},
		{Title: "a missing column: another rule reports it", Files: []string{`{"id":1}`}},
	},
})

// null reports the rows in which a column is null.
type null struct {
	*rule.Pass
	path schema.Path
}

// Prejudge implements rule.Checker.
func (c *null) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	return at.Missing || at.Nulls == 0
}

// Row implements rule.Checker.
func (c *null) Row(r schema.Row) {
	if r.At(0).IsNull() {
		c.Reportf(r.Pos().At(c.path), schema.Value{}, "null: %s", c.Consequence)
	}
}
