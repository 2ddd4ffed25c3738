package ruletest

import (
	"encoding/json"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// An Exported is an example as testdata/conformance/verl_oracle.py writes it to Parquet, with pyarrow, and shows it to verl.
type Exported struct {
	Set   string         `json:"set"` // "RL301-0"
	Rule  string         `json:"rule"`
	Title string         `json:"title"`
	Kind  string         `json:"kind"`
	Level string         `json:"level"` // the worst found, "off" in a good example
	Rows  []int64        `json:"rows"`  // at which it is found, over all files; -1: the whole file
	Paths []string       `json:"paths"`
	Skip  string         `json:"skip,omitempty"` // why it cannot be shown
	Files []ExportedFile `json:"files"`
}

// An ExportedFile is one file of it.
type ExportedFile struct {
	Val   bool   `json:"val"`
	Text  string `json:"text"`  // JSON Lines
	Types any    `json:"types"` // of its columns: {"struct": [[name, type], …]}, {"list": type}, or a name of pyarrow
}

// Export returns example i of r for the target.
func Export(r *rule.Rule, i int, target rule.Target) (*Exported, error) {
	e := r.Examples[i]
	if e.Target == "" {
		e.Target = target.String()
	}
	out := &Exported{Rule: r.ID, Title: e.Title, Level: rule.Off.String()}
	kind := r.Rows
	if kind == rule.Any {
		kind = e.Rows
	}
	if kind == rule.Any {
		kind = rule.RL
	}
	out.Kind = kind.String()
	if t, err := rule.ParseTarget(e.Target); err != nil || t.Version != target.Version {
		out.Skip = "it is of " + e.Target
		return out, err
	}
	if e.Edit != nil {
		out.Skip = "what is wrong stands in the footer"
		return out, nil
	}
	if e.Launch != "" || len(e.Files) == 0 {
		out.Skip = "it is about a launch"
		return out, nil
	}
	ts, err := tables(e)
	if err != nil {
		return nil, err
	}
	first := map[string]int64{}
	var n int64
	for k, t := range ts {
		text := append(append([]string(nil), e.Files...), e.Val...)[k]
		if !json.Valid([]byte(strings.Split(text, "\n")[0])) || strings.ToValidUTF8(text, "") != text {
			out.Skip = "its text is no UTF-8"
		}
		out.Files = append(out.Files, ExportedFile{Val: t.file.Val, Text: text, Types: typeTree(schema.StructOf(t.file.Schema.Fields...))})
		first[t.file.Name] = n
		n += int64(len(t.rows))
	}
	found, err := Findings(r, e)
	if err != nil {
		return nil, err
	}
	worst := rule.Off
	for _, f := range found {
		worst = max(worst, f.Level)
		at := int64(-1)
		if f.Pos.Row >= 0 {
			at = first[f.Pos.File] + f.Pos.Row
		}
		out.Rows = append(out.Rows, at)
		out.Paths = append(out.Paths, string(f.Pos.Path))
	}
	out.Level = worst.String()
	return out, nil
}

func typeTree(t schema.Type) any {
	switch {
	case t.Kind == schema.Struct:
		fields := []any{}
		for _, f := range t.Fields {
			fields = append(fields, []any{f.Name, typeTree(f.Type)})
		}
		return map[string]any{"struct": fields}
	case t.Kind == schema.List:
		key := "list"
		if t.Layout == schema.Large {
			key = "large_list"
		}
		return map[string]any{key: typeTree(t.Fields[0].Type)}
	case t.Dictionary:
		return "dictionary"
	}
	return t.String()
}

// Tables returns the files of an example and their rows, structs of the files' columns.
func Tables(e rule.Example) (files []*rule.File, rows [][]schema.Value, err error) {
	ts, err := tables(e)
	for _, t := range ts {
		files, rows = append(files, t.file), append(rows, t.rows)
	}
	return files, rows, err
}
