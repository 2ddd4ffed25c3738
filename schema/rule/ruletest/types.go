package ruletest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// infer returns the Arrow type that pyarrow would give to these values: fields in order of first appearance, what is only
// ever null of null type.
func infer(nodes []*node) schema.Type {
	t := schema.Type{Kind: schema.Null}
	for _, n := range nodes {
		t = merge(t, typeOf(n))
	}
	return t
}

func typeOf(n *node) schema.Type {
	switch n.kind {
	case schema.Bool:
		return schema.BoolType
	case schema.Int:
		return schema.Int64Type
	case schema.Float:
		return schema.FloatType
	case schema.Text:
		return schema.StringType
	case schema.List:
		return schema.ListOf(infer(n.values))
	case schema.Struct:
		t := schema.StructOf()
		for i, k := range n.keys {
			t.Fields = append(t.Fields, schema.NewField(k, typeOf(n.values[i])))
		}
		return t
	}
	return schema.Type{Kind: schema.Null}
}

func merge(a, b schema.Type) schema.Type {
	switch {
	case a.Kind == schema.Null:
		return b
	case b.Kind == schema.Null:
		return a
	case a.Kind == schema.Int && b.Kind == schema.Float:
		return b
	case a.Kind == schema.Float && b.Kind == schema.Int:
		return a
	case a.Kind != b.Kind:
		panic(fmt.Sprintf("%s beside %s in one column of one file", a, b))
	case a.Kind == schema.List:
		return schema.ListOf(merge(a.Fields[0].Type, b.Fields[0].Type))
	case a.Kind == schema.Struct:
		out := schema.StructOf(slices.Clone(a.Fields)...)
		for _, f := range b.Fields {
			if _, i := out.Field(f.Name); i >= 0 {
				out.Fields[i].Type = merge(out.Fields[i].Type, f.Type)
			} else {
				out.Fields = append(out.Fields, f)
			}
		}
		return out
	}
	return a
}

// declare puts the types of an Example.Schema into s, the schema of file number file.
func declare(s *schema.Schema, file int, text string) error {
	for _, line := range strings.Split(text, ";") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if n, rest, ok := strings.Cut(line, "/"); ok && !strings.ContainsAny(n, ": ") {
			if n != strconv.Itoa(file) {
				continue
			}
			line = rest
		}
		name, typ, ok := strings.Cut(line, ": ")
		if !ok {
			return fmt.Errorf("schema %q: expected PATH: TYPE", line)
		}
		t, err := ParseType(typ)
		if err != nil {
			return err
		}
		p, err := schema.ParsePath(name)
		if err != nil {
			return err
		}
		if !setType(s.Fields, p.Steps(), t) {
			return fmt.Errorf("schema %q: no such column", line)
		}
	}
	return nil
}

func setType(fields []schema.Field, steps []string, t schema.Type) bool {
	for i := range fields {
		if fields[i].Name != steps[0] && steps[0] != schema.Elem {
			continue
		}
		if len(steps) == 1 {
			fields[i].Type = t
			return true
		}
		return setType(fields[i].Type.Fields, steps[1:], t)
	}
	return false
}

// ParseType reads a type as pyarrow prints it.
func ParseType(s string) (schema.Type, error) {
	t, rest, err := parseType(strings.TrimSpace(s))
	if err == nil && rest != "" {
		err = fmt.Errorf("type %q: %q after the type", s, rest)
	}
	return t, err
}

var plain = map[string]schema.Type{
	"null": {Kind: schema.Null}, "bool": schema.BoolType, "string": schema.StringType,
	"large_string": {Kind: schema.Text, Form: schema.Large}, "string_view": {Kind: schema.Text, Form: schema.View},
	"unknown": {Kind: schema.Binary, Name: schema.UnknownName}, "binary": {Kind: schema.Binary}, "large_binary": {Kind: schema.Binary, Form: schema.Large},
	"halffloat": {Kind: schema.Float, Bits: 16}, "float": {Kind: schema.Float, Bits: 32}, "double": schema.FloatType,
	"int8": {Kind: schema.Int, Bits: 8}, "int16": {Kind: schema.Int, Bits: 16}, "int32": {Kind: schema.Int, Bits: 32}, "int64": schema.Int64Type,
	"uint8": {Kind: schema.Int, Bits: 8, Unsigned: true}, "uint32": {Kind: schema.Int, Bits: 32, Unsigned: true},
	"uint64": {Kind: schema.Int, Bits: 64, Unsigned: true},
}

func parseType(s string) (schema.Type, string, error) {
	end := strings.IndexAny(s, "<>,")
	if end < 0 {
		end = len(s)
	}
	name := strings.TrimSpace(s[:end])
	if t, ok := plain[name]; ok {
		return t, s[end:], nil
	}
	switch name {
	case "list", "large_list":
		t := schema.Type{Kind: schema.List}
		if name == "large_list" {
			t.Form = schema.Large
		}
		return parseFields(t, s[end:], false)
	case "struct":
		return parseFields(schema.Type{Kind: schema.Struct}, s[end:], true)
	case "map":
		return parseFields(schema.Type{Kind: schema.Map}, s[end:], false)
	case "dictionary": // of strings
		return schema.Type{Kind: schema.Text, Dictionary: true}, s[end:], nil
	case "uuid":
		return schema.Type{Kind: schema.Other, Name: "extension<arrow.uuid>"}, s[end:], nil
	}
	if strings.HasPrefix(name, "timestamp[") || strings.HasPrefix(name, "date") {
		return schema.Type{Kind: schema.Time, Name: name}, s[end:], nil
	}
	return schema.Type{}, "", fmt.Errorf("type %q: unknown", s)
}

func parseFields(t schema.Type, s string, named bool) (schema.Type, string, error) {
	if !strings.HasPrefix(s, "<") {
		return t, "", fmt.Errorf("type: expected < at %q", s)
	}
	s = s[1:]
	for {
		s = strings.TrimLeft(s, " ,")
		if strings.HasPrefix(s, ">") {
			return t, s[1:], nil
		}
		name := "element"
		if at := strings.Index(s, ": "); named && at > 0 {
			name, s = s[:at], s[at+2:]
		}
		f, rest, err := parseType(s)
		if err != nil {
			return t, "", err
		}
		if len(rest) == len(s) {
			return t, "", fmt.Errorf("type: stuck at %q", s)
		}
		t.Fields = append(t.Fields, schema.NewField(name, f))
		s = rest
	}
}
