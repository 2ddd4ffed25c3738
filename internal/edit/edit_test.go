package edit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/pipeline/pipelinetest"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// put writes rows, JSON Lines, as a Parquet file with row groups of two rows.
func put(t *testing.T, name, rows string) string {
	t.Helper()
	table, err := transformtest.Parse(rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pipelinetest.Encode(table, 2)
	if err == nil {
		err = os.WriteFile(name, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// rows returns the rows of a Parquet file, without blanks.
func rows(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := pipelinetest.Rows(b)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(" ", "", "\n", "").Replace(text)
}

func open(t *testing.T, names ...string) *source.Set {
	t.Helper()
	set, err := source.Resolve(t.Context(), source.Spec{Args: names})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set
}

func assign(t *testing.T, texts ...string) (out []edit.Assign) {
	t.Helper()
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		v, err := edit.ParseAssign(text, schema.Path(name), value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

const three = `{"a": 1, "s": {"x": "p", "y": 5}, "n": null}
{"a": 2, "s": {"x": "q", "y": 6}, "n": "full"}
{"a": 3, "s": {"x": "r", "y": 7}, "n": null}`

// TestEdits carries out each edit into a directory and in place, and finds nothing to do the second time.
func TestEdits(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func() edit.Edit
		want  string
		twice bool // in place a second time leaves the file alone; else it is an error
	}{
		"constant": {func() edit.Edit { return &edit.Add{Values: assign(t, "b=tool_agent"), After: "a"} },
			`{"a":1,"b":"tool_agent","s":{"x":"p","y":5},"n":null}{"a":2,"b":"tool_agent","s":{"x":"q","y":6},"n":"full"}{"a":3,"b":"tool_agent","s":{"x":"r","y":7},"n":null}`, true},
		"row":     {func() edit.Edit { return &edit.Add{Values: assign(t, "s.i=@row"), IndexStart: 7} }, `{"a":1,"s":{"x":"p","y":5,"i":7},"n":null}{"a":2,"s":{"x":"q","y":6,"i":8},"n":"full"}{"a":3,"s":{"x":"r","y":7,"i":9},"n":null}`, true},
		"file":    {func() edit.Edit { return &edit.Add{Values: assign(t, "f=@file", "c=@copy:s.x")} }, `{"a":1,"s":{"x":"p","y":5},"n":null,"f":"in.parquet","c":"p"}{"a":2,"s":{"x":"q","y":6},"n":"full","f":"in.parquet","c":"q"}{"a":3,"s":{"x":"r","y":7},"n":null,"f":"in.parquet","c":"r"}`, true},
		"fill":    {func() edit.Edit { return &edit.Add{Values: assign(t, "n=none"), Fill: true} }, `{"a":1,"s":{"x":"p","y":5},"n":"none"}{"a":2,"s":{"x":"q","y":6},"n":"full"}{"a":3,"s":{"x":"r","y":7},"n":"none"}`, true},
		"replace": {func() edit.Edit { return &edit.Add{Values: assign(t, "a=bool:true"), Replace: true} }, `{"a":true,"s":{"x":"p","y":5},"n":null}{"a":true,"s":{"x":"q","y":6},"n":"full"}{"a":true,"s":{"x":"r","y":7},"n":null}`, true},
		"drop":    {func() edit.Edit { return &edit.Drop{Paths: []schema.Path{"s.y", "n"}} }, `{"a":1,"s":{"x":"p"}}{"a":2,"s":{"x":"q"}}{"a":3,"s":{"x":"r"}}`, false},
		"rename":  {func() edit.Edit { return &edit.Rename{From: []schema.Path{"a", "s.x"}, To: []schema.Path{"b", "s.z"}} }, `{"b":1,"s":{"z":"p","y":5},"n":null}{"b":2,"s":{"z":"q","y":6},"n":"full"}{"b":3,"s":{"z":"r","y":7},"n":null}`, true},
		"select":  {func() edit.Edit { return &edit.Select{Paths: []schema.Path{"s.y"}} }, `{"s":{"y":5}}{"s":{"y":6}}{"s":{"y":7}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in := put(t, filepath.Join(dir, "in.parquet"), three)
			out := filepath.Join(dir, "new", "out")
			var seen int64
			o := edit.Options{Edit: c.edit(), Source: open(t, in), Out: out, Workers: 1, Watch: func(total int64) (func(int64, string), func()) {
				seen = -total
				return func(n int64, _ string) { seen += n }, func() { seen += 1000 }
			}}
			res, err := edit.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if f := res.Files[0]; !f.Written || f.Rows != 3 || f.RowGroups != 2 || f.Output != filepath.Join(out, "in.parquet") || f.Bytes == 0 {
				t.Errorf("%+v", f)
			}
			var text bytes.Buffer
			sum := res.Summary(o.Edit, false)
			sum.Print(&text, false, false)
			if sum.Written != 1 || sum.Edit == "" || !strings.HasPrefix(text.String(), filepath.Join(out, "in.parquet")+": 3 rows; column chunks: ") {
				t.Errorf("%+v: %s", sum, text.String())
			}
			if seen != 1000 {
				t.Errorf("watched %d rows too many or too few", seen-1000)
			}
			if got := rows(t, filepath.Join(out, "in.parquet")); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			times := []bool{true}
			if c.twice {
				times = []bool{true, false}
			}
			for _, written := range times {
				res, err := edit.Run(t.Context(), edit.Options{Edit: c.edit(), Source: open(t, in), Flag: "test"})
				if err != nil || res.Files[0].Written != written {
					t.Fatalf("in place: %v, %+v", err, res)
				}
				if got := rows(t, in); got != c.want {
					t.Errorf("in place\ngot  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}

// TestRefused: what one file refuses leaves all of them as they were.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	a := put(t, filepath.Join(dir, "a.parquet"), three)
	b := put(t, filepath.Join(dir, "b.parquet"), `{"b": 1}`)
	before := rows(t, a)
	for name, c := range map[string]struct {
		o    edit.Options
		text string
	}{
		"no column":  {edit.Options{Edit: &edit.Select{Paths: []schema.Path{"a"}}}, "b.parquet"},
		"in the way": {edit.Options{Edit: &edit.Add{Values: assign(t, "b=2")}}, "b.parquet"},
		"both names": {edit.Options{Edit: &edit.Rename{From: []schema.Path{"a", "b"}, To: []schema.Path{"b", "a"}}}, "is both a new and an old name"},
		"exists":     {edit.Options{Edit: &edit.Add{Values: assign(t, "z=1")}, Out: dir}, "--force"},
	} {
		c.o.Source, c.o.Flag = open(t, a, b), "test"
		if _, err := edit.Run(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
		if rows(t, a) != before {
			t.Fatalf("%s: the first file was changed", name)
		}
	}
	for _, text := range []string{"a=@row:1", "a=@rwo", "a=@copy:["} {
		name, value, _ := strings.Cut(text, "=")
		if _, err := edit.ParseAssign(text, schema.Path(name), value); err == nil || !strings.HasPrefix(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestCancel: an edit that is cancelled within a file leaves it, and no other file beside it.
func TestCancel(t *testing.T) {
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.parquet"), strings.Repeat(three+"\n", 100))
	before := rows(t, in)
	for _, out := range []string{"", filepath.Join(dir, "out")} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := edit.Run(ctx, edit.Options{Edit: &edit.Add{Values: assign(t, "u=@uuid")}, Source: open(t, in), Out: out, Flag: "test",
			Watch: func(int64) (func(int64, string), func()) { return func(int64, string) { cancel() }, func() {} }})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("to %q: %v", out, err)
		}
		if rows(t, in) != before {
			t.Error("the file was changed")
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("left: %v", left)
		}
	}
}

// TestReshard cuts files anew, and copies the row groups that stay whole.
func TestReshard(t *testing.T) {
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "train.parquet"), strings.Repeat(three+"\n", 4)) // 12 rows in 6 row groups
	for i, c := range []struct {
		size   pipeline.Size
		files  int
		copied int
	}{{pipeline.Size{Shards: 3}, 3, 6 * 4}, {pipeline.Size{Rows: 5}, 3, 5 * 4}, {pipeline.Size{Bytes: 1}, 12, 0}} {
		out := filepath.Join(dir, fmt.Sprint(i))
		done := 0
		res, err := edit.Reshard(t.Context(), edit.ReshardOptions{Source: open(t, in), Out: out, Size: c.size, HF: parquetio.HFAuto,
			Watch: func(int64) (func(int64, string), func()) { return func(int64, string) {}, func() { done++ } }})
		if err != nil {
			t.Fatal(err)
		}
		copied := 0
		var text string
		for _, rec := range res.Report.Records {
			copied += rec.Copied
			text += rows(t, filepath.Join(out, rec.Name))
		}
		var said bytes.Buffer
		sum := res.Summary(out)
		sum.Print(&said)
		if sum.Rows != 12 || len(sum.Files) != c.files || sum.Copied != c.copied || (len(sum.Reencoded) > 0) != (c.copied < 24) || !strings.HasPrefix(said.String(), out+": 12 rows in ") {
			t.Errorf("%+v\n%s", sum, said.String())
		}
		if len(res.Report.Records) != c.files || copied != c.copied || done != 1 || text != rows(t, in) {
			t.Errorf("%+v: %d files, %d chunks copied, done %d times", c.size, len(res.Report.Records), copied, done)
		}
		if _, err := edit.Reshard(t.Context(), edit.ReshardOptions{Source: open(t, in), Out: out, Size: c.size}); !errors.As(err, new(*misuse.Error)) {
			t.Errorf("into a directory that exists: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := edit.Reshard(ctx, edit.ReshardOptions{Source: open(t, in), Out: filepath.Join(dir, "never"), Size: pipeline.Size{Shards: 2}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*never*")); left != nil {
		t.Errorf("left: %q", left)
	}
}

// TestChangedMeanwhile: a file that somebody writes while it is edited is left as it is then.
func TestChangedMeanwhile(t *testing.T) {
	in := put(t, filepath.Join(t.TempDir(), "in.parquet"), three)
	other := put(t, filepath.Join(t.TempDir(), "other.parquet"), `{"z": 1}`)
	_, err := edit.Run(t.Context(), edit.Options{Edit: &edit.Drop{Paths: []schema.Path{"a"}}, Source: open(t, in), Flag: "test",
		Watch: func(int64) (func(int64, string), func()) {
			if err := os.Rename(other, in); err != nil {
				t.Error(err)
			}
			return func(int64, string) {}, func() {}
		}})
	if err == nil {
		t.Error("no error")
	}
	if got := rows(t, in); got != `{"z":1}` {
		t.Errorf("got %s", got)
	}
	if b, _ := os.ReadFile(in); !bytes.HasPrefix(b, []byte("PAR1")) {
		t.Error("no Parquet file")
	}
}

// TestArgs: commas and equals signs in quotes part nothing.
func TestArgs(t *testing.T) {
	if got, err := edit.ParsePaths(`a,"b,c".d`); err != nil || len(got) != 2 || got[0] != "a" {
		t.Errorf("%q, %v", got, err)
	}
	if before, after, ok := edit.CutUnquoted(`"a=b".c=d=e`, '='); before != `"a=b".c` || after != "d=e" || !ok {
		t.Errorf("%q, %q, %t", before, after, ok)
	}
	for _, text := range []string{"a,a", "a,", `"a`} {
		if _, err := edit.ParsePaths(text); !errors.As(err, new(*misuse.Error)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	in := put(t, filepath.Join(t.TempDir(), "in.parquet"), three)
	lines := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(lines, []byte(three), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := edit.Editable(open(t, in), "add"); err != nil {
		t.Error(err)
	}
	if err := edit.Editable(open(t, lines), "add"); !errors.As(err, new(*misuse.Error)) || !strings.Contains(err.Error(), "add takes Parquet files only") {
		t.Errorf("lines: %v", err)
	}
}

// A run that was interrupted has left backups of files that it did not replace. The next run takes them for its own, and no other file.
func TestBackupIsResumed(t *testing.T) {
	dir := t.TempDir()
	a, b := put(t, filepath.Join(dir, "a.parquet"), `{"a":1}`), put(t, filepath.Join(dir, "b.parquet"), `{"a":2}`)
	before := rows(t, a)
	if err := os.Link(a, a+".bak"); err != nil {
		t.Skip("no hard links here: ", err)
	}
	var g overwrite.Guard
	for _, name := range []string{a, b} {
		if err := g.Read("FILES", name, name); err != nil {
			t.Fatal(err)
		}
	}
	o := edit.Options{Edit: &edit.Add{Values: assign(t, "x=1")}, Source: open(t, a, b), Flag: "test", Backup: ".bak", Guard: &g}
	if _, err := edit.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if rows(t, a+".bak") != before || rows(t, a) == before || rows(t, b+".bak") == rows(t, b) {
		t.Errorf("a %s, its backup %s, b %s", rows(t, a), rows(t, a+".bak"), rows(t, b))
	}
	o.Source, o.Edit = open(t, a), &edit.Add{Values: assign(t, "y=1")}
	if _, err := edit.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "a.parquet.bak exists") || rows(t, a+".bak") != before {
		t.Errorf("a backup of another state: %v", err)
	}
}
