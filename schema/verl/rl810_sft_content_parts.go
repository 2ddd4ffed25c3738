package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL810", Name: "sft-content-parts", Rows: rule.SFT,
	Title: "content of an SFT sample is a list of parts",
	Doc: `
Only the processors of vision models read a content that is a list of {type, text}. The template of a text model fails on it ('can only
concatenate str (not "list") to str'), in every row (executed on verl 0.9.1). Beside an images or videos column it is an error too. verl
puts the media where it finds <image> in a text, and skips contents that are lists. It then fails on 'image_offset 0 != len(images)'
(multiturn_sft_dataset.py, _build_messages). Parts that contain their media themselves are fine for a vision model.

For a text model write content as text. Beside an images column write text with <image> in it.
`,
	Applies: always("the chat template of a text model fails, and the run dies"),
	New:     contentParts("messages[].content", "images", "videos"),
	Unfixed: "the data does not show whether a vision model will read the parts",
	Examples: []rule.Example{
		{Title: "only text parts", Files: []string{`{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","content":[{"type":"text","text":"Hello"}]}]}`}, Want: []string{"0 -1 messages[].content"}},
		{Title: "parts and an images column", Files: []string{`{"messages":[{"role":"user","content":[{"type":"image","text":null},{"type":"text","text":"Find x."}]}],"images":[{"bytes":"a"}]}`}, Schema: "images[].bytes: binary", Want: []string{"0 -1 messages[].content"}},
		{Title: "text", Files: []string{`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}`}},
	},
})

// contentParts returns a Checker of a path that should hold text and may hold a list of parts; media are the columns that do not go
// with that.
func contentParts(path schema.Path, media ...schema.Path) func(*rule.Pass) rule.Checker {
	return eachFile(func(p *rule.Pass, f *rule.File) {
		if kindOf(f.Schema, path) != schema.List {
			return
		}
		field, _ := f.Schema.Lookup(path.Elem())
		at := schema.FilePos(f.Name).At(path)
		for _, m := range media {
			if given(f.Schema, m) {
				p.Reportf(at, schema.Value{}, "a list of parts beside the column %s: verl passes over the parts, and fails with an AssertionError on the number of %s", m, m)
				return
			}
		}
		if carriesMedia(field.Type) {
			p.Report(rule.Finding{Level: rule.Info, Pos: at, Message: "a list of parts: for vision models only"})
			return
		}
		p.Reportf(at, schema.Value{}, "a list of parts instead of text: %s", p.Consequence)
	})
}
