package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL015", Name: "text-as-binary",
	Title: "a column that is read as text holds bytes",
	Doc: `
A Parquet column of byte arrays without the annotation STRING (older Impala, Hive and Spark files, hand-made writers) is loaded as
Python bytes. Then b'user' is not a role, b'openai/gsm8k'.startswith fails with TypeError, b'tool_agent' is not an agent loop, and b'72' never
equals an answer (executed on verl 0.9.1).

Write the column with the STRING annotation; pyarrow: cast it to pa.string().
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "Python sees bytes, which equal no text"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		for _, path := range texts[p.Env.Rows] {
			if kindOf(f.Schema, path) == schema.Binary {
				field, _ := f.Schema.Lookup(path)
				p.Reportf(schema.FilePos(f.Name).At(path), schema.Value{}, "%s instead of text: %s", field.Type, p.Consequence)
			}
		}
	}),
	Fixes:   []rule.Fix{fixes.AsText("declares the bytes as text and does not change them")},
	Unfixed: "the bytes are not UTF-8",
	Examples: []rule.Example{
		{Title: "data_source", Files: []string{`{"data_source":"openai/gsm8k"}`}, Schema: "data_source: binary", Want: []string{"0 -1 data_source"}},
		{Title: "roles and contents", Files: []string{`{"prompt":[{"role":"user","content":"Hi"}]}`}, Schema: "prompt[].role: binary; prompt[].content: binary", Want: []string{"0 -1 prompt[].role", "0 -1 prompt[].content"}},
		{Title: "the ground truth", Files: []string{`{"data_source":"openai/gsm8k","reward_model":{"ground_truth":"72"}}`}, Schema: "reward_model.ground_truth: large_binary", Want: []string{"0 -1 reward_model.ground_truth"}},
		{Title: "of an SFT sample", Rows: rule.SFT, Files: []string{`{"messages":[{"role":"user","content":"Hi"}]}`}, Schema: "messages[].content: binary", Want: []string{"0 -1 messages[].content"}},
		{Title: "text", Files: []string{`{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"Hi"}]}`}},
		{Title: "an image is bytes", Files: []string{`{"images":[{"bytes":"a","path":null}]}`}, Schema: "images[].bytes: binary"},
	},
})

// texts are the paths that are read as text, by kind of rows.
var texts = map[rule.Kind][]schema.Path{
	rule.RL:         {dataSource, promptRole, promptContent, prompt, groundTruth, rewardModel, agentName, extraInfo, extraIndex},
	rule.SFT:        {"messages[].role", "messages[].content", messages},
	rule.Preference: {prompt, "chosen", "rejected"},
}
