package pipeline_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/pipeline/pipelinetest"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// byText is a Barrier that orders rows by the first 16 bytes of a text.
type byText struct{ path schema.Path }

func (byText) Plan(*schema.Schema) (*transform.Plan, error) { return &transform.Plan{}, nil }

func (o byText) Keys(*schema.Schema) (*transform.Keys, error) {
	return &transform.Keys{Reads: []schema.Path{o.path}, Order: true, Bind: func() func(schema.Row) (transform.Key, uint64) {
		return func(row schema.Row) (key transform.Key, _ uint64) {
			copy(key[:], row.At(0).Text())
			return key, 0
		}
	}}, nil
}

// found is a rule that reports every row whose text is "d".
var found = rule.Rule{ID: "RL990", Name: "is-d", Applies: []rule.Severity{{Level: rule.Info}},
	Reads: func(*rule.Pass) []schema.Path { return []schema.Path{"q"} },
	New:   func(p *rule.Pass) rule.Checker { return isD{p} }}

type isD struct{ *rule.Pass }

func (c isD) Row(row schema.Row) {
	if row.At(0).Text() == "d" {
		c.Reportf(row.Pos(), row.At(0), "d")
	}
}

// An order puts rows where their keys say, whatever is around it, in buckets of any size; the bytes do not depend on workers, ranges or
// files; numbers and positions stay those of the input.
func TestBarrierOrders(t *testing.T) {
	dir := t.TempDir()
	defer pipeline.SmallBuckets(64 << 20)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "ff", "g", "h"}), 1, 60).Draw(t, "texts")
		steps := []transform.RowStep{transform.Set{Path: "k", Value: schema.TextValue("c"), Type: schema.StringType}, transform.Index{Path: "before"}}
		filtered, distinct := rapid.Bool().Draw(t, "filtered before"), rapid.Bool().Draw(t, "distinct before")
		if filtered {
			steps = append(steps, odd{})
		}
		if distinct {
			steps = append(steps, dropSeen{"q"})
		}
		steps = append(steps, byText{"q"}, transform.Format{Path: "f", Template: "<{{q}}>"}, transform.Index{})
		type row struct {
			q string
			i int
		}
		var rows []row
		seen := map[string]bool{}
		for i, q := range texts {
			if filtered && i%2 == 1 || distinct && seen[q] {
				continue
			}
			seen[q] = true
			rows = append(rows, row{q, i})
		}
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.q, b.q) })
		var want strings.Builder
		for _, r := range rows {
			fmt.Fprintf(&want, `{"q":%q,"n":%d,"k":"c","before":%d,"f":"<%s>","extra_info":{"index":%d}}`+"\n", r.q, r.i, r.i, r.q, r.i)
		}
		pipeline.SmallBuckets(rapid.SampledFrom([]int64{1, 200, 1 << 20}).Draw(t, "bucket"))
		shards := rapid.IntRange(1, min(3, len(rows))).Draw(t, "shards")
		var first map[int][]byte
		for _, workers := range []int{1, 2, 8} {
			in := input(t, texts, rapid.IntRange(1, 4).Draw(t, "files"), 1<<10, rapid.Int64Range(1, 70).Draw(t, "range"))
			sink := &pipelinetest.Sink{Dir: dir}
			j := in.Job()
			j.Rules.List = []*rule.Rule{&found}
			j.Workers, j.Output, j.Steps = workers, sink.Output(shards), func(string) []transform.RowStep { return steps }
			rep := run(t, j)
			got, err := sink.Rows()
			if err != nil || got != want.String() {
				t.Fatalf("got %v\n%s\nwant\n%s", err, got, want.String())
			}
			if rep.RowsIn != int64(len(texts)) || rep.RowsOut != int64(len(rows)) || rep.Dropped["seen-before"]+rep.Dropped["odd"] != int64(len(texts)-len(rows)) {
				t.Fatalf("%d rows in, %d out, dropped %v", rep.RowsIn, rep.RowsOut, rep.Dropped)
			}
			if first == nil {
				first = sink.Shards()
			}
			if !maps.EqualFunc(first, sink.Shards(), bytes.Equal) {
				t.Fatal("the bytes depend on workers, ranges or files")
			}
			for _, e := range rep.Entries {
				for _, f := range e.Findings {
					if n := int(f.Pos.Line) - 1; f.Pos.Row != int64(n) || len(in.Files()) == 1 && texts[n] != "d" {
						t.Fatalf("a finding at %s", f.Pos)
					}
				}
			}
		}
	})
}

