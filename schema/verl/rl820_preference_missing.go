package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// preferenceColumns are what RMDataset reads (rm_dataset.py).
var preferenceColumns = []schema.Path{prompt, "chosen", "rejected"}

var _ = framework.Add(rule.Rule{
	ID: "RL820", Name: "preference-columns", Rows: rule.Preference,
	Title: "prompt, chosen or rejected is missing, or is not a text",
	Doc: `
RMDataset reads the columns prompt, chosen and rejected and passes each to the tokenizer (rm_dataset.py). Without one of them it fails with
KeyError. The tokenizer does not read lists of messages, as TRL and hh-rlhf's mirrors have them, as messages: it tokenizes them as a batch
of something else, or refuses them with TypeError. Render the messages to text first.
`,
	Applies: always("verl fails with KeyError or TypeError on the first sample"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		for _, path := range preferenceColumns {
			at := schema.FilePos(f.Name).At(path)
			switch field, ok := f.Schema.Lookup(path); {
			case !ok:
				p.Reportf(at, schema.Value{}, "no such column: %s", p.Consequence)
			case field.Type.Kind != schema.Text && field.Type.Kind != schema.Null && field.Type.Kind != schema.Binary: // RL821, RL015
				p.Reportf(at, schema.Value{}, "%s instead of text: %s", schema.Cut(field.Type.String(), 80), p.Consequence)
			}
		}
	}),
	Unfixed: "the data does not have the missing texts",
	Examples: []rule.Example{
		{Title: "hh-rlhf as it is published: no prompt", Files: []string{`{"chosen":"Human: Hi Assistant: Hello","rejected":"Human: Hi Assistant: No"}`}, Want: []string{"0 -1 prompt"}},
		{Title: "lists of messages", Files: []string{`{"prompt":"Hi","chosen":[{"role":"assistant","content":"Hello"}],"rejected":[{"role":"assistant","content":"No"}]}`}, Want: []string{"0 -1 chosen", "0 -1 rejected"}},
		{Title: "texts", Files: []string{`{"prompt":"Hi","chosen":"Hello","rejected":"No"}`}},
	},
})
