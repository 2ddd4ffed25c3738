package hf

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL007", Name: "hf-metadata-malformed",
	Title: "metadata of the file cannot be read",
	Doc: `
HF datasets writes its features as JSON under the key 'huggingface' and reads them back from any file that has the key
(features.py, from_arrow_schema). The whole file becomes unreadable if the JSON does not parse, if the features are not an object, or
if a feature is null or has an unknown _type or dtype (executed on datasets 5.2). If the metadata lacks a column, or has another type for
it, the type of the file counts. Feature 'List' is new in datasets 4, and earlier versions cannot read it (verl issue 2723).

Arrow stores its types under 'ARROW:schema', as the base64 of a schema. If that is damaged, Arrow refuses the file, and so do datasets,
pandas and Polars (executed on pyarrow 26). pandas stores its columns under 'pandas', as JSON. If that is damaged, pandas fails, and so
does verl's SFT dataset, which reads files with pandas. The RL datasets do not read this key.

Tools that copy metadata and change columns damage it. None of the keys is needed: remove them.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the loader cannot read the file"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		report := func(key, why string) {
			p.Report(rule.Finding{Pos: schema.FilePos(f.Name), Message: fmt.Sprintf("metadata '%s': %s: %s", key, why, p.Consequence), Value: schema.Cut(f.Metadata[key], 80)})
		}
		if text, ok := f.Metadata["huggingface"]; ok {
			if _, err := features(text); err != nil {
				report("huggingface", err.Error())
			}
		}
		if f.ArrowFault != "" {
			report("ARROW:schema", f.ArrowFault)
		}
		if text, ok := f.Metadata["pandas"]; ok && p.Env.Rows == rule.SFT {
			if why := pandasFault(text); why != "" {
				report("pandas", why)
			}
		}
	}),
	Fixes: []rule.Fix{fixes.Rewrite("removes the metadata that cannot be read", func(f *rule.File) bool {
		_, err := features(f.Metadata["huggingface"])
		return err != nil
	})},
	Examples: []rule.Example{
		{Title: "cut off", Files: []string{`{"id":1}`}, Edit: metadata(`{"info": {"features": {"id": {"dtype": "int64"`), Want: []string{"0 -1"}},
		{Title: "single quotes, as str(dict) writes them", Files: []string{`{"id":1}`}, Edit: metadata(`{'info': {}}`), Want: []string{"0 -1"}},
		{Title: "features as a list", Files: []string{`{"id":1}`}, Edit: metadata(`{"info": {"features": []}}`), Want: []string{"0 -1"}},
		{Title: "an unknown _type", Files: []string{`{"id":1}`}, Edit: metadata(`{"info": {"features": {"id": {"_type": "Tensor"}}}}`), Want: []string{"0 -1"}},
		{Title: "an unknown dtype", Files: []string{`{"id":1}`}, Edit: metadata(`{"info": {"features": {"id": {"dtype": "integer", "_type": "Value"}}}}`), Want: []string{"0 -1"}},
		{Title: "pandas' own, cut off, for SFT", Rows: rule.SFT, Files: []string{`{"messages":[{"role":"user","content":"Hi"}]}`}, Edit: func(f []*rule.File) { f[0].Metadata = map[string]string{"pandas": `{"index_columns": [`} }, Want: []string{"0 -1"}},
		{Title: "Arrow's metadata is not base64", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) {
			f[0].Metadata, f[0].ArrowFault = map[string]string{"ARROW:schema": "!!!"}, "illegal base64 data at input byte 0"
		}, Want: []string{"0 -1"}},
		{Title: "as datasets writes it", Files: []string{`{"id":1,"tags":["a"]}`}, Edit: metadata(`{"info": {"features": {"id": {"dtype": "int64", "_type": "Value"}, "tags": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"}, "images": {"feature": {"_type": "Image"}, "_type": "List"}}}}`)},
		{Title: "no features in it", Files: []string{`{"id":1}`}, Edit: metadata(`{"info": {"features": null}}`)},
		{Title: "other metadata", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) { f[0].Metadata = map[string]string{"pandas": "{"} }},
	},
})

// pandasFault says why pandas cannot read its metadata (pandas and pyarrow.pandas_compat: json.loads, then ["columns"]).
func pandasFault(text string) string {
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Sprintf("not JSON (%v)", err)
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return kind(doc) + " instead of an object"
	}
	if _, ok := object["columns"].([]any); !ok {
		return "no list of columns"
	}
	return ""
}

// metadata returns an Edit that gives the first file this 'huggingface' metadata.
func metadata(text string) func([]*rule.File) {
	return func(f []*rule.File) { f[0].Metadata = map[string]string{"huggingface": text} }
}

// featureTypes are the names under which datasets 5 registers features.
var featureTypes = []string{"Value", "ClassLabel", "Translation", "TranslationVariableLanguages", "LargeList", "List", "Sequence",
	"Array2D", "Array3D", "Array4D", "Array5D", "Audio", "Image", "Video", "Pdf", "Nifti", "Json", "Mesh", "BioSequence", "BioStructure"}

// features returns the features that the metadata names, as JSON, or why datasets fails on it. It is as lax as
// Features.from_arrow_schema where that is lax.
func features(text string) (map[string]any, error) {
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("not JSON (%w)", err)
	}
	object, ok := doc.(map[string]any)
	if !ok {
		switch doc.(type) {
		case []any, string: // "info" in it is just False
			return nil, nil
		}
		return nil, fmt.Errorf("%s instead of an object", kind(doc))
	}
	info, ok := object["info"]
	if !ok {
		return nil, nil
	}
	fields, ok := info.(map[string]any)
	if !ok {
		switch info.(type) {
		case []any, string:
			return nil, nil
		}
		return nil, fmt.Errorf("info is %s instead of an object", kind(info))
	}
	list := fields["features"]
	if list == nil {
		return nil, nil
	}
	all, ok := list.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("features is %s instead of an object", kind(list))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := feature(all[name]); err != nil {
			return nil, fmt.Errorf("feature %q: %w", name, err)
		}
	}
	return all, nil
}

// feature checks one feature, as generate_from_dict builds it.
func feature(v any) error {
	if list, ok := v.([]any); ok { // the form of a list before datasets 4
		if len(list) == 0 {
			return fmt.Errorf("an empty list")
		}
		return feature(list[0])
	}
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s instead of an object", kind(v))
	}
	name, ok := object["_type"]
	if _, nested := name.(map[string]any); !ok || nested {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if err := feature(object[key]); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		return nil
	}
	text, _ := name.(string)
	switch {
	case !slices.Contains(featureTypes, text):
		return fmt.Errorf("unknown _type %q", text)
	case text == "List" || text == "LargeList" || text == "Sequence":
		return feature(object["feature"])
	case text == "Value":
		if dtype, _ := object["dtype"].(string); !knownDtype(dtype) {
			return fmt.Errorf("unknown dtype %q", dtype)
		}
	}
	return nil
}

// knownDtype reports whether datasets takes the name of an Arrow type (string_to_arrow).
func knownDtype(s string) bool {
	switch s {
	case "null", "bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "float", "double",
		"string", "large_string", "string_view", "binary", "large_binary", "binary_view", "utf8", "large_utf8", "date32", "date64":
		return true
	}
	for _, prefix := range []string{"timestamp[", "time32[", "time64[", "duration[", "decimal128(", "decimal256(", "fixed_size_binary["} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}
