package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL018", Name: "extra-info-null", Cites: []string{"verl@b178a3cd5 rl_dataset.py:351-356"}, Rows: rule.RL,
	Title: "extra_info is null in some rows, for verl 0.5",
	Doc: `
0.5 calls row.get("extra_info", {}).get("index", 0) (rl_dataset.py, __getitem__), and the default does not apply to a null: AttributeError
'NoneType' object has no attribute 'get'. Later versions treat a null as empty; RL402 and RL306 report what is then missing.
`,
	Applies: []rule.Severity{{Versions: "<=0.5", Level: rule.Error, Consequence: "verl fails with 'NoneType' object has no attribute 'get' when it reads the row"}},
	Reads: func(p *rule.Pass) []schema.Path {
		if leaf := firstLeaf(p.Schema, extraInfo); leaf != "" {
			return []schema.Path{leaf}
		}
		return nil
	},
	New:   func(p *rule.Pass) rule.Checker { return &extraNull{Pass: p, on: firstLeaf(p.Schema, extraInfo) != ""} },
	Fixes: []rule.Fix{fillIndex("makes extra_info a struct with an index")},
	Examples: []rule.Example{
		{Title: "null in a row", Target: "verl@0.5", Files: []string{`{"extra_info":{"index":0}}
{"extra_info":null}`}, Want: []string{"0 1 extra_info"}},
		{Title: "later versions", Files: []string{`{"extra_info":{"index":0}}
{"extra_info":null}`}},
		{Title: "never null", Target: "verl@0.5", Files: []string{`{"extra_info":{"index":null}}`}},
	},
})

type extraNull struct {
	*rule.Pass
	on bool
}

// Prejudge implements rule.Checker.
func (c *extraNull) Prejudge(k *rule.RowGroupFacts) bool { return !c.on || k.At(0).Nulls == 0 }

// Row implements rule.Checker.
func (c *extraNull) Row(r schema.Row) {
	if v := r.At(0); c.on && v.IsNull() && v.Depth() == 0 {
		c.Reportf(r.Pos().At(extraInfo), schema.Value{}, "null: %s", c.Consequence)
	}
}