// arranged is a Barrier that takes every second row, from the last to the first or from the first on, of the order of a text or of the rows.
type arranged struct {
	by    bool
	order bool
}

func (arranged) Plan(*schema.Schema) (*transform.Plan, error) { return &transform.Plan{}, nil }

func (a arranged) Keys(in *schema.Schema) (*transform.Keys, error) {
	keys := &transform.Keys{}
	if a.by {
		keys, _ = byText{"q"}.Keys(in)
	}
	keys.Order, keys.Reason = a.order, "arranged"
	keys.Arrange = func(rows int64) ([]uint32, error) { return ranks(rows, a.order), nil }
	return keys, nil
}

func ranks(rows int64, reverse bool) (out []uint32) {
	for i := uint32(0); int64(i) < rows; i += 2 {
		out = append(out, i)
	}
	if reverse {
		slices.Reverse(out)
	}
	return out
}

// A barrier that arranges rows chooses among those that reach it. Where it orders them too they are numbered by their new order.
func TestBarrierArranges(t *testing.T) {
	dir := t.TempDir()
	defer pipeline.SmallBuckets(64 << 20)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "ff", "g", "h"}), 1, 60).Draw(t, "texts")
		var steps []transform.RowStep
		filtered, distinct := rapid.Bool().Draw(t, "filtered before"), rapid.Bool().Draw(t, "distinct before")
		step := arranged{order: rapid.Bool().Draw(t, "order")}
		step.by = step.order && rapid.Bool().Draw(t, "by text")
		if filtered {
			steps = append(steps, odd{})
		}
		if distinct {
			steps = append(steps, dropSeen{"q"})
		}
		steps = append(steps, step, transform.Index{})
		var reach []int
		seen := map[string]bool{}
		for i, q := range texts {
			if !(filtered && i%2 == 1 || distinct && seen[q]) {
				reach = append(reach, i)
				seen[q] = true
			}
		}
		if step.by {
			slices.SortStableFunc(reach, func(a, b int) int { return cmp.Compare(texts[a], texts[b]) })
		}
		var want strings.Builder
		chosen := ranks(int64(len(reach)), step.order)
		for at, rank := range chosen {
			number := reach[rank]
			if step.order {
				number = at
			}
			fmt.Fprintf(&want, `{"q":%q,"n":%d,"extra_info":{"index":%d}}`+"\n", texts[reach[rank]], reach[rank], number)
		}
		pipeline.SmallBuckets(rapid.SampledFrom([]int64{1, 200, 1 << 20}).Draw(t, "bucket"))
		for _, workers := range []int{1, 4} {
			in := input(t, texts, rapid.IntRange(1, 4).Draw(t, "files"), 1<<10, rapid.Int64Range(1, 70).Draw(t, "range"))
			sink := &pipelinetest.Sink{Dir: dir}
			j := in.Job()
			j.Workers, j.Output, j.Steps = workers, sink.Output(1), func(string) []transform.RowStep { return steps }
			rep := run(t, j)
			if got, err := sink.Rows(); err != nil || got != want.String() {
				t.Fatalf("got %v\n%s\nwant\n%s", err, got, want.String())
			}
			if rep.RowsIn != int64(len(texts)) || rep.RowsOut != int64(len(chosen)) || rep.Dropped["arranged"] != int64(len(reach)-len(chosen)) ||
				rep.Dropped["seen-before"]+rep.Dropped["odd"] != int64(len(texts)-len(reach)) {
				t.Fatalf("%d rows in, %d out, dropped %v", rep.RowsIn, rep.RowsOut, rep.Dropped)
			}
		}
	})
}

