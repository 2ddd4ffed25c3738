package verl

import (
	"iter"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const imageBytes schema.Path = "images[].bytes"

var _ = framework.Add(rule.Rule{
	ID: "RL503", Name: "image-bytes-null", Cites: []string{"verl@b178a3cd5 rl_dataset.py:317-328", "verl@b178a3cd5 vision_utils.py:22-32"},
	Title: "an image has no bytes",
	Doc: `
If images are structs with a field bytes, verl reads only this field (rl_dataset.py, _build_messages; vision_utils.py, process_image). A
null fails with PIL.UnidentifiedImageError, and verl never reads the path beside it. In files whose metadata has HF's Image feature,
datasets itself opens the path, so RL rows of such files are not judged.

Put the bytes into the file (datasets: embed them with push_to_hub or embed_external_files), or write structs without the field.
`,
	Applies:         always("verl fails with PIL.UnidentifiedImageError when it reads the row"),
	Reads:           reads(imageBytes),
	JudgeSingletons: true,
	New:             func(p *rule.Pass) rule.Checker { return &imageNull{p} },
	Unfixed:         "the bytes are not in the data",
	Examples: []rule.Example{
		{Title: "a path and no bytes", Files: []string{`{"images":[{"bytes":"\u0089PNG","path":null}]}
{"images":[{"bytes":null,"path":"a.png"}]}`}, Schema: "images[].bytes: binary", Want: []string{"0 1 images[].bytes"}},
		{Title: "of SFT samples", Rows: rule.SFT, Files: []string{`{"messages":[{"role":"assistant","content":"<image>"}],"images":[{"bytes":null,"path":"a.png"}]}`}, Want: []string{"0 0 images[].bytes"}},
		{Title: "bytes", Files: []string{`{"images":[{"bytes":"\u0089PNG","path":null}]}
{"images":[]}
{"images":null}`}, Schema: "images[].bytes: binary"},
		{Title: "no such field", Files: []string{`{"images":[{"image":"file:///a.png"}]}`}},
		{Title: "HF's Image", Files: []string{`{"images":[{"bytes":null,"path":"a.png"}]}`}, Schema: "images[].bytes: binary",
			Edit: func(f []*rule.File) {
				f[0].Metadata = map[string]string{"huggingface": `{"info": {"features": {"images": {"feature": {"_type": "Image"}, "_type": "List"}}}}`}
			}},
	},
})

type imageNull struct{ *rule.Pass }

// Prejudge implements rule.Checker.
func (c *imageNull) Prejudge(k *rule.RowGroupFacts) bool {
	return k.At(0).Missing || k.At(0).Nulls == 0
}

var imagesKey = rule.NewKey("images")

// Row implements rule.Checker: only Group sees the file, and its metadata.
func (c *imageNull) Row(r schema.Row) {
	v := r.At(0)
	for i := range v.Len() {
		if e := v.Elem(i); e.IsNull() || e.Text() == "" {
			c.Emit(imagesKey, r, uint64(i))
			return
		}
	}
}

// Group implements rule.Checker.
func (c *imageNull) Group(_ rule.Key, hits iter.Seq[rule.Hit]) {
	for h := range hits {
		if c.Env.Rows == rule.RL && strings.Contains(h.File.Metadata["huggingface"], `"Image"`) {
			continue
		}
		c.Reportf(h.Pos().At(imageBytes), schema.Value{}, "image %d has none: %s", h.Value, c.Consequence)
	}
}
