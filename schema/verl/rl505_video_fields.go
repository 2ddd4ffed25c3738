package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL505", Name: "video-fields", Cites: []string{"verl@b178a3cd5 vision_utils.py:79"}, Rows: rule.RL,
	Title: "the structs in videos have no field video, or both fps and nframes",
	Doc: `
verl passes each struct to qwen_vl_utils as {"type": "video", …}, which takes the video from the key video (vision_utils.py, process_video:
NotImplementedError without it). It takes fps or nframes and refuses both. A union of structs leaves both keys in every row, one of them
null (a warning: read, not executed). Put such rows into two datasets, or keep only one of the two keys.
`,
	Applies: always("verl finds no video in the struct and fails"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		elem, ok := f.Schema.Lookup("videos[]")
		if !ok || elem.Type.Kind != schema.Struct {
			return
		}
		at := schema.FilePos(f.Name).At("videos[]")
		if _, i := elem.Type.Field("video"); i < 0 {
			p.Reportf(at, schema.Value{}, "%s has no field video: %s", schema.Cut(elem.Type.String(), 80), p.Consequence)
		}
		_, fps := elem.Type.Field("fps")
		_, frames := elem.Type.Field("nframes")
		if fps >= 0 && frames >= 0 {
			p.Report(rule.Finding{Level: rule.Warning, Pos: at, Message: "it has both fps and nframes, of which qwen_vl_utils takes one"})
		}
	}),
	Unfixed: "the meaning of the values is not in the data",
	Examples: []rule.Example{
		{Title: "as images are written", Files: []string{`{"videos":[{"path":"a.mp4"}]}`}, Want: []string{"0 -1 videos[]"}},
		{Title: "fps in one row, nframes in another", Files: []string{`{"videos":[{"video":"a.mp4","fps":2.0}]}
{"videos":[{"video":"b.mp4","nframes":8}]}`}, Want: []string{"0 -1 videos[]"}},
		{Title: "a video", Files: []string{`{"videos":[{"video":"a.mp4","fps":2.0}]}`}},
		{Title: "no videos", Files: []string{`{"images":[{"path":"a.png"}]}`}},
	},
})
