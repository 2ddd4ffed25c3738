package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/pipeline/pipelinetest"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// dropSeen is a Barrier that leaves out the rows whose text at path was seen before.
type dropSeen struct{ path schema.Path }

func (dropSeen) Plan(*schema.Schema) (*transform.Plan, error) { return &transform.Plan{}, nil }

func (d dropSeen) Keys(in *schema.Schema) (*transform.Keys, error) {
	if _, ok := in.Lookup(d.path); !ok {
		return nil, transform.NoColumn(d.path, in)
	}
	return &transform.Keys{
		Reads: []schema.Path{d.path},
		Bind: func() func(schema.Row) (transform.Key, uint64) {
			return func(row schema.Row) (transform.Key, uint64) { return transform.Key(rule.NewKey(row.At(0).Text())), 0 }
		},
		Select: func(_ transform.Key, rows iter.Seq[transform.KeyRow], drop func(int64)) {
			first := true
			for r := range rows {
				if !first {
					drop(r.Number)
				}
				first = false
			}
		},
		Reason: "seen-before",
	}, nil
}

// odd leaves out the rows of odd numbers.
type odd struct{}

func (odd) Plan(*schema.Schema) (*transform.Plan, error) {
	return &transform.Plan{Bind: func() transform.Func {
		return func(row schema.Row, out *transform.Emitter) error {
			if row.Number()%2 == 0 {
				out.Emit()
			} else {
				out.Drop("odd")
			}
			return nil
		}
	}}, nil
}

// lines are rows {"q": texts[i], "n": i}, cut into files.
func lines(texts []string, files int) (out []string) {
	for f := range files {
		var b strings.Builder
		for i := len(texts) * f / files; i < len(texts)*(f+1)/files; i++ {
			fmt.Fprintf(&b, `{"q":%q,"n":%d}`+"\n", texts[i], i)
		}
		out = append(out, b.String())
	}
	return out
}

var fields = []schema.Field{schema.NewField("q", schema.StringType), schema.NewField("n", schema.Int64Type)}

func input(t *rapid.T, texts []string, files, group int, asLines int64) *pipelinetest.Input {
	in := &pipelinetest.Input{Lines: asLines}
	for _, text := range lines(texts, files) {
		if text == "" {
			continue
		}
		if err := in.Add("train", text, fields, group); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

func run(t *rapid.T, j *pipeline.Job) *pipeline.Report {
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	rep, err := plan.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// A barrier leaves out what it says, whatever is around it; the bytes do not depend on workers, ranges or files, and shards have the sizes
// that were asked for, of the rows that pass.
func TestBarrierSelects(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}), 1, 60).Draw(t, "texts")
		if rapid.Bool().Draw(t, "nearly all distinct") {
			for i := range texts {
				texts[i] += fmt.Sprint(i / 2 * 2)
			}
		}
		var steps []transform.RowStep
		filtered := rapid.Bool().Draw(t, "filtered before")
		if filtered {
			steps = append(steps, odd{})
		}
		steps = append(steps, dropSeen{"q"}, transform.Index{})
		var want []string
		seen := map[string]bool{}
		for i, q := range texts {
			if filtered && i%2 == 1 || seen[q] {
				continue
			}
			seen[q] = true
			want = append(want, fmt.Sprintf(`{"q":%q,"n":%d,"extra_info":{"index":%d}}`+"\n", q, i, i))
		}
		shards := rapid.IntRange(1, min(4, len(want))).Draw(t, "shards")
		var first map[int][]byte
		for _, workers := range []int{1, 2, 8} {
			in := input(t, texts, rapid.IntRange(1, 5).Draw(t, "files"), 1<<10, rapid.Int64Range(1, 70).Draw(t, "range"))
			sink := &pipelinetest.Sink{Dir: dir}
			j := in.Job()
			j.Workers, j.Output, j.Steps = workers, sink.Output(shards), func(string) []transform.RowStep { return steps }
			rep := run(t, j)
			got, err := sink.Rows()
			if err != nil || got != strings.Join(want, "") {
				t.Fatalf("got %v\n%s\nwant\n%s", err, got, strings.Join(want, ""))
			}
			if rep.RowsIn != int64(len(texts)) || rep.RowsOut != int64(len(want)) || rep.Dropped["seen-before"]+rep.Dropped["odd"] != int64(len(texts)-len(want)) {
				t.Fatalf("%d rows in, %d out, dropped %v", rep.RowsIn, rep.RowsOut, rep.Dropped)
			}
			for _, rec := range rep.Records {
				if n := int64(len(want)); rec.RowsOut != n/int64(shards) && rec.RowsOut != n/int64(shards)+1 {
					t.Fatalf("a shard of %d rows of %d in %d", rec.RowsOut, n, shards)
				}
			}
			if first == nil {
				first = sink.Shards()
			}
			if !maps.EqualFunc(first, sink.Shards(), bytes.Equal) {
				t.Fatal("the bytes depend on workers, ranges or files")
			}
		}
	})
}

// A row group that loses no row is copied undecoded, but for the keys.
func TestBarrierCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := make([]string, 100)
		for i := range texts {
			texts[i] = fmt.Sprint(i)
		}
		texts[77] = "3"
		in := input(t, texts, 1, 10, 0)
		sink := &pipelinetest.Sink{}
		j := in.Job()
		j.PreserveLayout, j.Output = true, sink.Output(1)
		j.Steps = func(string) []transform.RowStep { return []transform.RowStep{dropSeen{"q"}} }
		rep := run(t, j)
		if rec := rep.Records[0]; rec.Copied != 18 || rec.Encoded != 2 || rec.RowGroups != 10 {
			t.Fatalf("%d chunks copied, %d encoded, in %d row groups", rec.Copied, rec.Encoded, rec.RowGroups)
		}
		if n := in.Decoded.Load(); n != 100+2*10 {
			t.Fatalf("%d values decoded, expected the keys and one row group", n)
		}
	})
}

