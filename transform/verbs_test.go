package transform_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// args decodes the arguments of an example as a pipeline file would be.
func args(t *testing.T, text string) transform.Args {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var a transform.Args
	if err := d.Decode(&a); err != nil {
		t.Fatalf("args %s: %v", text, err)
	}
	return a
}

func parse(t *testing.T, text string) *transformtest.Table {
	t.Helper()
	table, err := transformtest.Parse(text, nil)
	if err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	return table
}

func TestVerbs(t *testing.T) {
	if len(transform.All()) < 8 {
		t.Fatalf("%d verbs are registered", len(transform.All()))
	}
	for _, v := range transform.All() {
		t.Run(v.Name, func(t *testing.T) {
			checkTexts(t, v)
			good := 0
			for _, e := range v.Examples {
				t.Run(e.Title, func(t *testing.T) { runExample(t, v, e) })
				if e.Error == "" {
					good++
				}
			}
			if good == 0 {
				t.Error("no example of a row that comes out")
			}
		})
	}
}

func checkTexts(t *testing.T, v *transform.Verb) {
	t.Helper()
	if v.Title == "" || strings.HasSuffix(v.Title, ".") || v.Title[:1] != strings.ToLower(v.Title[:1]) {
		t.Errorf("title %q: one line, no capital, no full stop", v.Title)
	}
	if strings.TrimSpace(v.Doc) == "" {
		t.Error("no doc")
	}
	for _, a := range v.Args {
		if a.Name == "" || a.Type == "" || a.Doc == "" {
			t.Errorf("argument %q lacks a type or a doc", a.Name)
		}
	}
}

