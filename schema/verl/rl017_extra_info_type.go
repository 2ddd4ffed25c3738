package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL017", Name: "extra-info-not-struct", Cites: []string{"verl@b178a3cd5 rl_dataset.py:351-356"}, Rows: rule.RL,
	Title: "extra_info is not a struct",
	Doc: `
RLHFDataset calls row["extra_info"].get("index") (rl_dataset.py, __getitem__). JSON in a string has no get, so the first row that is read
fails with AttributeError: 'str' object has no attribute 'get' (executed on verl 0.9.1). A missing or null extra_info counts as empty.

Write a dict, not json.dumps of one.
`,
	Applies: always("verl fails with AttributeError: … has no attribute 'get' on the first row"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		field, ok := f.Schema.Lookup(extraInfo)
		if ok && field.Type.Kind != schema.Struct && field.Type.Kind != schema.Null {
			p.Reportf(schema.FilePos(f.Name).At(extraInfo), schema.Value{}, "%s instead of a struct: %s", field.Type, p.Consequence)
		}
	}),
	Fixes:   []rule.Fix{readJSON},
	Unfixed: "lists, and rows with different keys, do not fit a struct; step json of rlprep run reads a declared type",
	Examples: []rule.Example{
		{Title: "written with json.dumps", Files: []string{`{"extra_info":"{\"index\": 0}"}`}, Want: []string{"0 -1 extra_info"}},
		{Title: "a list", Files: []string{`{"extra_info":[{"index":0}]}`}, Want: []string{"0 -1 extra_info"}, Unfixed: "extra_info is list"},
		{Title: "a struct", Files: []string{`{"extra_info":{"index":0}}`}},
		{Title: "null", Files: []string{`{"extra_info":null}`}},
		{Title: "none", Files: []string{`{"id":0}`}},
	},
})
