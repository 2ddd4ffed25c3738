package transform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "images",
	Title: "reject rows whose images have no bytes, or bytes that are no image",
	Doc: `
Looks at a column of images as HF datasets stores them, a list of {bytes, path} or one such struct, and rejects a row of which an
image has no bytes (no-image-bytes), or bytes that begin like no format that Pillow reads (not-an-image): PNG, JPEG, GIF, WebP, BMP, TIFF,
AVIF, JPEG 2000, PNM. Nothing is decoded and nothing is changed: the bytes go on as they are. Null images and null lists are left alone, as HF
datasets leaves them.
`,
	Short: "path",
	Args:  []Arg{{Name: "path", Type: "path", Doc: "the column; images when not given"}},
	New:   newImages,
	Examples: []Example{
		{
			Title: "a GIF, as far as its first bytes tell",
			Args:  `{"path":"images"}`,
			In:    `{"images":[{"bytes":"GIF89a...","path":null}]}` + "\n" + `{"images":null}`,
			Out:   `{"images":[{"bytes":"GIF89a...","path":null}]}` + "\n" + `{"images":null}`,
		},
		{
			Title: "no bytes",
			Args:  `{"path":"images"}`,
			In:    `{"images":[{"bytes":null,"path":"a.png"}]}`,
			Error: `no-image-bytes: image 0 of images has no bytes (path "a.png")`,
		},
		{
			Title: "a column that is something else",
			Args:  `{"path":"images"}`,
			In:    `{"images":["a.png"]}`,
			Error: `column "images" is list<element: string>, expected images as {bytes, path}`,
		},
	},
})

// Images rejects rows whose images cannot be decoded, as far as their first bytes tell.
type Images struct{ Path schema.Path }

// Plan returns a Func that reads the column. It fails where that holds no images.
func (x Images) Plan(in *schema.Schema) (*Plan, error) {
	f, err := column(in, x.Path)
	if err != nil {
		return nil, err
	}
	t := f.Type
	list := t.Kind == schema.List
	if list {
		t = t.Fields[0].Type
	}
	bytes, at := t.Field("bytes")
	_, path := t.Field("path")
	kinds := []schema.Kind{schema.Binary, schema.Text, schema.Null}
	if inList(x.Path) || t.Kind != schema.Struct || at < 0 || path < 0 || !slices.Contains(kinds, bytes.Type.Kind) {
		return nil, wrongType(x.Path, f.Type, "images as {bytes, path}")
	}
	return &Plan{Reads: []schema.Path{x.Path}, Bind: func() Func {
		return func(in schema.Row, out *Emitter) error {
			v := in.At(0)
			if !list {
				if err := imageFault(x.Path, "the image in "+string(x.Path), v, at, path); err != nil {
					return err
				}
				out.Emit()
				return nil
			}
			for i := range v.Len() {
				if err := imageFault(x.Path, fmt.Sprintf("image %d of %s", i, x.Path), v.Elem(i), at, path); err != nil {
					return err
				}
			}
			out.Emit()
			return nil
		}
	}}, nil
}

// imageFault rejects an image, whose bytes and path are these fields.
func imageFault(at schema.Path, what string, image schema.Value, bytes, path int) error {
	if image.IsNull() {
		return nil
	}
	b := image.Elem(bytes)
	switch {
	case b.IsNull() && image.Elem(path).IsNull():
		return Rejectf("no-image-bytes", at, schema.Value{}, "%s has neither bytes nor a path", what)
	case b.IsNull():
		return Rejectf("no-image-bytes", at, schema.Value{}, "%s has no bytes (path %q)", what, schema.Cut(image.Elem(path).Text(), 60))
	case !isImage(b.Text()):
		return Rejectf("not-an-image", at, schema.Value{}, "%s is none: it begins with %q", what, schema.Cut(b.Text(), 12))
	}
	return nil
}

// magic is what files of the formats that Pillow opens begin with (Pillow 12, _accept of its plugins).
var magic = []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "BM", "II\x2a\x00", "MM\x00\x2a", "II\x2b\x00", "MM\x00\x2b",
	"\xff\x4f\xff\x51", "\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a", "8BPS", "\x00\x00\x01\x00"}

// isImage reports whether b begins like an image.
func isImage(b string) bool {
	for _, m := range magic {
		if strings.HasPrefix(b, m) {
			return true
		}
	}
	switch {
	case len(b) >= 12 && strings.HasPrefix(b, "RIFF") && b[8:12] == "WEBP":
		return true
	case len(b) >= 12 && b[4:8] == "ftyp": // AVIF
		return strings.HasPrefix(b[8:], "avif") || strings.HasPrefix(b[8:], "avis") || strings.HasPrefix(b[8:], "mif1")
	case len(b) >= 3 && b[0] == 'P' && b[1] >= '1' && b[1] <= '6': // PNM
		return strings.IndexByte(" \t\r\n#", b[2]) >= 0
	}
	return false
}

func newImages(args Args) (RowStep, error) {
	r := newArgs("images", args)
	return r.done(Images{Path: r.path("path", "images")})
}
