package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL305", Name: "need-tools-kwargs-type", Cites: []string{"verl@b178a3cd5 rl_dataset.py:356-358"}, Rows: rule.RL,
	Title: "extra_info.need_tools_kwargs is not a boolean",
	Doc: `
verl only checks whether the value is true in Python's sense (rl_dataset.py, __getitem__). Every text but the empty one is true, also
'false', 'False' and '0'. The value has one effect: verl logs a line if tools_kwargs is empty. So this is a note (executed on verl 0.9.1:
nothing changes if the row has tools_kwargs). Write a boolean.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "any text counts as true, 'false' included"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		field, ok := f.Schema.Lookup(needTools)
		if k := field.Type.Kind; ok && k != schema.Bool && k != schema.Null && k != schema.Int {
			p.Reportf(schema.FilePos(f.Name).At(needTools), schema.Value{}, "%s instead of a boolean: %s", field.Type, p.Consequence)
		}
	}),
	Unfixed: "the meaning of the text is unknown",
	Examples: []rule.Example{
		{Title: "a text", Files: []string{`{"extra_info":{"need_tools_kwargs":"false"}}`}, Want: []string{"0 -1 extra_info.need_tools_kwargs"}},
		{Title: "a boolean", Files: []string{`{"extra_info":{"need_tools_kwargs":true}}`}},
		{Title: "null", Files: []string{`{"extra_info":{"need_tools_kwargs":null}}`}},
	},
})
