package infile

import "testing"

func TestPointer(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"a/x.parquet", "version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer, not the data: fetch it with: git lfs pull --include=x.parquet"},
		{"a/x.jsonl", "# xet version 0\n", "a Xet pointer, not the data: fetch it with: git xet materialize a/x.jsonl"},
		{"a/x.parquet.dvc", "md5: ab\nouts:\n", "a DVC file, not the data: fetch it with: dvc pull a/x.parquet.dvc, then name a/x.parquet"},
		{"a/x.parquet", "outs:\n- md5: ab\n", "a DVC file, not the data: fetch it with: dvc pull"},
		{"a/x.jsonl", "/annex/objects/SHA256E-s1--ab.jsonl\n", "a git-annex pointer, not the data: fetch it with: git annex get a/x.jsonl"},
		{"a/x.parquet", "PAR1", ""},
		{"a/x.jsonl", `{"outs":1}`, ""},
		{"a/x.jsonl", "", ""},
	} {
		if got := Pointer(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s, %q: %q, want %q", c.name, c.head, got, c.want)
		}
	}
}
