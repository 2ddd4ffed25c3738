package hf

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL008", Name: "type-differs", Cites: []string{"datasets@5.0.2.dev0 features.py:2436"},
	Title: "a column has another type than in an earlier file",
	Doc: `
HF datasets loads the files of a list one by one and concatenates them. Their features must be equal; else it fails at startup: "The features
can't be aligned because the key … has unexpected type". int32 and int64 differ, and so do string and large_string, list and large_list, and
lists of messages whose structs have other keys in one file. Structs are compared field by field. A column that is only null takes the
type of the other file, except that a null before a struct fails ('Value' object has no attribute 'items').
The order of fields, nullability and pandas' categoricals do not matter.

The files of one glob are cast to the types of the first file. A struct with one more field, a list for a text, and any value for a null
column fail; numbers silently become texts (a warning here). All executed on datasets 5.2.

Write all files with one schema. Writers that infer types file by file (pandas, Polars, from_list) differ as soon as one file
holds only nulls, or no message with tool_calls.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the features can't be aligned, and the loader fails"}},
	New:     eachDataset(typesDiffer),
	Fixes: []rule.Fix{
		fixes.OneType("gives the files one type and order: the widest integer, one form of text and lists, a type for nulls"),
		fixes.Unsafe(fixes.NumberType("converts integer-valued texts and floats to integers")),
		fixes.Unsafe(fixes.TextType("makes integers texts")),
	},
	Unfixed: "incompatible types are left alone, and so are differences in the metadata of the files",
	Examples: []rule.Example{
		{Title: "index int in one file, text in another", Files: []string{`{"extra_info":{"index":0}}`, `{"extra_info":{"index":"1"}}`}, Want: []string{"1 -1 extra_info.index"}},
		{Title: "int64 and int32", Files: []string{`{"id":0}`, `{"id":1}`}, Schema: "1/id: int32", Want: []string{"1 -1 id"}},
		{Title: "string and large_string (pandas beside Polars)", Files: []string{`{"q":"a"}`, `{"q":"b"}`}, Schema: "1/q: large_string", Want: []string{"1 -1 q"}},
		{Title: "messages with another key", Files: []string{`{"prompt":[{"role":"user","content":"Hi"}]}`, `{"prompt":[{"role":"user","content":"Hi","name":"Ann"}]}`}, Want: []string{"1 -1 prompt"}},
		{Title: "a null column before a struct", Files: []string{`{"tools_kwargs":null}`, `{"tools_kwargs":{"search":{"create_kwargs":{"q":"a"}}}}`}, Want: []string{"1 -1 tools_kwargs"}},
		{Title: "an Image beside a plain struct", Files: []string{`{"image":{"bytes":"a","path":"b"}}`, `{"image":{"bytes":"a","path":"b"}}`}, Schema: "image.bytes: binary",
			Edit: metadata(`{"info": {"features": {"image": {"_type": "Image"}}}}`), Want: []string{"1 -1 image"}, Unfixed: "in the metadata of the files"},
		{Title: "one glob: the first file has only nulls", Files: []string{`{"note":null}`, `{"note":"a"}`}, Edit: glob, Want: []string{"1 -1 note"}},
		{Title: "one glob: a struct with a further field", Files: []string{`{"extra_info":{"index":0}}`, `{"extra_info":{"index":1,"level":"a"}}`}, Edit: glob, Want: []string{"1 -1 extra_info.level"}},
		{Title: "one glob: numbers become texts", Files: []string{`{"id":"a"}`, `{"id":1}`}, Edit: glob, Want: []string{"1 -1 id"}},
		{Title: "another order of columns and fields", Files: []string{`{"id":1,"extra_info":{"index":0,"split":"train"}}`, `{"extra_info":{"split":"train","index":1},"id":2}`}},
		{Title: "null in one file", Files: []string{`{"id":1,"note":"a"}`, `{"id":1,"note":null}`}},
		{Title: "a struct before a null column", Files: []string{`{"meta":{"a":1}}`, `{"meta":null}`}},
		{Title: "a field in one file only", Files: []string{`{"extra_info":{"index":0}}`, `{"extra_info":{"index":1,"level":"a"}}`}},
		{Title: "train and validation are two datasets", Files: []string{`{"id":1}`}, Val: []string{`{"id":"a"}`}},
		{Title: "a categorical beside a text", Files: []string{`{"s":"a"}`, `{"s":"b"}`}, Schema: "0/s: dictionary<values=string, indices=int32, ordered=0>"},
		{Title: "one glob: int32 is cast to int64", Files: []string{`{"id":1}`, `{"id":2}`}, Schema: "1/id: int32", Edit: glob},
	},
})

// glob is an Edit that makes all files come out of one glob.
func glob(files []*rule.File) {
	for _, f := range files {
		f.Glob = true
	}
}

func typesDiffer(p *rule.Pass, files []*rule.File) {
	if alike(files) && !slices.ContainsFunc(files, func(f *rule.File) bool { return f.Metadata["huggingface"] != files[0].Metadata["huggingface"] }) {
		return
	}
	if isGlob(files) {
		castFiles(p, files)
		return
	}
	acc := map[string]schema.Type{}
	special := map[string]string{}
	seen := map[string]bool{}
	for _, f := range files {
		marks := specials(f)
		for _, c := range f.Schema.Fields {
			path := schema.Path("").Field(c.Name)
			if !seen[c.Name] {
				seen[c.Name], acc[c.Name], special[c.Name] = true, c.Type, marks[c.Name]
				continue
			}
			acc[c.Name] = align(acc[c.Name], c.Type, path, func(x conflict) {
				p.Reportf(at(f, x.path), schema.Value{}, "%s: %s", x.what, p.Consequence)
			})
			if marks[c.Name] != special[c.Name] && c.Type.Kind != schema.Null {
				p.Reportf(at(f, path), schema.Value{}, "%s here, %s in an earlier file, by the metadata: %s", orPlain(marks[c.Name]), orPlain(special[c.Name]), p.Consequence)
			}
		}
	}
}

func orPlain(s string) string {
	if s == "" {
		return "a plain column"
	}
	return s
}

// isGlob reports whether the files are handed to the loader as one glob.
func isGlob(files []*rule.File) bool {
	for _, f := range files {
		if !f.Glob {
			return false
		}
	}
	return len(files) > 1
}

func castFiles(p *rule.Pass, files []*rule.File) {
	first := files[0]
	for _, f := range files[1:] {
		for _, c := range f.Schema.Fields {
			to, i := first.Schema.Column(c.Name)
			if i < 0 {
				continue // RL009
			}
			cast(to.Type, c.Type, schema.Path("").Field(c.Name), func(x conflict) {
				level := p.Level
				if x.silent {
					level = min(level, rule.Warning)
				}
				p.Report(rule.Finding{Level: level, Pos: at(f, x.path), Related: []schema.Pos{at(first, x.path)}, Message: x.what})
			})
		}
	}
}

// specials returns, by column, the features of the file's metadata that are no plain type and that fit the column, as JSON.
func specials(f *rule.File) map[string]string {
	text, ok := f.Metadata["huggingface"]
	if !ok {
		return nil
	}
	all, err := features(text)
	if err != nil {
		return nil // RL007
	}
	out := map[string]string{}
	for name, v := range all {
		c, i := f.Schema.Column(name)
		if i < 0 {
			continue
		}
		if s := specialOf(v, c.Type); s != "" {
			out[name] = s
		}
	}
	return out
}

// specialOf names a feature that is an Image, Audio, Video or ClassLabel, or a list of these; "" for others, and where the type
// of the column does not fit.
func specialOf(v any, t schema.Type) string {
	if list, ok := v.([]any); ok && len(list) == 1 {
		v = map[string]any{"_type": "List", "feature": list[0]}
	}
	object, _ := v.(map[string]any)
	switch name, _ := object["_type"].(string); name {
	case "List", "Sequence", "LargeList":
		if t.Kind != schema.List {
			return ""
		}
		if s := specialOf(object["feature"], t.Fields[0].Type); s != "" {
			return "a list of " + s
		}
	case "Image", "Audio", "Video":
		if t.Kind == schema.Struct && len(t.Fields) == 2 && t.Fields[0].Name == "bytes" && t.Fields[1].Name == "path" {
			return "datasets." + name
		}
	case "ClassLabel":
		if t.Kind == schema.Int && t.Bits == 64 {
			names, _ := json.Marshal(object["names"])
			return fmt.Sprintf("datasets.ClassLabel%s", schema.Cut(string(names), 60))
		}
	}
	return ""
}
