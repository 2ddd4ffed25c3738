package verl

import (
	"iter"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL601", Name: "sample-duplicate", SharesKeysAs: "samples",
	Title: "a split has a sample more than once",
	Doc: `
Repeated rows train like any others, and verl prints no message (executed on verl 0.9.1). Rows are equal if their messages, media and ground
truth are the same bytes. The published dapo-math-17k has each of its 17,000 prompts a hundred times (verl issue 3065), and nothing
documents it. An epoch is then a hundred epochs, and a batch may contain one prompt several times.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "it is trained on more often than the others"}},
	Reads:   sampleReads,
	New:     func(p *rule.Pass) rule.Checker { return &sampleDuplicate{newSamples(p)} },
	Unfixed: "repeated rows may be intended",
	Examples: []rule.Example{
		{Title: "twice in one file", Files: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"72"},"extra_info":{"index":0}}
{"prompt":[{"role":"user","content":"6 plus 12?"}],"reward_model":{"ground_truth":"18"},"extra_info":{"index":1}}
{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"72"},"extra_info":{"index":2}}`}, Want: []string{"0 0 prompt", "0 2 prompt"}},
		{Title: "in two files", Files: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}]}`, `{"prompt":[{"role":"user","content":"6 times 12?"}]}`}, Want: []string{"0 0 prompt", "1 0 prompt"}},
		{Title: "SFT", Rows: rule.SFT, Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}`}, Want: []string{"0 0 messages", "0 1 messages"}},
		{Title: "all different", Files: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}]}
{"prompt":[{"role":"user","content":"6 plus 12?"}]}`}},
		{Title: "the same words about another picture", Files: []string{`{"prompt":[{"role":"user","content":"<image>Find x."}],"images":[{"bytes":"a"}]}
{"prompt":[{"role":"user","content":"<image>Find x."}],"images":[{"bytes":"b"}]}`}},
		{Title: "a null content: RL105 reports it", Files: []string{`{"prompt":[{"role":"system","content":"Think."},{"role":"user","content":null}]}
{"prompt":[{"role":"system","content":"Think."},{"role":"user","content":null}]}`}},
		{Title: "another ground truth: RL603 reports it", Files: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"72"}}
{"prompt":[{"role":"user","content":"6 times 12?"}],"reward_model":{"ground_truth":"7"}}`}},
		{Title: "in train and validation: RL602 reports it", Files: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}]}`}, Val: []string{`{"prompt":[{"role":"user","content":"6 times 12?"}]}`}},
	},
})

type sampleDuplicate struct{ samples }

// Group implements rule.Checker.
func (c *sampleDuplicate) Group(_ rule.Key, hits iter.Seq[rule.Hit]) {
	repeats(hits, func(h, first rule.Hit) {
		if h.Value == first.Value {
			c.Report(rule.Finding{Pos: h.Pos().At(samplePath(c.Env.Rows)), Related: []schema.Pos{first.Pos()}, Message: "another row of the split is the same: " + c.Consequence})
		}
	})
}
