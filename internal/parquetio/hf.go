package parquetio

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// An HFPolicy says what becomes of the metadata that HF datasets keeps under the key "huggingface".
type HFPolicy uint8

// The policies. Where Arrow types say as much, the metadata is better left out: datasets before 4 cannot read what
// datasets 4 and later write there, and it fails on a kind of feature that it does not know.
const (
	HFAuto  HFPolicy = iota // brought up to date where it says what Arrow types cannot (Image, ClassLabel, Json …), else left out
	HFStrip                 // left out
	HFKeep                  // brought up to date, whatever it says
)

// updateHF returns the value of "huggingface" for the columns s, and false where there is to be none. Malformed JSON, which
// makes datasets fail on the whole file, is only kept where the policy says so.
func updateHF(value string, s *schema.Schema, base *File, policy HFPolicy) (string, bool) {
	if policy == HFStrip {
		return "", false
	}
	root, err := parseObject([]byte(value))
	if err != nil {
		return value, policy == HFKeep
	}
	info, err := parseObject(root.get("info"))
	if err != nil {
		return value, policy == HFKeep
	}
	old, err := parseObject(info.get("features"))
	if err != nil {
		return value, policy == HFKeep
	}
	features := hfFields(s.Fields, old, base)
	if policy == HFAuto && !beyondArrow(features.append(nil)) {
		return "", false
	}
	info.set("features", features.append(nil))
	root.set("info", info.append(nil))
	return string(root.append(nil)), true
}

// hfFields returns the features of fields: those of old for what was read and did not change, others as their types say. A
// field whose type datasets has no word for gets none.
func hfFields(fields []schema.Field, old jsonObject, base *File) jsonObject {
	out := jsonObject{}
	for _, f := range fields {
		var was json.RawMessage
		if name, ok := nameIn(f, base); ok {
			was = old.get(name)
		}
		if v := hfFeature(f, was, base); v != nil {
			out = append(out, jsonMember{f.Name, v})
		}
	}
	return out
}

// hfFeature returns the feature of f, which was called was before.
func hfFeature(f schema.Field, was json.RawMessage, base *File) json.RawMessage {
	if o := sourceElementOf(f); was != nil && o != nil && o.file == base && o.kind.Equal(f.Type) {
		return was
	}
	old, err := parseObject(was)
	kind := hfKind(old)
	switch f.Type.Kind {
	case schema.Struct:
		if err != nil || kind != "" {
			old = nil
		}
		return hfFields(f.Type.Fields, old, base).append(nil)
	case schema.List:
		var inner json.RawMessage
		if kind == "List" || kind == "LargeList" {
			inner = old.get("feature")
		}
		return hfList(f.Type, hfFeature(f.Type.Fields[0], inner, base))
	}
	dtype := hfDtype(f.Type)
	if dtype == "" {
		return nil
	}
	return jsonObject{{"dtype", quoted(dtype)}, {"_type", quoted("Value")}}.append(nil)
}

func hfList(t schema.Type, inner json.RawMessage) json.RawMessage {
	if inner == nil {
		return nil
	}
	out := jsonObject{{"feature", inner}}
	switch t.Layout {
	case schema.Large:
		out = append(out, jsonMember{"_type", quoted("LargeList")})
		return out.append(nil)
	case schema.Fixed:
		out = append(out, jsonMember{"length", json.RawMessage(fmt.Sprint(t.Size))})
	}
	return append(out, jsonMember{"_type", quoted("List")}).append(nil)
}

// hfKind returns the _type of a feature, "" for a plain struct: a field of that name is an object.
func hfKind(feature jsonObject) string {
	var kind string
	if json.Unmarshal(feature.get("_type"), &kind) != nil {
		return ""
	}
	return kind
}

// hfDtype returns the dtype of Value for a plain type (datasets, features.py, _arrow_to_datasets_dtype), "" for none.
func hfDtype(t schema.Type) string {
	t.Dictionary = false
	switch t.Kind {
	case schema.Float:
		return fmt.Sprintf("float%d", t.Bits)
	case schema.Time:
		return strings.TrimSuffix(t.Name, "[day]")
	case schema.Text:
		t.Name = ""
		return t.String()
	case schema.Binary:
		if t.Layout == schema.Fixed {
			return "binary"
		}
		return t.String()
	case schema.Null, schema.Bool, schema.Int, schema.Decimal:
		return t.String()
	}
	return ""
}

// beyondArrow reports whether features say what Arrow types cannot.
func beyondArrow(features json.RawMessage) bool {
	var v any
	if json.Unmarshal(features, &v) != nil {
		return false
	}
	return hasSpecial(v)
}

func hasSpecial(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if hasSpecial(e) {
				return true
			}
		}
	case map[string]any:
		switch kind, ok := v["_type"].(string); {
		case ok && kind == "Value":
			return false
		case ok && kind != "List" && kind != "LargeList" && kind != "Sequence":
			return true
		}
		for _, e := range v {
			if hasSpecial(e) {
				return true
			}
		}
	}
	return false
}
