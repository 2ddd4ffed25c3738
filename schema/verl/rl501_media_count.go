package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL501", Name: "media-count", Cites: []string{"verl@b178a3cd5 rl_dataset.py:312-338"}, Rows: rule.RL,
	Title: "a row has more or fewer images, videos or audios than tags",
	Doc: `
If a row has any media, verl replaces <image>, <video> and <audio> (since 0.8) in its messages by the media, one by one, and asserts that
each is used exactly once: AssertionError 'image_offset 1 >= len(images) 1' or 'image_offset 0 != len(images) 1' (rl_dataset.py,
_build_messages). The error ends the dataloader, or filter_overlong_prompts drops the row.

Write one tag for each, usually before the question: "<image>Find x."
`,
	Applies: always("verl fails with an AssertionError when it reads the row, or the filter drops it"),
	Reads:   mediaReads,
	New: func(p *rule.Pass) rule.Checker {
		return &mediaCount{Pass: p, on: len(mediaReads(p)) > 0, read: mediaRead(p.Env.Target)}
	},
	Unfixed: "the data does not show where in the text the media belong",
	Examples: []rule.Example{
		{Title: "an image and no tag", Files: []string{`{"prompt":[{"role":"user","content":"<image>Find x."}],"images":[{"path":"a.png"}]}
{"prompt":[{"role":"user","content":"Find x."}],"images":[{"path":"a.png"}]}`}, Want: []string{"0 1 images"}},
		{Title: "two tags and one image", Files: []string{`{"prompt":[{"role":"user","content":"<image><image>Compare."}],"images":[{"path":"a.png"}]}`}, Want: []string{"0 0 images"}},
		{Title: "a video without its tag, beside an image", Files: []string{`{"prompt":[{"role":"user","content":"<image>Find x."}],"images":[{"path":"a.png"}],"videos":[{"video":"a.mp4"}]}`}, Want: []string{"0 0 videos"}},
		{Title: "as many as tags, over several messages", Files: []string{`{"prompt":[{"role":"system","content":"<image>"},{"role":"user","content":"<image>Compare."}],"images":[{"path":"a.png"},{"path":"b.png"}]}`}},
		{Title: "rows without images", Files: []string{`{"prompt":[{"role":"user","content":"<image>Find x."}],"images":[{"path":"a.png"}]}
{"prompt":[{"role":"user","content":"What is 6 times 12?"}],"images":null}
{"prompt":[{"role":"user","content":"What is 6 times 12?"}],"images":[]}`}},
	},
})

type mediaCount struct {
	*rule.Pass
	on   bool
	read [3]bool // of media, by the target's version
}

// Prejudge implements rule.Checker: without media there is nothing to count.
func (c *mediaCount) Prejudge(k *rule.RowGroupFacts) bool {
	if !c.on {
		return true
	}
	for i := range media {
		if at := k.At(i + 1); !at.Missing && at.Nulls != k.Rows {
			return false
		}
	}
	return true
}

// Row implements rule.Checker.
func (c *mediaCount) Row(r schema.Row) {
	if !c.on {
		return
	}
	n := count(r, c.read)
	if !n.any() {
		return // RL502
	}
	for i, m := range media {
		if n.tags[i] != n.media[i] && c.read[i] {
			c.Reportf(r.Pos().At(m.column), schema.Value{}, "%d %s and %d %s in the messages: %s", n.media[i], m.column, n.tags[i], m.tag, c.Consequence)
		}
	}
}