// runExample runs e and compares what comes out with what it says, errors included.
func runExample(t *testing.T, v *transform.Verb, e transform.Example) {
	step, err := v.New(args(t, e.Args))
	var out []string
	var rejected []transformtest.Rejection
	if err == nil {
		var files []*transformtest.Table
		for _, text := range strings.Split(e.In, "\n\n") {
			files = append(files, parse(t, text))
		}
		out, rejected, err = transformtest.ApplyFiles(files, step)
	}
	if err == nil && len(rejected) > 0 {
		r := rejected[0].Err
		err = errors.New(r.Reason + ": " + r.Message)
	}
	if e.Error != "" {
		if err == nil || !strings.HasSuffix(err.Error(), e.Error) && !strings.Contains(err.Error(), e.Error) {
			t.Errorf("error %v, want %q", err, e.Error)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(out, "\n"); got != e.Out {
		t.Errorf("got\n%s\nwant\n%s", got, e.Out)
	}
}

// TestVerbsConform holds every verb to the contract of Plan and Func, with its own examples as data: reads and puts
// nothing that the plan does not name, gives values of the type it says, and the same ones in any order, on any goroutine.
func TestVerbsConform(t *testing.T) {
	bound := 0
	for _, v := range transform.All() {
		for _, e := range v.Examples {
			step, err := v.New(args(t, e.Args))
			if err != nil {
				continue
			}
			first, _, _ := strings.Cut(e.In, "\n\n")
			table := parse(t, strings.Repeat(first+"\n", 3))
			before, _ := json.Marshal(table.Schema)
			plan, err := step.Plan(table.Schema)
			if err != nil {
				continue
			}
			if after, _ := json.Marshal(table.Schema); !bytes.Equal(before, after) {
				t.Errorf("%s: %s: Plan changed the schema that it got", v.Name, e.Title)
			}
			t.Run(v.Name+"/"+e.Title, func(t *testing.T) {
				checkPlan(t, plan)
				if plan.Bind != nil {
					bound++
					checkFunc(t, plan, table)
				}
			})
		}
	}
	if bound < 3 {
		t.Errorf("only %d examples compute something", bound)
	}
}

func checkPlan(t *testing.T, plan *transform.Plan) {
	t.Helper()
	computes := 0
	for _, p := range plan.Puts {
		n := 0
		for _, set := range []bool{p.Const != nil, p.Seq != nil, p.Copy != ""} {
			if set {
				n++
			}
		}
		if n > 1 {
			t.Errorf("put %s is constant, sequence and copy at once", p.Path)
		}
		if n == 0 {
			computes++
		}
		if p.Type.Kind == schema.Missing && p.Seq == nil && p.Copy == "" {
			t.Errorf("put %s has no type", p.Path)
		}
		if p.Path.Steps() == nil {
			t.Errorf("put %q is no canonical path", p.Path)
		}
	}
	if computes > 0 && plan.Bind == nil {
		t.Errorf("%d puts are computed, and there is no Bind", computes)
	}
}

// checkFunc runs the Func of plan over the rows forwards, backwards and on several workers at once.
func checkFunc(t *testing.T, plan *transform.Plan, table *transformtest.Table) {
	t.Helper()
	n := len(table.Rows)
	want := outcomes(t, plan, table, order(n))
	if backwards := outcomes(t, plan, table, reversed(n)); !slices.Equal(want, backwards) {
		t.Errorf("in reverse order:\n%s\nwant\n%s", strings.Join(backwards, "\n"), strings.Join(want, "\n"))
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rows := order(n)
			if w%2 == 1 {
				rows = reversed(n)
			}
			for range 20 {
				if got := outcomes(t, plan, table, rows); !slices.Equal(want, got) {
					t.Errorf("on worker %d:\n%s\nwant\n%s", w, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
	wg.Wait()
}

func order(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func reversed(n int) []int {
	out := order(n)
	slices.Reverse(out)
	return out
}

// outcomes returns what one worker's Func gives for each row, by row, whatever the order they are taken in.
func outcomes(t *testing.T, plan *transform.Plan, table *transformtest.Table, rows []int) []string {
	out := make([]string, len(table.Rows))
	f := plan.Bind()
	var row int
	e := transform.NewEmitter(len(plan.Puts), func(values []schema.Value) {
		for k, v := range values {
			p := plan.Puts[k]
			computed := p.Const == nil && p.Seq == nil && p.Copy == ""
			if !computed && !v.IsNull() {
				t.Errorf("put %s is not computed, and was set", p.Path)
			}
			if computed && !fits(v, p.Type) {
				t.Errorf("put %s: %s is no %s", p.Path, v.Excerpt(60), p.Type)
			}
			out[row] += string(v.AppendJSON(nil)) + "\n"
		}
	})
	for _, row = range rows {
		_, reason, err := e.Run(f, table.View(row, plan.Reads))
		if err != nil {
			out[row] += "rejected: " + err.Error()
		}
		out[row] += reason
	}
	return out
}

// fits reports whether v is a value of type t.
func fits(v schema.Value, t schema.Type) bool {
	switch {
	case v.IsNull():
		return true
	case v.Kind() != t.Kind:
		return false
	case t.Kind == schema.List:
		for i := range v.Len() {
			if !fits(v.Elem(i), t.Fields[0].Type) {
				return false
			}
		}
	case t.Kind == schema.Struct:
		if v.Type() == nil || !v.Type().Equal(t) {
			return false
		}
		for i := range v.Len() {
			if !fits(v.Elem(i), t.Fields[i].Type) {
				return false
			}
		}
	}
	return true
}

// TestFuncsDoNotAllocate holds the Funcs of the recipes' verbs to no allocation a row.
func TestFuncsDoNotAllocate(t *testing.T) {
	const in = `{"question":"1+1?","answer":"It is <<1+1=2>>2.\n#### 1,200","n":7,"m":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":"a"}]}`
	text := "{{question}}"
	steps := map[string]transform.RowStep{
		"prompt": transform.Prompt{Messages: []transform.Message{
			{Role: "system", Template: "You are a math expert."}, {Role: "user", Template: "{{question}} ({{n}}) Think."}, {Role: "assistant", Template: "{{answer}}"}}},
		"from":    transform.Prompt{From: "m", System: &text, Suffix: &text, Through: true},
		"format":  transform.Format{Path: "q", Template: "{{question}} Think."},
		"extract": transform.Extract{From: "answer", To: "gt", Find: transform.GSM8K, Remove: ","},
		"boxed":   transform.Extract{From: "answer", To: "gt", Find: transform.FindAfter(transform.Marker{Text: "####"}), Remove: ","},
	}
	for name, s := range steps {
		t.Run(name, func(t *testing.T) {
			table := parse(t, in)
			plan, err := s.Plan(table.Schema)
			if err != nil {
				t.Fatal(err)
			}
			row := table.View(0, plan.Reads)
			e := transform.NewEmitter(len(plan.Puts), func([]schema.Value) {})
			f := plan.Bind()
			if n := testing.AllocsPerRun(100, func() { e.Run(f, row) }); n > 0 {
				t.Errorf("%v allocations a row", n)
			}
		})
	}
}

// BenchmarkRecipe measures what the verbs that compute cost for a row of a tool recipe: prompt, ground truth and query.
func BenchmarkRecipe(b *testing.B) {
	table, err := transformtest.Parse(`{"question":"Natalia has 48 clips and sells half of them. How many clips has she left, and how many has she sold?","answer":"She sells 48/2 = <<48/2=24>>24 clips.\n#### 1,200"}`, nil)
	if err != nil {
		b.Fatal(err)
	}
	var funcs []transform.Func
	var rows []*transformtest.Row
	for _, s := range []transform.RowStep{
		transform.Prompt{Messages: []transform.Message{{Role: "system", Template: "You are a math expert."}, {Role: "user", Template: "{{question}} Let's think step by step."}}},
		transform.Extract{From: "answer", To: "gt", Find: transform.GSM8K, Remove: ","},
		transform.Format{Path: "query", Template: "{{question}} Let's think step by step."},
	} {
		plan, err := s.Plan(table.Schema)
		if err != nil {
			b.Fatal(err)
		}
		funcs, rows = append(funcs, plan.Bind()), append(rows, table.View(0, plan.Reads))
	}
	e := transform.NewEmitter(1, func([]schema.Value) {})
	b.ReportAllocs()
	for b.Loop() {
		for i, f := range funcs {
			if _, _, err := e.Run(f, rows[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
