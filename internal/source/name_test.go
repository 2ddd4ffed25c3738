package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shown returns the splits of a set, "train: a b | test: c", with names below dir shortened.
func shown(set *Set, dir string) string {
	var out []string
	for _, s := range set.Splits {
		line := s.Name + ":"
		for _, f := range s.Files {
			line += " " + strings.TrimPrefix(f.Name, dir+"/")
		}
		out = append(out, line)
	}
	return strings.Join(out, " | ")
}

// tree makes a folder of small JSON files with these names.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	files := map[string]string{}
	for _, n := range names {
		files[n] = fmt.Sprintf("{\"name\":%q}\n", n)
	}
	return write(t, files)
}

func splitArgs(t *testing.T, args ...string) []SplitArg {
	t.Helper()
	var out []SplitArg
	for _, a := range args {
		s, err := ParseSplit(a)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s...)
	}
	return out
}

func TestFolderSplits(t *testing.T) {
	gsm8k := []SplitArg{{"train", "main/train*.jsonl"}, {"test", "main/test*.jsonl"}}
	tests := []struct {
		name   string
		files  []string
		splits []string
		layout []SplitArg
		want   string
		unused []string
	}{
		{name: "words in names", files: []string{"train.jsonl", "test.jsonl", "README.md", "dataset_info.json"}, want: "train: train.jsonl | test: test.jsonl"},
		{name: "other words", files: []string{"my-training_1.jsonl", "eval.jsonl", "dev.jsonl", "val2.jsonl"}, want: "train: my-training_1.jsonl | validation: dev.jsonl val2.jsonl | test: eval.jsonl"},
		{name: "no words", files: []string{"b.jsonl", "a.jsonl", "trainer.jsonl", "contest.jsonl"}, want: "train: a.jsonl b.jsonl contest.jsonl trainer.jsonl"},
		{name: "some without", files: []string{"train.jsonl", "extra.jsonl"}, want: "train: train.jsonl", unused: []string{"extra.jsonl"}},
		{name: "folders come first", files: []string{"train/test.jsonl", "data/test/0.jsonl", "valid-1/x.jsonl", "train.jsonl"},
			want: "train: train/test.jsonl | validation: valid-1/x.jsonl | test: data/test/0.jsonl", unused: []string{"train.jsonl"}},
		{name: "shards come first of all", files: []string{"data/train-00000-of-00002.jsonl", "data/train-00001-of-00002-abc.jsonl", "data/socratic-00000-of-00001.jsonl", "test/x.jsonl"},
			want: "train: data/train-00000-of-00002.jsonl data/train-00001-of-00002-abc.jsonl | socratic: data/socratic-00000-of-00001.jsonl", unused: []string{"test/x.jsonl"}},
		{name: "the hub's gsm8k", files: []string{"main/train-00000-of-00001.jsonl", "main/test-00000-of-00001.jsonl", "socratic/train-00000-of-00001.jsonl"}, layout: gsm8k,
			want: "train: main/train-00000-of-00001.jsonl | test: main/test-00000-of-00001.jsonl", unused: []string{"socratic/train-00000-of-00001.jsonl"}},
		{name: "a layout that does not fit", files: []string{"train.jsonl", "test.jsonl"}, layout: gsm8k, want: "train: train.jsonl | test: test.jsonl"},
		{name: "hidden ones", files: []string{"train.jsonl", ".train.jsonl", ".OUT.rlprep/train.jsonl", "__x__/train.jsonl"}, want: "train: train.jsonl"},
		{name: "one split", files: []string{"train.jsonl", "test.jsonl"}, splits: []string{"test"}, want: "test: test.jsonl"},
		{name: "two splits", files: []string{"train.jsonl", "test.jsonl", "dev.jsonl"}, splits: []string{"test,train"}, want: "train: train.jsonl | test: test.jsonl"},
		{name: "by another word", files: []string{"train.jsonl", "dev.jsonl"}, splits: []string{"val"}, want: "validation: dev.jsonl"},
		{name: "globs", files: []string{"a1.jsonl", "a2.jsonl", "sub/b.jsonl"}, splits: []string{"test=sub/*", "train=a*.jsonl"}, want: "test: sub/b.jsonl | train: a1.jsonl a2.jsonl"},
		{name: "a glob and a name", files: []string{"a1.jsonl", "test.jsonl"}, splits: []string{"train=a*.jsonl", "test"}, want: "train: a1.jsonl | test: test.jsonl"},
		{name: "a folder as glob", files: []string{"x/train/1.jsonl", "x/test/2.jsonl"}, splits: []string{"train=x"}, want: "train: x/test/2.jsonl x/train/1.jsonl"},
		{name: "byte order", files: []string{"train-10.jsonl", "train-2.jsonl", "Train/train.jsonl", "train-é.jsonl", "train_a.jsonl"}, want: "train: Train/train.jsonl train-10.jsonl train-2.jsonl train-é.jsonl train_a.jsonl"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, tt.files...)
			set, err := Resolve(t.Context(), Spec{Args: []string{dir}, Splits: splitArgs(t, tt.splits...), Layout: tt.layout})
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			if got := shown(set, dir); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			var unused []string
			for _, u := range set.Unused {
				unused = append(unused, strings.TrimPrefix(u, dir+"/"))
			}
			if !slices.Equal(unused, tt.unused) {
				t.Errorf("unused %q, want %q", unused, tt.unused)
			}
		})
	}
}

