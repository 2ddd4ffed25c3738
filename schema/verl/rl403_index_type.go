package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL403", Name: "index-type", Rows: rule.RL,
	Title: "extra_info.index is neither an integer nor a text",
	Doc: `
pandas makes floats of an integer column that once had a null. Traces then contain sample_index 17.0, and a search for 17 finds nothing. A
NaN equals no other value, so it counts as a separate sample in every comparison, and with max_samples_per_step_per_worker set the older
trainer fails (executed on verl 0.9.1). Write integers or texts, and the same type in all files.
`,
	Applies: traced("traces name samples by something that a search does not find"),
	New: whenTraced(eachFile(func(p *rule.Pass, f *rule.File) {
		field, ok := f.Schema.Lookup(extraIndex)
		if k := field.Type.Kind; ok && k != schema.Int && k != schema.Text && k != schema.Null {
			p.Reportf(schema.FilePos(f.Name).At(extraIndex), schema.Value{}, "%s instead of an integer or a text: %s", field.Type, p.Consequence)
		}
	})),
	Fixes:   []rule.Fix{fixes.Unsafe(castIndex("makes floats integers, and NaN a null"))},
	Unfixed: "only numbers without a fraction become integers",
	Examples: []rule.Example{
		{Title: "float64, as pandas makes it", Files: []string{`{"extra_info":{"index":0.0}}`}, Want: []string{"0 -1 extra_info.index"}},
		{Title: "NaN", Files: []string{`{"extra_info":{"index":0.0}}
{"extra_info":{"index":NaN}}`}, Want: []string{"0 -1 extra_info.index"}},
		{Title: "half a number", Files: []string{`{"extra_info":{"index":0.5}}`}, Want: []string{"0 -1 extra_info.index"}, Unfixed: "0.5 is no integer"},
		{Title: "a struct", Files: []string{`{"extra_info":{"index":{"source":"a","row":1}}}`}, Want: []string{"0 -1 extra_info.index"}, Unfixed: "it is struct"},
		{Title: "int64", Files: []string{`{"extra_info":{"index":0}}`}},
		{Title: "int32 in all files", Files: []string{`{"extra_info":{"index":0}}`, `{"extra_info":{"index":1}}`}, Schema: "extra_info.index: int32"},
		{Title: "uuids", Files: []string{`{"extra_info":{"index":"9a6e"}}`}},
	},
})
