package input_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline/pipelinetest"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform/transformtest"
)

const text = `{"a": 1, "b": null}
{"a": 2, "b": "x"}
{"a": 3, "b": null}
{"a": 4, "b": null}
{"a": 5, "b": null}
`

// put writes the rows of text into dir, as JSON Lines and as Parquet with row groups of three rows.
func put(t *testing.T, dir string) {
	t.Helper()
	table, err := transformtest.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pipelinetest.Encode(table, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"train.parquet": b, "test.jsonl": []byte(text)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, spec source.Spec) *source.Set {
	t.Helper()
	set, err := source.Resolve(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set
}

// TestFacts: a Parquet file answers from its footer and its pages, a file of lines does not, and both give their rows.
func TestFacts(t *testing.T) {
	dir := t.TempDir()
	put(t, dir)
	set := open(t, source.Spec{Args: []string{dir}})
	src := input.ByName(set)
	if names := input.Names(set); len(names) != 2 || len(src.Files()) != 2 || filepath.Base(src.Files()[0].Name) != "test.jsonl" {
		t.Fatalf("files %q", names)
	}
	for file, c := range []struct{ ranges, nulls0, nulls1, bytes int64 }{{1, -1, -1, 0}, {2, 2, 2, 1}} {
		ranges, err := src.Ranges(file)
		if err != nil || int64(len(ranges)) != c.ranges {
			t.Fatalf("%v: %d ranges", err, len(ranges))
		}
		parquet := file == 1
		for i, r := range ranges {
			want := []int64{c.nulls0, c.nulls1}[i]
			chunk, ok, err := src.Chunk(r, 1)
			nulls, nerr := src.Nulls(r, 1)
			counted, bytes := src.Counts(r, 1)
			if err != nil || nerr != nil || ok != parquet || nulls != want || counted != want || ok && chunk.Nulls != want || (bytes > 0) != (c.bytes > 0) {
				t.Errorf("range %d of file %d: %+v %v %v, nulls %d %v, counted %d in %d bytes", i, file, chunk, ok, err, nulls, nerr, counted, bytes)
			}
			if raw := src.Raw(r, 0); (raw != nil) != parquet {
				t.Errorf("raw chunk of file %d: %v", file, raw)
			}
		}
		rows := int64(0)
		for _, r := range ranges {
			reader, err := src.Open(t.Context(), r, []int{0, 1})
			if err != nil {
				t.Fatal(err)
			}
			for {
				b, err := reader.Next(t.Context(), 2)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				rows += int64(b.Rows)
			}
			reader.Close()
		}
		if rows != 5 || src.Unchanged(file) != nil {
			t.Errorf("file %d: %d rows, %v", file, rows, src.Unchanged(file))
		}
	}
}

// TestCut cuts a range in two: of nulls in a part just what follows from the whole is known.
func TestCut(t *testing.T) {
	dir := t.TempDir()
	put(t, dir)
	src := input.New(open(t, source.Spec{Args: []string{filepath.Join(dir, "train.parquet")}}))
	ranges, err := src.Ranges(0)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]int64{{-1, -1}, {1, 1}} { // the second row group has nulls alone
		a, b, err := src.Cut(ranges[i], 1)
		if err != nil || a.Rows != 1 || a.Rows+b.Rows != ranges[i].Rows || b.FileRow != a.FileRow+1 || a.Whole || b.Whole {
			t.Fatalf("%v: %+v and %+v", err, a, b)
		}
		x, err := src.Nulls(a, 1)
		y, yerr := src.Nulls(b, 1)
		if err != nil || yerr != nil || [2]int64{x, y} != want {
			t.Errorf("row group %d: nulls %d and %d, want %v", i, x, y, want)
		}
		if src.Raw(a, 0) != nil {
			t.Error("a part has a whole chunk")
		}
	}
}

// TestDerive: each split of the output that comes from one of the input has its files, under a number of their own.
func TestDerive(t *testing.T) {
	dir := t.TempDir()
	put(t, dir)
	set := open(t, source.Spec{Args: []string{filepath.Join(dir, "train.parquet")}})
	src := input.Derive(set, func(from string) []string { return []string{from, "validation"} })
	if len(src.Splits) != 2 || !slices.Equal(src.Splits[0].Files, []int{0}) || !slices.Equal(src.Splits[1].Files, []int{1}) {
		t.Fatalf("%+v", src.Splits)
	}
	if a, b := src.Files()[0], src.Files()[1]; a.Val || !b.Val || b.Split != "validation" || src.Source(0) != src.Source(1) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// TestHasColumns: a declared column that the first line has not is an error at once.
func TestHasColumns(t *testing.T) {
	dir := t.TempDir()
	put(t, dir)
	for name, want := range map[string]bool{"b": true, "c": false} {
		set := open(t, source.Spec{Args: []string{filepath.Join(dir, "test.jsonl")}, Fields: func(string) []schema.Field {
			return []schema.Field{schema.NewField("a", schema.Int64Type), schema.NewField(name, schema.StringType)}
		}})
		if err := input.HasColumns(set); (err == nil) != want || err != nil && !errors.As(err, new(*misuse.Error)) {
			t.Errorf("column %s: %v", name, err)
		}
	}
}

// TestList: what is no address, and a client that cannot be had, end the listing.
func TestList(t *testing.T) {
	none := errors.New("no client")
	open := func() (*hub.Client, error) { return nil, none }
	if _, _, _, err := input.List(t.Context(), "hf://nothing", open, nil); err == nil || errors.Is(err, none) {
		t.Errorf("no address: %v", err)
	}
	if _, _, _, err := input.List(t.Context(), "hf://datasets/openai/gsm8k/main", open, nil); !errors.Is(err, none) {
		t.Errorf("no client: %v", err)
	}
}
