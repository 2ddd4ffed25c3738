package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL504", Name: "media-type", Cites: []string{"verl@b178a3cd5 rl_dataset.py:317-328", "verl@b178a3cd5 vision_utils.py:22-32"}, Rows: rule.RL,
	Title: "images, videos or audios are not lists of a type that verl takes",
	Doc: `
images must be a list of structs {bytes, path}, or of values that the vision processor takes under the key image. videos must be a list of
structs with the key video. Since 0.9 an image or video may also be a path in a text. Before 0.9
a path fails with TypeError 'unsupported image type', and bytes without a struct fail with it in every version
(rl_dataset.py, _build_messages; verl issues 837, 4084). An image that is not in a
list fails when verl takes its length.
`,
	Applies: always("verl fails with TypeError when it reads the row"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		for _, m := range media {
			field, ok := f.Schema.Lookup(m.column)
			if !ok || field.Type.Kind == schema.Null || !p.Env.Target.Within(m.versions) {
				continue
			}
			if why := notMedia(p.Env.Target, m, field.Type); why != "" {
				p.Reportf(schema.FilePos(f.Name).At(m.column), schema.Value{}, "%s: %s", why, p.Consequence)
			}
		}
	}),
	Unfixed: "the meaning of the values is not in the data",
	Examples: []rule.Example{
		{Title: "an image that is not in a list", Files: []string{`{"images":{"bytes":"a","path":null}}`}, Schema: "images.bytes: binary", Want: []string{"0 -1 images"}},
		{Title: "bytes without a struct", Files: []string{`{"images":["a"]}`}, Schema: "images: list<binary>", Want: []string{"0 -1 images"}},
		{Title: "paths, before 0.9", Files: []string{`{"images":["a.png"]}`}, Target: "verl@0.8", Want: []string{"0 -1 images"}},
		{Title: "pixels", Files: []string{`{"images":[[1,2,3]]}`}, Want: []string{"0 -1 images"}},
		{Title: "structs", Files: []string{`{"images":[{"bytes":"a","path":null}],"videos":[{"video":"a.mp4"}]}`}, Schema: "images[].bytes: binary"},
		{Title: "paths", Files: []string{`{"images":["a.png"],"videos":["a.mp4"]}`}},
		{Title: "never any", Files: []string{`{"images":null,"videos":[]}`}},
	},
})

// notMedia says why t is no list of the medium; "" where it is one.
func notMedia(target rule.Target, m medium, t schema.Type) string {
	if t.Kind != schema.List {
		return t.String() + " instead of a list"
	}
	switch e := t.Fields[0].Type; e.Kind {
	case schema.Struct, schema.Null:
		return ""
	case schema.Text:
		if target.Within(readsMediaPaths) || m.column == "audios" {
			return ""
		}
		return "a list of texts, and paths are known from verl 0.9 on"
	case schema.List: // the frames of a video
		if m.column != "images" && target.Within(readsMediaPaths) {
			return ""
		}
	case schema.Binary:
		if m.column == "audios" {
			return ""
		}
	}
	return schema.Cut(t.String(), 80) + " instead of a list of structs"
}
