package build_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/internal/starmap"
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/verl" // the default target
	"github.com/rlprep/rlprep/transform"
)

// rows is how many rows the tests' data set has; shardRows, how many of them a shard.
const rows, shardRows = 120, 15

// pipelineText makes valid rows of the tests' data.
const pipelineText = `sources: {train: train.jsonl}
steps:
  - set: {path: data_source, value: openai/gsm8k}
  - prompt: {user: "{{question}}"}
  - set: {path: reward_model.style, value: rule}
  - format: {path: reward_model.ground_truth, template: "{{answer}}"}
  - index
  - drop: [question, answer]
contract: {rows: rl}
`

// writeData writes the tests' data into dir; bad rows have no answer.
func writeData(dir string, bad ...int) error {
	var b bytes.Buffer
	for i := range rows {
		answer := fmt.Sprintf(`"%d"`, i*7)
		for _, n := range bad {
			if n == i {
				answer = "null"
			}
		}
		fmt.Fprintf(&b, `{"question": "What is %d times 7? %s", "answer": %s}`+"\n", i, strings.Repeat("Think. ", i%5), answer)
	}
	return os.WriteFile(filepath.Join(dir, "train.jsonl"), b.Bytes(), 0o666)
}

// options are those of a job over the data in dir; the caller closes o.Source.
func options(ctx context.Context, dir, out string) (o build.Options, err error) {
	f, err := pipefile.Parse("pipeline.yaml", []byte(pipelineText), nil)
	if err != nil {
		return o, err
	}
	var spec source.Spec
	if err := build.FileSources(f, func(name string) string { return filepath.Join(dir, name) }, &spec); err != nil {
		return o, err
	}
	o = build.Options{Name: "test", Out: out, Size: pipeline.Size{Rows: shardRows}, Target: rule.DefaultTarget(), Kind: f.Rows, Version: "0", Workers: 2}
	if o.Source, err = source.Resolve(ctx, spec); err != nil {
		return o, err
	}
	return o, o.TakeSteps(f)
}

func testOptions(t *testing.T, dir, out string) build.Options {
	t.Helper()
	o, err := options(t.Context(), dir, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Source.Close() })
	return o
}

func data(t *testing.T, bad ...int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := writeData(dir, bad...); err != nil {
		t.Fatal(err)
	}
	return dir
}

// files returns the content of every file of a folder, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %d bytes differ from the %d of a plain run", name, len(got[name]), len(want[name]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: a plain run has no such file", name)
		}
	}
}

// TestRun makes a data set, finds it up to date, and tells progress on the way.
func TestRun(t *testing.T) {
	dir := data(t)
	out := filepath.Join(dir, "out")
	o := testOptions(t, dir, out)
	var total, seen int64
	done := 0
	o.Watch = func(n int64) (func(int64, string), func()) {
		total = n
		return func(n int64, shard string) { seen += n }, func() { done++ }
	}
	res, err := build.Run(t.Context(), o)
	if err != nil || res.Status != build.Written {
		t.Fatalf("%v, status %d", err, res.Status)
	}
	if total != rows || seen != rows || done != 1 {
		t.Errorf("watched %d of %d rows, %d times to the end", seen, total, done)
	}
	if len(res.Manifest.Shards) != rows/shardRows || res.Report.RowsOut != rows || res.Report.Resumed != 0 {
		t.Errorf("%d shards, %d rows, %d resumed", len(res.Manifest.Shards), res.Report.RowsOut, res.Report.Resumed)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".out*")); left != nil {
		t.Errorf("left beside it: %q", left)
	}
	var text bytes.Buffer
	sum := res.Summary(out, o.Source, time.Second, 1000)
	sum.Print(&text)
	if sum.RowsOut != rows || sum.Encoded == 0 || sum.Bytes == 0 || !strings.Contains(text.String(), "120 rows in, 120 out") || !strings.Contains(text.String(), sum.Manifest.DatasetSHA256) {
		t.Errorf("%+v\n%s", sum, text.String())
	}
	o.Watch = nil
	if res, err = build.Run(t.Context(), o); err != nil || res.Status != build.UpToDate || res.Manifest == nil {
		t.Errorf("a second run: %v, status %d", err, res.Status)
	}
	o.Limit = 10
	if _, err = build.Run(t.Context(), o); !errors.As(err, new(*misuse.Error)) || !strings.Contains(err.Error(), "--force") {
		t.Errorf("another plan for the same splits: %v", err)
	}
	o.Force = true
	if res, err = build.Run(t.Context(), o); err != nil || res.Status != build.Written || res.Manifest.Splits[0].Rows != 10 {
		t.Errorf("with Force: %v, status %d", err, res.Status)
	}
}

// TestPreview shows the tasks, the columns and the first rows, and what cannot be taken; nothing is written.
func TestPreview(t *testing.T) {
	dir := data(t, 1)
	b, err := build.New(t.Context(), testOptions(t, dir, filepath.Join(dir, "out")))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := b.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := build.Preview(t.Context(), &text, plan, 2, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"train-00007-of-00008.parquet: 15 rows from row 105", "split train\n", "computed: prompt[].role, prompt[].content", "constant: ", "row numbers: extra_info.index", "before: {", "after:  {", "rejected: "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*out*")); left != nil {
		t.Errorf("left: %q", left)
	}
}

