package verl

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL502", Name: "media-tag-literal", Cites: []string{"verl@b178a3cd5 rl_dataset.py:312-338"}, Rows: rule.RL,
	Title: "a message has a tag for an image, and the row has none",
	Doc: `
If a row has no media, verl does not change its messages (rl_dataset.py, _build_messages). So <image> reaches the model as text, and the
question asks about a picture that does not exist (executed on verl 0.9.1).

In a file without a media column, a tag within a sentence may be intended as text, so the level is info there. It stays a warning if a message
begins or ends with the tag, as the place of an image does, or if the file has a column image, image_url or picture: verl reads 'images' only. HTML has <video> and <audio> too, so the rule searches for them only in files with a
column videos or audios.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "the tag reaches the model as text"}},
	Reads:   mediaReads,
	New: func(p *rule.Pass) rule.Checker {
		return &mediaTag{Pass: p, on: len(mediaReads(p)) > 0, wanted: [3]bool{listed(p, "images", true), listed(p, "videos", false), listed(p, "audios", false)}, level: tagLevel(p.Schema)}
	},
	Unfixed: "the data has no image for the tag",
	Examples: []rule.Example{
		{Title: "no images column", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}
{"prompt":[{"role":"user","content":"<image>Find x."}]}`}, Want: []string{"0 1 prompt[].content"}},
		{Title: "within a sentence", Files: []string{`{"prompt":[{"role":"user","content":"Use the HTML tag <image> once."}]}`}, Want: []string{"0 0 prompt[].content"}},
		{Title: "a column that verl does not read", Files: []string{`{"prompt":[{"role":"user","content":"<image>Find x."}],"image":{"path":"a.png"}}`}, Want: []string{"0 0 prompt[].content"}},
		{Title: "no image in this row", Files: []string{`{"prompt":[{"role":"user","content":"<image>Find x."}],"images":[{"path":"a.png"}]}
{"prompt":[{"role":"user","content":"<image>Find y."}],"images":null}`}, Want: []string{"0 1 prompt[].content"}},
		{Title: "an image", Files: []string{`{"prompt":[{"role":"user","content":"<image>Find x."}],"images":[{"path":"a.png"}]}`}},
		{Title: "HTML", Files: []string{`{"prompt":[{"role":"user","content":"What does <video> do in HTML? And <img>?"}]}`}},
	},
})

// tagLevel is Info where no column of a file looks as if it held media: the tag may be text. Off is the rule's own level.
func tagLevel(s *schema.Schema) rule.Level {
	if s == nil { // footers only
		return rule.Off
	}
	for _, name := range []string{"images", "videos", "audios", "image", "image_url", "picture"} {
		if _, i := s.Column(name); i >= 0 {
			return rule.Off
		}
	}
	return rule.Info
}

// listed reports whether path is a list that may be empty, or absent where that counts too; RL504 has columns that are no lists.
func listed(p *rule.Pass, path schema.Path, absent bool) bool {
	switch kindOf(p.Schema, path) {
	case schema.List, schema.Null:
		return true
	case schema.Missing:
		return absent
	}
	return false
}

type mediaTag struct {
	*rule.Pass
	on     bool
	wanted [3]bool
	level  rule.Level // Off: the rule's
}

// Prejudge implements rule.Checker.
func (c *mediaTag) Prejudge(k *rule.RowGroupFacts) bool { return !c.on || k.At(0).Missing }

// Scans implements rule.Scanner.
func (c *mediaTag) Scans(i int) bool { return c.on && i == 0 }

// Scan implements rule.Scanner.
func (c *mediaTag) Scan(_ int, t schema.Texts, hits []int) []int {
	all, text := t.All(), 0
	for at := 0; ; at++ {
		open := bytes.IndexByte(all[at:], '<')
		if open < 0 {
			return hits
		}
		at += open
		if tag := c.tag(all[at:]); tag != "" {
			if text = t.IndexAt(at, text); at+len(tag) <= t.End(text) {
				hits = append(hits, text)
				at = t.End(text) - 1
			}
		}
	}
}

// tag returns the tag that b begins with, of those that are wanted; "" for none.
func (c *mediaTag) tag(b []byte) string {
	for i, m := range media {
		if c.wanted[i] && len(b) >= len(m.tag) && string(b[:len(m.tag)]) == m.tag {
			return m.tag
		}
	}
	return ""
}

// Row implements rule.Checker.
func (c *mediaTag) Row(r schema.Row) {
	if !c.on {
		return
	}
	n := count(r, c.wanted)
	if n.any() {
		return // RL501
	}
	for i, m := range media {
		if n.tags[i] > 0 {
			level := c.level
			if takesPlace(r.At(0), m.tag) {
				level = rule.Off
			}
			c.Report(rule.Finding{Level: level, Pos: r.Pos().At(promptContent), Message: fmt.Sprintf("%s, and the row has no %s: %s", m.tag, m.column, c.Consequence)})
			return
		}
	}
}

// takesPlace reports whether one of the texts of content begins or ends with the tag, as those do whose image belongs there.
func takesPlace(content schema.Value, tag string) bool {
	for i := range content.Len() {
		text := strings.TrimSpace(content.Elem(i).Text())
		if strings.HasPrefix(text, tag) || strings.HasSuffix(text, tag) {
			return true
		}
	}
	return false
}
