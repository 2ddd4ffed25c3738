package shard

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio"
)

// sample is a Parquet file and what a manifest says of it.
func sample(t *testing.T, name string) (text []byte, s FileEntry) {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "parquet", "duckdb.parquet")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquetio.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, n, err := hashFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text, FileEntry{Name: name, Split: "train", Rows: f.NumRows(), RowGroups: len(f.RowGroups()), Bytes: n, SHA256: sum}
}

// told are the findings, "name: message" each.
func told(diffs []Difference) []string {
	var out []string
	for _, d := range diffs {
		out = append(out, fmt.Sprintf("%q: %s", d.Name, d.Message))
	}
	return out
}

func TestFinalizeThenVerify(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	d := open(t, out)
	text, x := sample(t, "x.parquet")
	_, b := sample(t, "b.parquet")
	publish(t, d, 0, string(text))
	publish(t, d, 1, string(text))
	m := &Manifest{Format: 1, Tool: "rlprep", Shards: []FileEntry{x, b}, Splits: []SplitRows{{Name: "train", Rows: x.Rows + b.Rows}}}
	m.DatasetSHA256 = DatasetHash(m.Shards)
	if _, err := os.Stat(out); err == nil {
		t.Error("OUT is there before it is finished")
	}
	if err := d.Finalize([]string{"x.parquet", "b.parquet"}, m); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 {
		t.Errorf("beside OUT: %v", entries)
	}
	if _, diffs, err := Verify(out); err != nil || len(diffs) > 0 {
		t.Fatalf("verify: %v, %v", diffs, err)
	}
	text[len(text)/2] ^= 1
	os.WriteFile(filepath.Join(out, "x.parquet"), text, 0o666)
	os.Remove(filepath.Join(out, "b.parquet"))
	os.WriteFile(filepath.Join(out, "new.parquet"), nil, 0o666)
	_, diffs, err := Verify(out)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(diffs), []string{`"x.parquet": sha256 differs from the manifest`, `"b.parquet": missing`, `"new.parquet": not in the manifest`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a manifest says that cannot be, or that the files contradict, is a finding, never an error of the system.
func TestVerifyForged(t *testing.T) {
	for name, c := range map[string]struct {
		forge func(m *Manifest, dir string)
		want  []string // beginnings of the findings
	}{
		"as it was": {func(*Manifest, string) {}, nil},
		"twice":     {func(m *Manifest, _ string) { m.Shards = append(m.Shards, m.Shards[0]) }, []string{`"a.parquet": the manifest names it 2 times`, `"manifest.json": split train has`}},
		"often": {func(m *Manifest, _ string) {
			m.Shards = slices.Repeat(m.Shards, 20_000)
			m.Splits[0].Rows *= 20_000
		}, []string{`"a.parquet": the manifest names it 20000 times`}},
		"rows":                {func(m *Manifest, _ string) { m.Shards[0].Rows, m.Splits[0].Rows = 1e18, 1e18 }, []string{`"a.parquet": 80 rows, the manifest says 1000000000000000000`}},
		"rows of the split":   {func(m *Manifest, _ string) { m.Splits[0].Rows++ }, []string{`"manifest.json": split train has 81 rows, its shards have 80`}},
		"row groups":          {func(m *Manifest, _ string) { m.Shards[0].RowGroups++ }, []string{`"a.parquet": 1 row groups, the manifest says 2`}},
		"unlisted split":      {func(m *Manifest, _ string) { m.Shards[0].Split = "x" }, []string{`"manifest.json": split train has`, `"manifest.json": a.parquet is of split x`}},
		"size":                {func(m *Manifest, _ string) { m.Shards[0].Bytes = -1 }, []string{`"a.parquet": `}},
		"no name":             {named(""), []string{`"": the manifest has this as the name`, `"a.parquet": not in`}},
		"dot":                 {named("."), []string{`".": the manifest has this as the name`, `"a.parquet": not in`}},
		"dots":                {named(".."), []string{`"..": the manifest has this as the name`, `"a.parquet": not in`}},
		"NUL":                 {named("a\x00.parquet"), []string{`"a\x00.parquet": the manifest has this as the name`, `"a.parquet": not in`}},
		"above":               {named("../a.parquet"), []string{`"../a.parquet": the manifest names a file outside`, `"a.parquet": not in`}},
		"above by a way":      {named("x/../../a.parquet"), []string{`"x/../../a.parquet": the manifest names a file outside`, `"a.parquet": not in`}},
		"absolute":            {named("/etc/passwd"), []string{`"/etc/passwd": the manifest names a file outside`, `"a.parquet": not in`}},
		"long":                {named(strings.Repeat("x", 5000)), []string{`"xxx`, `"a.parquet": not in`}},
		"directory":           {func(m *Manifest, dir string) { os.Mkdir(filepath.Join(dir, "d"), 0o777); m.Shards[0].Name = "d" }, []string{`"d": a directory`, `"a.parquet": not in`}},
		"not Parquet":         {junk, []string{`"junk": sha256 is as the manifest says, but`, `"a.parquet": not in`}},
		"hash of the dataset": {func(m *Manifest, _ string) { m.DatasetSHA256 = "x" }, []string{`"manifest.json": dataset_sha256`}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text, s := sample(t, "a.parquet")
			os.WriteFile(filepath.Join(dir, "a.parquet"), text, 0o666)
			m := &Manifest{Format: 1, Tool: "rlprep", Shards: []FileEntry{s}, Splits: []SplitRows{{Name: "train", Rows: s.Rows}}, DatasetSHA256: "set below"}
			c.forge(m, dir)
			if m.DatasetSHA256 != "x" {
				m.DatasetSHA256 = DatasetHash(m.Shards)
			}
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			os.WriteFile(filepath.Join(dir, ManifestName), b, 0o666)
			_, diffs, err := Verify(dir)
			got := told(diffs)
			if err != nil || !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("got %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
}

func named(name string) func(*Manifest, string) {
	return func(m *Manifest, _ string) { m.Shards[0].Name = name }
}

// junk is a file whose hash is right and that is no Parquet.
func junk(m *Manifest, dir string) {
	name := filepath.Join(dir, "junk")
	os.WriteFile(name, []byte("junk"), 0o666)
	m.Shards[0].Name = "junk"
	m.Shards[0].SHA256, m.Shards[0].Bytes, _ = hashFile(name)
}
