package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL808", Name: "sft-tools-type", Rows: rule.SFT,
	Title: "tools is not a list of JSON schemas",
	Doc: `
MultiTurnSFTDataset passes tools unchanged to apply_chat_template (multiturn_sft_dataset.py), which iterates over it and accepts dicts only.
It refuses each letter of a JSON string, and each JSON string of a list, with ValueError 'Tools should either be a JSON schema, or a
callable function'. Write a list of structs. Tools with different parameters leave null keys in each other (RL809), so a dataset with many
tools needs its own loader that parses JSON.
`,
	Applies: always("the chat template refuses it on the first sample"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		field, ok := f.Schema.Lookup("tools")
		if !ok || field.Type.Kind == schema.Null {
			return
		}
		if t := field.Type; t.Kind != schema.List || t.Fields[0].Type.Kind != schema.Struct && t.Fields[0].Type.Kind != schema.Null {
			p.Reportf(schema.FilePos(f.Name).At("tools"), schema.Value{}, "%s instead of a list of structs: %s", schema.Cut(t.String(), 80), p.Consequence)
		}
	}),
	Unfixed: "the data does not show the schemas of the tools",
	Examples: []rule.Example{
		{Title: "written with json.dumps", Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}],"tools":"[{\"type\": \"function\"}]"}`}, Want: []string{"0 -1 tools"}},
		{Title: "each of them", Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}],"tools":["{\"type\": \"function\"}"]}`}, Want: []string{"0 -1 tools"}},
		{Title: "structs", Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}],"tools":[{"type":"function","function":{"name":"add"}}]}`}},
		{Title: "none", Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}],"tools":[]}`}},
	},
})
