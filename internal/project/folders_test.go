package project_test

import (
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/project"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/verl" // the default target
)

func TestFolder(t *testing.T) {
	for name, want := range map[string]string{
		"train.parquet": ".", "data/train.parquet": "data", "data/train/0.parquet": "data", "train/0.parquet": ".", "data/val/x.jsonl": "data",
		"data/sql/rows.parquet": "data/sql", "/d/test/part-1.parquet": "/d", "data/train/test.parquet": "data/train",
	} {
		if got := project.Folder(name); got != want {
			t.Errorf("Folder(%s) = %s, want %s", name, got, want)
		}
	}
}

// TestGroup: folders are different data sets where their columns or kinds differ, but not the parts of one.
func TestGroup(t *testing.T) {
	field := func(name string, fields ...string) schema.Field {
		typ := schema.StringType
		if fields != nil {
			var all []schema.Field
			for _, f := range fields {
				all = append(all, schema.NewField(f, schema.StringType))
			}
			typ = schema.StructOf(all...)
		}
		return schema.NewField(name, typ)
	}
	rl := []schema.Field{field("prompt"), field("extra_info", "index", "split")}
	turned := []schema.Field{field("extra_info", "split", "index"), field("prompt")}
	other := []schema.Field{field("prompt"), field("extra_info", "index")}
	for _, c := range []struct {
		name  string
		files []string
		types [][]schema.Field
		want  string
	}{
		{"one folder", []string{"d/train.parquet", "d/test.parquet"}, [][]schema.Field{rl, other}, "d: 2"},
		{"folders of splits", []string{"d/train/0.parquet", "d/test/0.parquet"}, [][]schema.Field{rl, other}, "d: 2"},
		{"the same columns", []string{"d/a/train.parquet", "d/b/train.parquet"}, [][]schema.Field{rl, turned}, "d/a: 2"},
		{"other columns", []string{"d/a/train.parquet", "d/b/train.parquet", "d/a/test.parquet"}, [][]schema.Field{rl, other, rl}, "d/a: 2; d/b: 1"},
		{"numbered parts", []string{"d/part-0/x.parquet", "d/part-10/x.parquet"}, [][]schema.Field{rl, other}, "d/part-0: 2"},
		{"parts by key", []string{"d/lang=de/x.parquet", "d/lang=en/x.parquet", "d/year=1/x.parquet"}, [][]schema.Field{rl, other, {field("text")}}, "d/lang=de: 2; d/year=1: 1"},
	} {
		var files []*source.File
		for i, name := range c.files {
			files = append(files, &source.File{File: &rule.File{Name: name, Schema: &schema.Schema{Fields: c.types[i]}}})
		}
		var got []string
		for _, g := range project.Group(files, rule.DefaultTarget()) {
			got = append(got, g.Name+": "+string(rune('0'+len(g.Files))))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}
