package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL106", Name: "content-parts", Rows: rule.RL,
	Title: "content is a list of parts",
	Doc: `
Only the processors of vision models read a content that is a list of {type, text}. The template of a text model fails on it ('can only
concatenate str (not "list") to str') in every row, or, in Qwen3's style, renders nothing (executed on verl 0.9.1). With an images, videos
or audios column it is an error too. verl puts the media where it finds <image> in a text, and skips contents that are lists. It then fails
on 'image_offset 0 != len(images)' (rl_dataset.py, _build_messages). Parts that contain their media themselves are fine for a vision model.

For a text model write content as text. Beside an images column write text with <image> in it.
`,
	Applies: []rule.Severity{
		{Trainer: trainerV1, Level: rule.Error, Consequence: "the chat template of a text model fails in every row"},
		{Level: rule.Error, Consequence: "the chat template of a text model fails, so the step fails"},
	},
	New:     contentParts(promptContent, "images", "videos", "audios"),
	Unfixed: "the data does not show whether a vision model will read the parts",
	Examples: []rule.Example{
		{Title: "only text parts", Files: []string{`{"prompt":[{"role":"user","content":[{"type":"text","text":"What is 6 times 12?"}]}]}`}, Want: []string{"0 -1 prompt[].content"}},
		{Title: "parts and an images column", Files: []string{`{"prompt":[{"role":"user","content":[{"type":"image","text":null},{"type":"text","text":"Find x."}]}],"images":[{"bytes":"a"}]}`}, Schema: "images[].bytes: binary", Want: []string{"0 -1 prompt[].content"}},
		{Title: "parts that carry their image", Files: []string{`{"prompt":[{"role":"user","content":[{"type":"image","image":"a.png","text":null},{"type":"text","image":null,"text":"Find x."}]}]}`}, Want: []string{"0 -1 prompt[].content"}},
		{Title: "text", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}`}},
		{Title: "text and an images column", Files: []string{`{"prompt":[{"role":"user","content":"<image>Find x."}],"images":[{"bytes":"a"}]}`}},
	},
})

// carriesMedia reports whether parts of type t have a field for media.
func carriesMedia(t schema.Type) bool {
	for _, name := range []string{"image", "image_url", "video", "video_url", "audio", "audio_url", "input_audio"} {
		if f, i := t.Field(name); i >= 0 && f.Type.Kind != schema.Null {
			return true
		}
	}
	return false
}