// The examples of verbs that see all rows give what they say.
func TestBarrierExamples(t *testing.T) {
	n := 0
	for _, v := range transform.All() {
		for _, ex := range v.Examples {
			step, err := v.New(decode(t, ex.Args))
			if _, ok := step.(transform.Barrier); !ok || err != nil {
				continue
			}
			n++
			table, err := transformtest.Parse(ex.In, nil)
			if err != nil {
				t.Fatal(err)
			}
			in := &pipelinetest.Input{}
			if err := in.Add("train", ex.In, table.Schema.Fields, 3); err != nil {
				t.Fatal(err)
			}
			sink := &pipelinetest.Sink{Dir: t.TempDir()}
			j := in.Job()
			j.Output, j.Steps = sink.Output(1), func(string) []transform.RowStep { return []transform.RowStep{step} }
			got := ""
			plan, err := pipeline.NewPlan(j)
			if err == nil {
				if _, err = plan.Run(t.Context()); err == nil {
					got, err = sink.Rows()
				}
				plan.Close()
			}
			switch {
			case ex.Error != "" && (err == nil || !strings.Contains(err.Error(), ex.Error)):
				t.Errorf("%s: %s: error %v, want %q", v.Name, ex.Title, err, ex.Error)
			case ex.Error == "" && (err != nil || strings.TrimSpace(got) != ex.Out):
				t.Errorf("%s: %s: got %v\n%s\nwant\n%s", v.Name, ex.Title, err, got, ex.Out)
			}
		}
	}
	if n < 6 {
		t.Errorf("%d examples", n)
	}
}

func decode(t *testing.T, text string) (out transform.Args) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A killed run that orders rows is resumed with the same bytes; row groups of nested columns survive the buckets.
func TestOrderResumes(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, `{"q":"%02d","m":[{"r":"u","c":null},{"r":null,"c":"%d"}],"e":{"x":%d.5,"b":%v}}`+"\n", (i*7)%40, i, i, i%2 == 0)
	}
	in := &pipelinetest.Input{}
	if err := in.Add("train", text.String(), nil, 7); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	slices.Sort(lines)
	do := func(sink *pipelinetest.Sink) (*pipeline.Report, error) {
		j := in.Job()
		j.Output, j.Steps = sink.Output(4), func(string) []transform.RowStep { return []transform.RowStep{byText{"q"}} }
		plan, err := pipeline.NewPlan(j)
		if err != nil {
			t.Fatal(err)
		}
		defer plan.Close()
		return plan.Run(context.Background())
	}
	sink := &pipelinetest.Sink{Dir: dir, Kill: func(task int) error {
		if task == 2 {
			return errors.New("killed")
		}
		return nil
	}}
	if _, err := do(sink); err == nil {
		t.Fatal("the run was not killed")
	}
	sink.Kill = nil
	rep, err := do(sink)
	if err != nil || rep.Resumed != 2 {
		t.Fatalf("%v, %+v", err, rep)
	}
	if got, err := sink.Rows(); err != nil || got != strings.Join(lines, "\n")+"\n" {
		t.Errorf("%v: got\n%s", err, got)
	}
}

// A second barrier behind an order is refused by name.
func TestBarrierBehindOrder(t *testing.T) {
	in := &pipelinetest.Input{}
	if err := in.Add("train", lines([]string{"a", "b"}, 1)[0], fields, 10); err != nil {
		t.Fatal(err)
	}
	j := in.Job()
	j.Steps = func(string) []transform.RowStep {
		return []transform.RowStep{byText{"q"}, transform.Located{RowStep: dropSeen{"q"}, Where: "p.yaml:3:5", Verb: "dedup"}}
	}
	_, err := pipeline.NewPlan(j)
	if err == nil || !strings.Contains(err.Error(), "p.yaml:3:5: step dedup: train-0.parquet: a step that needs all rows cannot follow a step that orders them yet") {
		t.Errorf("got %v", err)
	}
}