// Two barriers, each of which sees the rows that the steps before it leave; the second run resumes what the first did before it was
// killed.
func TestBarriersResume(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		for i := range 50 {
			texts = append(texts, fmt.Sprint(i*7%20))
		}
		steps := func(string) []transform.RowStep {
			return []transform.RowStep{dropSeen{"q"}, odd{}, transform.Set{Path: "k", Value: schema.TextValue("x"), Type: schema.StringType}, transform.Format{Path: "two", Template: "{{n}}"}, dropSeen{"two"}}
		}
		whole := &pipelinetest.Sink{Dir: dir}
		j := input(t, texts, 3, 8, 0).Job()
		j.Steps, j.Output = steps, whole.Output(4)
		run(t, j)

		killed := &pipelinetest.Sink{Dir: dir, Kill: func(task int) error {
			if task == 2 {
				return errors.New("killed")
			}
			return nil
		}}
		j.Output = killed.Output(4)
		plan, err := pipeline.NewPlan(j)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Run(context.Background()); err == nil {
			t.Fatal("the run was not killed")
		}
		plan.Close()
		killed.Kill = nil
		if rep := run(t, j); rep.Resumed != 2 {
			t.Fatalf("%d tasks resumed, expected 2", rep.Resumed)
		}
		if !maps.EqualFunc(whole.Shards(), killed.Shards(), bytes.Equal) {
			t.Fatal("a resumed run has other bytes")
		}
	})
}

// The columns of a barrier are resolved before any row, and named as those of other steps are.
func TestBarrierErrors(t *testing.T) {
	in := &pipelinetest.Input{}
	if err := in.Add("train", lines([]string{"a", "b"}, 1)[0], fields, 10); err != nil {
		t.Fatal(err)
	}
	j := in.Job()
	j.Steps = func(string) []transform.RowStep {
		return []transform.RowStep{transform.Located{RowStep: dropSeen{"qq"}, Where: "p.yaml:3:5", Verb: "dedup"}}
	}
	_, err := pipeline.NewPlan(j)
	var usage *misuse.Error
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), `p.yaml:3:5: step dedup: train-0.parquet: no column "qq"`) {
		t.Errorf("got %v", err)
	}
	j.Steps = func(string) []transform.RowStep { return []transform.RowStep{twice{}, dropSeen{"q"}} }
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	if _, err := plan.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "repeats the row") {
		t.Errorf("got %v", err)
	}
}

// twice puts every row out two times.
type twice struct{}

func (twice) Plan(*schema.Schema) (*transform.Plan, error) {
	return &transform.Plan{Bind: func() transform.Func {
		return func(_ schema.Row, out *transform.Emitter) error {
			out.Emit()
			out.Emit()
			return nil
		}
	}}, nil
}

// A derived column can be read by the steps after it, and is not written.
func TestDerivedColumn(t *testing.T) {
	in := &pipelinetest.Input{}
	if err := in.Add("train", lines([]string{"a", "bbb"}, 1)[0], fields, 10); err != nil {
		t.Fatal(err)
	}
	bound := 0
	length := transform.DerivedColumn{Name: "@len", Reads: []schema.Path{"q"}, Type: schema.Int64Type, Bind: func() func(schema.Row) schema.Value {
		bound++
		return func(row schema.Row) schema.Value { return schema.IntValue(int64(len(row.At(0).Text()))) }
	}}
	sink := &pipelinetest.Sink{}
	j := in.Job()
	j.Workers, j.Output = 1, sink.Output(1)
	j.Steps = func(string) []transform.RowStep {
		return []transform.RowStep{length, transform.Format{Path: "l", Template: "{{@len}}"}, transform.Copy{From: "@len", To: "m"}}
	}
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	got, err := sink.Rows()
	want := `{"q":"a","n":0,"l":"1","m":1}` + "\n" + `{"q":"bbb","n":1,"l":"3","m":3}` + "\n"
	if err != nil || got != want || bound != 1 {
		t.Errorf("got %v, bound %d times\n%s", err, bound, got)
	}
	if n := len(plan.Stages["train"]); n != 2 || !slices.Equal(plan.Schemas["train"].Names(), []string{"q", "n", "l", "m"}) {
		t.Errorf("%d stages, %v", n, plan.Schemas["train"].Names())
	}
}

// Limiters say how many rows are read, the smallest of them counts; behind a barrier there is none.
func TestLimit(t *testing.T) {
	in := &pipelinetest.Input{}
	if err := in.Add("train", lines(strings.Split(strings.Repeat("a ", 40), " "), 1)[0], fields, 10); err != nil {
		t.Fatal(err)
	}
	sink := &pipelinetest.Sink{}
	j := in.Job()
	j.Output, j.PreserveLayout = sink.Output(1), true
	j.Steps = func(string) []transform.RowStep {
		return []transform.RowStep{transform.Limit{Rows: 30}, transform.Limit{Rows: 20}}
	}
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := plan.RunTask(context.Background(), 0)
	if err != nil || rec.RowsIn != 20 || rec.RowsOut != 20 || rec.Copied != 4 || in.Decoded.Load() != 0 {
		t.Errorf("%v: %+v, %d decoded", err, rec, in.Decoded.Load())
	}
	j.Steps = func(string) []transform.RowStep { return []transform.RowStep{dropSeen{"q"}, transform.Limit{Rows: 20}} }
	if _, err := pipeline.NewPlan(j); err == nil || !strings.Contains(err.Error(), "counts the rows that are read") {
		t.Errorf("got %v", err)
	}
}
