package shard

import (
	"reflect"
	"testing"
)

// part is a manifest of splits, each of one file made from one.
func part(recipe string, options map[string]string, splits ...string) *Manifest {
	m := &Manifest{Format: 1, Tool: "rlprep", Version: "1", Recipe: recipe, Options: options}
	for _, s := range splits {
		m.Inputs = append(m.Inputs, InputFile{Split: s, Name: s + ".jsonl", SHA256: "in " + s})
		m.Splits = append(m.Splits, SplitRows{Name: s})
		m.Shards = append(m.Shards, FileEntry{Name: s + ".parquet", Split: s, SHA256: recipe + s})
	}
	m.DatasetSHA256 = DatasetHash(m.Shards)
	return m
}

func TestMerge(t *testing.T) {
	plain := map[string]string{"compression": "zstd"}
	whole := part("r", plain, "train", "validation", "test", "extra")
	one := part("r", plain, "test")
	for _, s := range []string{"extra", "train", "validation"} {
		one = one.Merge(part("r", plain, s))
	}
	if !reflect.DeepEqual(one, whole) {
		t.Errorf("one by one: %+v, wanted %+v", one, whole)
	}

	mixed := part("r", plain, "train").Merge(part("q", map[string]string{"system": ""}, "test"))
	for _, c := range []struct {
		want  *Manifest
		same  bool
		clash string
	}{
		{part("r", plain, "train"), true, ""},
		{part("q", map[string]string{"system": ""}, "test"), true, ""},
		{part("q", map[string]string{}, "test"), false, "test: another --system"},
		{part("r", plain, "train", "test"), false, "test: recipe q, not r"},
		{part("r", plain, "validation"), false, ""},
		{part("r", plain, "train", "validation"), false, ""},
	} {
		split, how := mixed.Clash(c.want)
		if split != "" {
			split += ": " + how
		}
		if mixed.SamePlan(c.want) != c.same || split != c.clash {
			t.Errorf("%v: same %v, clash %q, wanted %v, %q", c.want.wanted(), mixed.SamePlan(c.want), split, c.same, c.clash)
		}
	}
	if back := mixed.Merge(part("r", plain, "test")); !reflect.DeepEqual(back, part("r", plain, "train", "test")) {
		t.Errorf("replaced: %+v", back)
	}
	other := part("r", plain, "train")
	other.Inputs[0].SHA256 = "other"
	if _, how := mixed.Clash(other); how != "other input files" {
		t.Errorf("other input: %q", how)
	}
}
