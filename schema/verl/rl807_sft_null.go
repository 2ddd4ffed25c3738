package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL807", Name: "sft-option-null", Rows: rule.SFT,
	Title: "tools, enable_thinking, images or videos are null in some rows",
	Doc: `
MultiTurnSFTDataset reads files with pandas. It checks whether a column exists, not whether the row has a value (multiturn_sft_dataset.py).
A null enable_thinking fails with TypeError 'boolean value of NA is ambiguous'. A null tools fails the same way if the chat template reads
it. A null in images or videos fails with TypeError 'object of type NoneType has no len()' (read with pandas' pyarrow types, as verl has
done since 0.7.1). If one file of several lacks a column, the column is null in its rows.

Write an empty list for no images and no tools, and true or false for enable_thinking, in every file. Or drop the column from all files.
`,
	Applies: always("the step whose batch holds the row dies"),
	Reads:   optionReads,
	New:     func(p *rule.Pass) rule.Checker { return &optionNull{Pass: p, reads: optionReads(p)} },
	Fixes:   []rule.Fix{fixes.DropNull("drops a column that is null in every row of every file")},
	Unfixed: "the data does not show whether no value means none or the default",
	Examples: []rule.Example{
		{Title: "enable_thinking for some rows only", Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}],"enable_thinking":true}
{"messages":[{"role":"assistant","content":"Hi"}],"enable_thinking":null}`}, Want: []string{"0 1 enable_thinking"}, Unfixed: "the data does not show whether no value means none"},
		{Title: "rows without tools", Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}],"tools":[{"type":"function"}]}
{"messages":[{"role":"assistant","content":"Hi"}],"tools":null}`}, Want: []string{"0 1 tools"}, Unfixed: "the data does not show whether no value means none"},
		{Title: "images in one file only", Files: []string{`{"messages":[{"role":"assistant","content":"<image>"}],"images":[{"path":"a.png"}]}`, `{"messages":[{"role":"assistant","content":"Hi"}]}`}, Want: []string{"1 -1 images"}, Unfixed: "the data does not show whether no value means none"},
		{Title: "null in every row", Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}],"tools":null}`}, Want: []string{"0 0 tools"}},
		{Title: "an empty list", Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}],"tools":[],"images":[]}`}},
		{Title: "none of them", Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}]}`}},
	},
})

// options are the columns that a sample may have beside its messages.
var options = []schema.Path{"tools", "enable_thinking", "images", "videos"}

func optionReads(p *rule.Pass) []schema.Path {
	var out []schema.Path
	for _, path := range options {
		if leaf := firstLeaf(p.Schema, path); leaf != "" {
			out = append(out, leaf)
		}
	}
	return out
}

type optionNull struct {
	*rule.Pass
	reads []schema.Path
	clean []bool
}

// Files implements rule.Checker.
func (c *optionNull) Files(files []*rule.File) {
	for _, group := range rule.Together(files) {
		for _, path := range options {
			with := 0
			for _, f := range group {
				if has := kindOf(f.Schema, path) != schema.Missing; has {
					with++
				}
			}
			for _, f := range group {
				if with > 0 && kindOf(f.Schema, path) == schema.Missing {
					c.Reportf(schema.FilePos(f.Name).At(path), schema.Value{}, "no such column, but other files have it, so it is null in every row here: %s", c.Consequence)
				}
			}
		}
	}
}

// Prejudge implements rule.Checker.
func (c *optionNull) Prejudge(k *rule.RowGroupFacts) bool {
	c.clean = make([]bool, len(c.reads))
	done := true
	for i := range c.reads {
		if c.clean[i] = k.At(i).Nulls == 0; c.clean[i] {
			k.Answer(i)
		}
		done = done && c.clean[i]
	}
	return done
}

// Row implements rule.Checker.
func (c *optionNull) Row(r schema.Row) {
	for i, leaf := range c.reads {
		if c.clean != nil && c.clean[i] {
			continue
		}
		if v := r.At(i); v.IsNull() && v.Depth() == 0 {
			c.Reportf(r.Pos().At(schema.MakePath(leaf.Top())), schema.Value{}, "null: %s", c.Consequence)
		}
	}
}
