package verl

import (
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL801", Name: "messages-missing", Rows: rule.SFT,
	Title: "a file has no messages column",
	Doc: `
MultiTurnSFTDataset reads 'messages' (data.messages_key) of the concatenated files (multiturn_sft_dataset.py). Without the column the
trainer fails with KeyError 'messages' at startup. If one file of several lacks the column, its rows have no messages.

SFTDataset reads the columns of data.prompt_key and data.response_key instead, by default 'question' and 'answer'. Up to 0.7
fsdp_sft_trainer uses this class unless data.multiturn.enable is set. If lint gets no launch, it takes rows with prompt and response as rows
for SFTDataset.
`,
	Applies: always("verl fails with KeyError 'messages', or with an empty sample"),
	New:     eachFile(messagesMissing),
	Unfixed: "the data has no messages, or has them in a column with an unknown name",
	Examples: []rule.Example{
		{Title: "question and answer, never turned into messages", Files: []string{`{"question":"What is 6 times 12?","answer":"72"}`}, Want: []string{"0 -1 messages"}},
		{Title: "in one file of two", Files: []string{`{"messages":[{"role":"assistant","content":"72"}]}`, `{"id":1}`}, Want: []string{"1 -1 messages"}},
		{Title: "prompt and response, for SFTDataset", Files: []string{`{"prompt":"What is 6 times 12?","response":"72"}`}},
		{Title: "the same for the trainer of messages", Files: []string{`{"prompt":"What is 6 times 12?","response":"72"}`}, Launch: "%module=verl.trainer.sft_trainer\ndata.train_batch_size=8", Want: []string{"0 -1 messages"}},
		{Title: "columns that the launch names", Files: []string{`{"q":"What is 6 times 12?","a":"72"}`}, Launch: "%module=verl.trainer.fsdp_sft_trainer\ndata.prompt_key=q\ndata.response_key=a", Target: "verl@0.6"},
		{Title: "a column that the launch names is missing", Files: []string{`{"q":"What is 6 times 12?"}`}, Launch: "%module=verl.trainer.fsdp_sft_trainer\ndata.prompt_key=q\ndata.response_key=a", Target: "verl@0.6", Want: []string{"0 -1 a"}},
		{Title: "messages under another name", Files: []string{`{"conversation":[{"role":"assistant","content":"72"}]}`}, Launch: "%module=verl.trainer.sft_trainer\ndata.messages_key=conversation"},
		{Title: "messages", Files: []string{`{"messages":[{"role":"user","content":"What is 6 times 12?"},{"role":"assistant","content":"72"}]}`}},
	},
})

// messagesMissing reports the columns of SFT rows that a file lacks.
func messagesMissing(p *rule.Pass, f *rule.File) {
	l := launchOf(p)
	switch {
	case l.runtimeColumns():
		return
	case l == nil && column(f.Schema, "prompt") && column(f.Schema, "response"):
		return
	case l != nil && strings.Contains(l.module, "fsdp_sft_trainer") && !l.Bool("data.multiturn.enable"):
		for _, key := range []string{"data.prompt_key", "data.response_key"} {
			if name := l.Text(key); name != "" && !column(f.Schema, name) {
				p.Reportf(schema.FilePos(f.Name).At(schema.Path("").Field(name)), schema.Value{}, "no such column, and %s names it: verl fails with KeyError", key)
			}
		}
		return
	}
	name := string(messages)
	if l != nil {
		for _, key := range []string{"data.messages_key", "data.multiturn.messages_key"} {
			if l.Set(key) && l.Text(key) != "" {
				name = l.Text(key)
			}
		}
	}
	if !column(f.Schema, name) {
		p.Reportf(schema.FilePos(f.Name).At(schema.Path("").Field(name)), schema.Value{}, "no such column: verl fails with KeyError '%s', or with an empty sample", name)
	}
}
