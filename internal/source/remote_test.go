package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A library is a Remote of files in memory; version is what their dataset is at.
type library struct {
	dir   string
	files map[string]string
	bad   string // a SHA-256 that no file has
}

// List implements Remote: hf://d[@VERSION]/PATH.
func (l *library) List(_ context.Context, name string) (root, rest string, files []*RemoteFile, err error) {
	root, rest, _ = strings.Cut(strings.TrimPrefix(name, RemoteScheme), "/")
	version := strings.TrimPrefix(strings.TrimPrefix(root, "d"), "@")
	for p, data := range l.files {
		if rest != "" && p != rest && !strings.HasPrefix(p, rest+"/") {
			continue
		}
		files = append(files, &RemoteFile{Path: p, Size: int64(len(data)), SHA256: l.bad, Dataset: "d", Version: version, Address: "hf://d@" + version + "/" + p,
			Cached:   func() (string, bool) { return "", false },
			ReaderAt: func(context.Context) io.ReaderAt { return bytes.NewReader([]byte(data)) },
			Fetch: func(context.Context) (string, error) {
				to := filepath.Join(l.dir, filepath.Base(p))
				return to, os.WriteFile(to, []byte(data), 0o666)
			}})
	}
	slices.SortFunc(files, func(a, b *RemoteFile) int { return strings.Compare(a.Path, b.Path) })
	return RemoteScheme + root + "/", rest, files, nil
}

func TestRemote(t *testing.T) {
	row := `{"q":"x"}` + "\n"
	l := &library{dir: t.TempDir(), files: map[string]string{"main/train-0.jsonl": row, "main/test-0.jsonl": row + row, "other/train.jsonl": row,
		"README.md": "#", ".gitattributes": "", "main/.hidden.jsonl": row, "solo.jsonl": row, "doc/notes.pdf": ""}}
	for _, c := range []struct {
		spec Spec
		want string // "split name, …" or a part of the error
	}{
		{Spec{Args: []string{"hf://d/main"}}, "train hf://d/main/train-0.jsonl, test hf://d/main/test-0.jsonl"},
		{Spec{Args: []string{"hf://d/main/"}, Splits: []SplitArg{{Name: "test"}}}, "test hf://d/main/test-0.jsonl"},
		{Spec{Args: []string{"hf://d@v1/main/tr*.jsonl"}}, "train hf://d@v1/main/train-0.jsonl"},
		{Spec{Args: []string{"hf://d/**/train*"}}, "train hf://d/main/train-0.jsonl, train hf://d/other/train.jsonl"},
		{Spec{Args: []string{"hf://d/solo.jsonl"}}, "train hf://d/solo.jsonl"},
		{Spec{Args: []string{"hf://d/solo.jsonl"}, Splits: []SplitArg{{Name: "test"}}}, "test hf://d/solo.jsonl"},
		{Spec{Args: []string{"hf://d"}, Layout: []SplitArg{{"train", "main/train-*"}, {"test", "main/test-*"}}}, "train hf://d/main/train-0.jsonl, test hf://d/main/test-0.jsonl"},
		{Spec{Args: []string{"hf://d"}, Splits: []SplitArg{{"train", "other/*.jsonl"}}}, "train hf://d/other/train.jsonl"},
		{Spec{Args: []string{"hf://d/main/.hid*"}}, "train hf://d/main/.hidden.jsonl"},
		{Spec{Args: []string{"hf://d/sollo.jsonl"}}, "did you mean hf://d/solo.jsonl?"},
		{Spec{Args: []string{"hf://d/*.csv"}}, "no file matches"},
		{Spec{Args: []string{"hf://d/doc"}}, "no file here can be read"},
		{Spec{Args: []string{"hf://d/main/[x"}}, "pattern"},
		{Spec{Args: []string{"hf://d@a/main/train-0.jsonl", "hf://d@b/solo.jsonl"}}, "two revisions"},
		{Spec{Args: []string{"hf://d@a/solo.jsonl", "hf://d@a/solo.jsonl"}}, "named twice"},
	} {
		c.spec.Remote = l
		set, err := Resolve(context.Background(), c.spec)
		got := fmt.Sprint(err)
		if err == nil {
			var all []string
			for _, f := range set.Files() {
				all = append(all, f.Split+" "+f.Name)
			}
			got = strings.Join(all, ", ")
			set.Close()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%q %v: %s, wanted %s", c.spec.Args, c.spec.Splits, got, c.want)
		}
	}
}

// TestRemoteDamaged: a file that is not the one listed is not taken for it.
func TestRemoteDamaged(t *testing.T) {
	l := &library{dir: t.TempDir(), files: map[string]string{"a.jsonl": `{"q":"x"}`}, bad: strings.Repeat("ab", 32)}
	for _, hash := range []bool{true, false} {
		set, err := Resolve(context.Background(), Spec{Args: []string{"hf://d/a.jsonl"}, Remote: l, Hash: hash})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := set.Files()[0].SHA256(context.Background()); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("hash %v: %v", hash, err)
		}
		set.Close()
	}
}