func TestNames(t *testing.T) {
	dir := tree(t, "train.jsonl", "test.jsonl", "x.jsonl", "y/z.ndjson", "y/deep/er/w.json", "y/.h/v.jsonl", "[odd].jsonl", "notes.txt", "list-of-gone")
	t.Chdir(dir)
	if err := os.WriteFile("list", []byte("\ufeff# data\n\n  train.jsonl \ny/*.ndjson\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		spec Spec
		want string
	}{
		{"by their names", Spec{Args: []string{"x.jsonl", "train.jsonl", "./test.jsonl"}}, "train: train.jsonl x.jsonl | test: ./test.jsonl"},
		{"one, as named", Spec{Args: []string{"train.jsonl"}, Splits: splitArgs(t, "dev")}, "dev: train.jsonl"},
		{"one without a word", Spec{Args: []string{"x.jsonl"}, Splits: splitArgs(t, "test")}, "test: x.jsonl"},
		{"some, one split asked for", Spec{Args: []string{"x.jsonl", "train.jsonl"}, Splits: splitArgs(t, "test")}, "test: x.jsonl"},
		{"by their folder", Spec{Args: []string{"y/z.ndjson"}}, "train: y/z.ndjson"},
		{"a glob", Spec{Args: []string{"*.jsonl"}}, "train: [odd].jsonl train.jsonl x.jsonl | test: test.jsonl"},
		{"deep", Spec{Args: []string{"**/*.*json"}}, "train: y/deep/er/w.json y/z.ndjson"},
		{"all below", Spec{Args: []string{"y/**"}}, "train: y/deep/er/w.json y/z.ndjson"},
		{"hidden when asked for", Spec{Args: []string{"y/.h/*"}}, "train: y/.h/v.jsonl"},
		{"a class", Spec{Args: []string{"[tx]*.jsonl"}}, "train: train.jsonl x.jsonl | test: test.jsonl"},
		{"a name is no pattern", Spec{Args: []string{"[odd].jsonl"}}, "train: [odd].jsonl"},
		{"a list", Spec{FilesFrom: "list"}, "train: train.jsonl y/z.ndjson"},
		{"a list and more", Spec{FilesFrom: "-", Stdin: strings.NewReader("test.jsonl\n"), Args: []string{"x.jsonl"}}, "train: x.jsonl | test: test.jsonl"},
		{"validation files", Spec{Args: []string{"train.jsonl"}, Val: []string{"x.jsonl", "test.jsonl"}}, "train: train.jsonl | validation: x.jsonl | test: test.jsonl"},
		{"globs from here", Spec{Splits: splitArgs(t, "train=x*")}, "train: x.jsonl"},
		{"in memory", Spec{Embedded: []Embedded{{Name: "sample/train.jsonl", Data: []byte("{}\n")}, {Name: "sample/test.jsonl"}}}, "train: sample/train.jsonl | test: sample/test.jsonl"},
		{"lenient", Spec{Args: []string{"."}, Lenient: true}, ": ./[odd].jsonl ./x.jsonl ./y/deep/er/w.json ./y/z.ndjson"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Resolve(t.Context(), tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			got := shown(set, "")
			if tt.name == "lenient" {
				_, got, _ = strings.Cut(got, "| :")
				got = ":" + got
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			for i, f := range set.Files() {
				if f.Index != i || f.Val != (f.Split == "validation" || f.Split == "test") {
					t.Errorf("file %d: %+v", i, f.File)
				}
			}
		})
	}
}

func TestNameErrors(t *testing.T) {
	dir := tree(t, "train.jsonl", "b.json.gz", "mixed/train.json", "mixed/test.json", "two/train_test.jsonl", "xls/a.xls", "xls/b.md", "deep/er/x.jsonl",
		"dvc/train.parquet.dvc", "data.xls", "nosuffix", "dvc-data.jsonl.dvc")
	t.Chdir(dir)
	for name, text := range map[string]string{
		"mixed/train.parquet": "PAR1",
		"lfs.parquet":         "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
		"xet.jsonl":           "# xet version 0\nfilesize = 12\n",
		"annexed.jsonl":       "/annex/objects/SHA256E-s1--ab.jsonl\n",
		"x.parquet.dvc":       "outs:\n- md5: 12\n  path: x.parquet\n",
		"text.parquet":        "{\"a\":1}\n",
		"empty.parquet":       "",
		"old.parquet":         "PK\x03\x04....",
		"a.arrow":             "ARROW1\x00\x00",
		"empty.jsonl.gz":      "",
		"none":                "# nothing\n",
		"gone":                "not-here.jsonl\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"same.jsonl": "train.jsonl", "broken.jsonl": "away.jsonl", "annex.jsonl": ".git/annex/objects/ab/cd/x.jsonl"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skipf("skipped: no links here: %v", err)
		}
	}
	one := func(name string) Spec { return Spec{Args: []string{name}} }
	tests := []struct {
		name   string
		spec   Spec
		want   string
		format bool // a *FormatError
	}{
		{"nothing", Spec{}, "no files named", false},
		{"no such file", one("trian.jsonl"), "trian.jsonl: file does not exist; did you mean train.jsonl?", false},
		{"other suffix", one("b.json"), "b.json: file does not exist; did you mean b.json.gz?", false},
		{"no such folder", one("nowhere/a.jsonl"), "nowhere/a.jsonl: file does not exist: there is no folder nowhere", false},
		{"a link to nothing", one("broken.jsonl"), "broken.jsonl: a link to away.jsonl, which is not there", false},
		{"an annexed file", one("annex.jsonl"), "annex.jsonl: a git-annex link, the data is not here: fetch it with: git annex get annex.jsonl", false},
		{"only its DVC file", one("dvc-data.jsonl"), "dvc-data.jsonl: not here, only dvc-data.jsonl.dvc is: fetch it with: dvc pull dvc-data.jsonl.dvc", false},
		{"no match", one("deep/*.jsonl"), `pattern "deep/*.jsonl": no file matches`, false},
		{"no match, but others", one("*.ndjson"), `pattern "*.ndjson": no file matches (this folder has`, false},
		{"no match, no folder", one("no/*/x"), `pattern "no/*/x": no file matches: there is no folder no/`, false},
		{"only folders", one("de*"), `pattern "de*": no file matches, only folders: write de*/** for the files in them`, false},
		{"only others", one("xls/*"), `pattern "xls/*": none of the 2 files that match can be read (the first is xls/a.xls): what can be is ` + understood, false},
		{"bad pattern", one("a[.jsonl"), `pattern "a[.jsonl": syntax error in pattern`, false},
		{"empty folder", one("xls"), "xls: no file in this folder can be read: what can be is " + understood + " (it has a.xls, b.md)", true},
		{"folder of DVC files", one("dvc"), "dvc: no data in this folder, but train.parquet.dvc: fetch it with: dvc pull", false},
		{"two formats", one("mixed"), "mixed/: split train is there as Parquet and as JSON Lines (train.json, train.parquet): say which by --split train=train.parquet", false},
		{"two splits", one("two"), "two/train_test.jsonl: its name says split train and split test: say which by --split train=train_test.jsonl", false},
		{"twice", Spec{Args: []string{"train.jsonl", "train.jsonl"}}, "train.jsonl: named twice", false},
		{"twice by a link", Spec{Args: []string{"train.jsonl", "same.jsonl"}}, "train.jsonl and same.jsonl are the same file", false},
		{"twice by another name", Spec{Args: []string{"./train.jsonl"}, Val: []string{"two/../train.jsonl"}}, "./train.jsonl and two/../train.jsonl are the same file", false},
		{"twice by a glob", Spec{Args: []string{"train.jsonl", "tr*.jsonl"}}, "train.jsonl: named twice", false},
		{"no such split", Spec{Args: []string{"deep"}, Splits: splitArgs(t, "tran")}, `no split "tran" in what is named (splits: train); did you mean "train"?: its files can be given by --split tran=GLOB`, false},
		{"glob without match", Spec{Args: []string{"deep"}, Splits: splitArgs(t, "test=x/*")}, `split test: pattern "deep/x/*": no file matches: there is no folder deep/x/`, false},
		{"glob of a file", Spec{Args: []string{"train.jsonl"}, Splits: splitArgs(t, "test=x")}, "--split NAME=GLOB is taken from a folder, but train.jsonl is a file", false},
		{"glob of two", Spec{Args: []string{"deep", "two"}, Splits: splitArgs(t, "test=x")}, "--split NAME=GLOB is taken from one folder, but more than one source is named", false},
		{"an empty list", Spec{FilesFrom: "none"}, "the list of files none names none", false},
		{"a list of what is gone", Spec{FilesFrom: "gone"}, "not-here.jsonl: file does not exist", false},
		{"no list", Spec{FilesFrom: "nome"}, "read the list of files: nome: file does not exist; did you mean none?", false},
		{"standard input twice", Spec{FilesFrom: "-", Args: []string{"-"}}, "standard input cannot be both the list of files and a file", false},
		{"an empty name", one(""), "a file's name is empty", false},
		{"Git LFS", one("lfs.parquet"), "lfs.parquet: a Git LFS pointer, not the data: fetch it with: git lfs pull --include=lfs.parquet", true},
		{"Xet", one("xet.jsonl"), "xet.jsonl: a Xet pointer, not the data: fetch it with: git xet materialize xet.jsonl", true},
		{"git-annex", one("annexed.jsonl"), "annexed.jsonl: a git-annex pointer, not the data: fetch it with: git annex get annexed.jsonl", true},
		{"DVC", one("x.parquet.dvc"), "x.parquet.dvc: a DVC file, not the data: fetch it with: dvc pull x.parquet.dvc, then name x.parquet", true},
		{"a sheet", one("data.xls"), "data.xls: unsupported file type .xls (supported: " + understood + ")", true},
		{"no suffix", one("nosuffix"), "nosuffix: no suffix that says its format: what can be read is Parquet", true},
		{"JSON as Parquet", one("text.parquet"), "text.parquet: it is no Parquet file but JSON: name it .jsonl", true},
		{"empty Parquet", one("empty.parquet"), "empty.parquet: it is no Parquet file: it is empty", true},
		{"other Parquet", one("old.parquet"), `old.parquet: it is no Parquet file: it begins with "PK\x03\x04", not with PAR1`, true},
		{"Arrow", one("a.arrow"), "a.arrow: Arrow: arrow/ipc: could not decode footer", true},
		{"no gzip", one("empty.jsonl.gz"), "empty.jsonl.gz: an empty file, no compressed one", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Resolve(t.Context(), tt.spec)
			if err == nil {
				set.Close()
				t.Fatalf("no error, but %s", shown(set, dir))
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error\n%v\nwant\n%s", err, tt.want)
			}
			if errors.Is(err, ErrFormat) != tt.format {
				t.Errorf("%T: format error %v, want %v", err, !tt.format, tt.format)
			}
		})
	}
	if _, err := Resolve(t.Context(), one("no.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

func TestLenient(t *testing.T) {
	dir := write(t, map[string]string{"train.jsonl": "{\"a\":1}\n", "bad.jsonl": "{\n", "sub/train_test.jsonl": "{}\n", "cut.parquet": "PAR1 and no more"})
	set, err := Resolve(t.Context(), Spec{Args: []string{dir}, Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if got, want := shown(set, dir), "train: sub/train_test.jsonl train.jsonl"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(set.Errors) != 2 {
		t.Fatalf("errors: %v", set.Errors)
	}
	for _, err := range set.Errors {
		if !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), dir) {
			t.Errorf("%T: %v", err, err)
		}
	}
}

func TestFirstRowsOfASplit(t *testing.T) {
	dir := write(t, map[string]string{"train-0.jsonl": "{}\n{}\n", "train-1.jsonl": "{}\n{}\n{}\n", "test.jsonl": "{}\n", "train-2.jsonl": "{}\n"})
	set, err := Resolve(t.Context(), Spec{Args: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	var got []string
	for _, f := range set.Files() {
		got = append(got, fmt.Sprintf("%s %d+%d", filepath.Base(f.Name), f.SplitRow, f.Rows))
	}
	if want := []string{"train-0.jsonl 0+2", "train-1.jsonl 2+3", "train-2.jsonl 5+1", "test.jsonl 0+1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s, ok := set.Split("train"); !ok || s.Rows() != 6 {
		t.Errorf("train has %d rows", s.Rows())
	}
}

func TestLinkedFolders(t *testing.T) {
	dir := tree(t, "real/train.jsonl")
	for link, to := range map[string]string{"real/loop": ".", "hub": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("skipped: no links here: %v", err)
		}
	}
	set, err := Resolve(t.Context(), Spec{Args: []string{filepath.Join(dir, "hub")}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if got := shown(set, dir); got != "train: hub/train.jsonl" {
		t.Errorf("got %s", got)
	}
}

func TestMatchGlob(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"*.jsonl", "a.jsonl", true}, {"*.jsonl", "d/a.jsonl", false}, {"**/*.jsonl", "a.jsonl", true}, {"**/*.jsonl", "d/e/a.jsonl", true},
		{"main/train-*.parquet", "main/train-00000-of-00001.parquet", true}, {"main/train-*.parquet", "x/main/train-0.parquet", false},
		{"**", "a/b", true}, {"a/**", "a", false}, {"a/**", "a/b/c", true}, {"a/**/c", "a/c", true}, {"a/**/c", "a/b/b/c", true}, {"a/?", "a/bc", false}, {"[ab]", "b", true},
	}
	for _, tt := range tests {
		if got, err := matchGlob(tt.pattern, tt.name); got != tt.want || err != nil {
			t.Errorf("%q matches %q: %v, %v", tt.pattern, tt.name, got, err)
		}
	}
}

func TestParseSplit(t *testing.T) {
	for in, want := range map[string][]SplitArg{
		"train": {{Name: "train"}}, "train, test": {{Name: "train"}, {Name: "test"}}, "dev=data/d*.parquet": {{"dev", "data/d*.parquet"}}, "a=b=c": {{"a", "b=c"}},
	} {
		if got, err := ParseSplit(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "train,", "a b", "=x", "train=", "../x"} {
		if got, err := ParseSplit(in); err == nil {
			t.Errorf("%q: %v, no error", in, got)
		}
	}
}