// TestCancel ends a run in the middle; the next takes up what it did, with the same bytes.
func TestCancel(t *testing.T) {
	dir := data(t)
	if _, err := build.Run(t.Context(), testOptions(t, dir, filepath.Join(dir, "plain"))); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	o := testOptions(t, dir, out)
	ctx, cancel := context.WithCancel(t.Context())
	var seen int64
	o.Watch = func(int64) (func(int64, string), func()) {
		return func(n int64, _ string) {
			if seen += n; seen > rows/2 {
				cancel()
			}
		}, func() {}
	}
	res, err := build.Run(ctx, o)
	if !errors.Is(err, context.Canceled) || res.Status != build.Unfinished {
		t.Fatalf("%v, status %d", err, res.Status)
	}
	if _, err := os.Stat(out); err == nil {
		t.Fatal("a run that was cancelled made its directory")
	}
	o.Watch = nil
	res, err = build.Run(t.Context(), o)
	if err != nil || res.Report.Resumed < 2 || res.Report.Resumed == rows/shardRows {
		t.Fatalf("%v: %d tasks resumed", err, res.Report.Resumed)
	}
	same(t, files(t, out), files(t, filepath.Join(dir, "plain")))
}

// TestErrors: what is asked for wrongly is a *misuse.Error, what the data does not allow is its own.
func TestErrors(t *testing.T) {
	dir := data(t, 3, 77)
	for name, c := range map[string]struct {
		set  func(o *build.Options)
		as   any
		text string
	}{
		"limit":       {func(o *build.Options) { o.Limit = -1 }, new(*misuse.Error), "--limit -1"},
		"compression": {func(o *build.Options) { o.Compression = "brotli" }, new(*misuse.Error), "unknown compression"},
		"rejects":     {func(o *build.Options) { o.MaxRejects = "200%" }, new(*misuse.Error), "--max-rejects"},
		"rejected":    {func(o *build.Options) {}, new(*pipeline.RejectError), "train.jsonl:4: answer"},
		"one too few": {func(o *build.Options) { o.MaxRejects = "1" }, new(*pipeline.RejectError), "2 rows"},
		"no data set": {func(o *build.Options) { o.Out = dir }, new(*misuse.Error), "is not a data set of rlprep"},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(t, dir, filepath.Join(t.TempDir(), "out"))
			c.set(&o)
			res, err := build.Run(t.Context(), o)
			if !errors.As(err, c.as) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%T: %v", err, err)
			}
			if res == nil || res.Status != build.Unfinished {
				t.Errorf("result %+v", res)
			}
		})
	}
}

// TestRejects leaves rows out that are tolerated, and keeps them in a file.
func TestRejects(t *testing.T) {
	dir := data(t, 3, 77)
	o := testOptions(t, dir, filepath.Join(dir, "out"))
	o.MaxRejects, o.Rejects, o.Compression = "2%", filepath.Join(dir, "rejects.jsonl"), "snappy"
	res, err := build.Run(t.Context(), o)
	if err != nil || res.Report.RowsOut != rows-2 {
		t.Fatalf("%v: %d rows", err, res.Report.RowsOut)
	}
	b, err := os.ReadFile(o.Rejects)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for line := range bytes.Lines(b) {
		var x struct{ Row int }
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		got = append(got, x.Row)
	}
	if fmt.Sprint(got) != "[3 77]" {
		t.Errorf("rejected rows %v", got)
	}
}

// TestRefused: rows that would not train are judged and not written.
func TestRefused(t *testing.T) {
	dir := data(t)
	o := testOptions(t, dir, filepath.Join(dir, "out"))
	o.Steps = func(string) []transform.RowStep { return nil }
	o.Kind = rule.RL
	res, err := build.Run(t.Context(), o)
	if err != nil || res.Status != build.Refused || len(res.Report.Entries) == 0 {
		t.Fatalf("%v, status %d", err, res.Status)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*out*")); left != nil {
		t.Errorf("left: %q", left)
	}
}

// TestLearn finds out the columns of a map function, and the place of what is wrong in one.
func TestLearn(t *testing.T) {
	dir := data(t)
	run := func(script string) (*build.Result, error) {
		prog, err := pystar.Load("fn.star", script)
		if err != nil {
			t.Fatal(err)
		}
		m, err := starmap.NewMap(prog, "train", nil)
		if err != nil {
			t.Fatal(err)
		}
		o := testOptions(t, dir, filepath.Join(t.TempDir(), "out"))
		o.Steps = func(string) []transform.RowStep { return []transform.RowStep{m} }
		o.Kind, o.Expects = rule.Any, []string{}
		if !o.Maps() {
			t.Error("Maps says no")
		}
		return build.Run(t.Context(), o)
	}
	res, err := run("def process_fn(example, idx):\n    return {'twice': 2 * idx}\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, i := res.Plan.Schemas["train"].Column("twice"); i < 0 {
		t.Errorf("columns %v", res.Plan.Schemas["train"].Names())
	}
	if _, err = run("def process_fn(example, idx):\n    return {'x': example['none']}\n"); !errors.As(err, new(*pipeline.RejectError)) || !strings.Contains(err.Error(), "fn.star:2") {
		t.Errorf("%T: %v", err, err)
	}
}

// TestBusy: a run finds another at work on the same directory.
func TestBusy(t *testing.T) {
	dir := data(t)
	o := testOptions(t, dir, filepath.Join(dir, "out"))
	var busy error
	o.Watch = func(int64) (func(int64, string), func()) {
		second := testOptions(t, dir, o.Out)
		_, busy = build.Run(t.Context(), second)
		return func(int64, string) {}, func() {}
	}
	if _, err := build.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if !errors.As(busy, new(*shard.LockedError)) {
		t.Errorf("the second run: %v", busy)
	}
}
