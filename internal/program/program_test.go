package program_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/internal/pipeline/pipelinetest"
	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// unknown are the counts of a file without statistics.
func unknown(int) (nulls, bytes int64) { return -1, 1 }

// counts are those of a batch.
func counts(b *record.Batch) program.Counts {
	return func(leaf int) (nulls, bytes int64) {
		v := b.Leaves[leaf].Vec
		return int64(v.Entries() - v.Values.Len()), int64(v.Values.Len())
	}
}

// A caller is what the tests need of *testing.T and *rapid.T.
type caller interface {
	Helper()
	Fatal(args ...any)
}

func parse(t caller, text string) *transformtest.Table {
	t.Helper()
	table, err := transformtest.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// files are the tables of an example, between which blank lines stand.
func files(t caller, text string) (tables []*transformtest.Table, in []program.File) {
	for i, text := range strings.Split(text, "\n\n") {
		tables = append(tables, parse(t, text))
		in = append(in, program.File{Name: fmt.Sprintf("in-%d.jsonl", i), Schema: tables[i].Schema})
	}
	return tables, in
}

// An engine says how run runs.
type engine struct {
	known   bool // counts are known
	slice   int  // rows of a slice; 0: all
	options program.Options
	o       program.RunOptions
}

// run compiles steps for files and returns the rows that come out as JSON.
func (e engine) run(t caller, text string, steps ...transform.RowStep) (lines []string, outcome program.Outcome, out *schema.Schema, err error) {
	t.Helper()
	tables, in := files(t, text)
	outcome.Dropped = map[string]int64{}
	progs, out, err := program.CompileSplit(in, steps, e.options, true)
	if err != nil {
		return nil, outcome, nil, err
	}
	number := int64(0)
	for i, table := range tables {
		b, err := pipelinetest.Batch(table)
		if err != nil {
			t.Fatal(err)
		}
		known := program.Counts(unknown)
		if e.known {
			known = counts(b)
		}
		r := progs[i].Resolve(known)
		if err := r.Err(); err != nil {
			return nil, outcome, nil, err
		}
		e.o.Scratch, e.o.Outcome = &program.Scratch{}, &outcome
		x, err := r.NewRun(e.o)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]int, len(progs[i].Leaves()))
		for i := range all {
			all[i] = i
		}
		decode := r.Decode(all)
		for from := 0; from < b.Rows; {
			n := b.Rows - from
			if e.slice > 0 {
				n = min(n, e.slice)
			}
			got, err := x.Slice(cut(b, from, n, number+int64(from), decode), nil)
			if err != nil {
				return nil, outcome, nil, err
			}
			for row := range got.Rows {
				lines = append(lines, string(got.RowJSON(row)))
			}
			from += n
		}
		number += int64(b.Rows)
	}
	return lines, outcome, out, nil
}

// cut returns n rows of a batch, with the leaves that decode lists.
func cut(b *record.Batch, from, n int, number int64, decode []int) *record.Batch {
	out := *b
	out.Rows, out.SplitRow, out.FileRow = n, number, int64(from)
	out.Leaves = make([]record.Leaf, len(b.Leaves))
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(from + i)
	}
	for i, l := range b.Leaves {
		out.Leaves[i].Leaf = l.Leaf
		if slices.Contains(decode, i) {
			out.Leaves[i].Vec = l.Vec.SelectRows(rows, l.MaxDef)
		}
	}
	return &out
}

// Every example of every verb gives what it says, whether counts are known or not, in slices of any size.
func TestVerbExamples(t *testing.T) {
	for _, v := range transform.All() {
		for _, ex := range v.Examples {
			t.Run(v.Name+"/"+ex.Title, func(t *testing.T) {
				var args transform.Args
				d := json.NewDecoder(strings.NewReader(ex.Args))
				d.UseNumber()
				if err := d.Decode(&args); err != nil {
					t.Fatal(err)
				}
				step, err := v.New(args)
				if err != nil {
					t.Skip("a fault in the arguments")
				}
				if _, ok := step.(transform.Barrier); ok {
					t.Skip("it sees all rows: pipeline tests it")
				}
				for _, e := range []engine{{}, {known: true}, {slice: 1}, {known: true, slice: 2}} {
					got, outcome, _, err := e.run(t, ex.In, step)
					if len(outcome.Rejects) > 0 && err == nil {
						err = errors.New(outcome.Rejects[0].Reason + ": " + outcome.Rejects[0].Message)
					}
					switch {
					case ex.Error != "" && (err == nil || !strings.Contains(err.Error(), ex.Error)):
						t.Errorf("%+v: error %v, want %q", e, err, ex.Error)
					case ex.Error == "" && (err != nil || strings.Join(got, "\n") != ex.Out):
						t.Errorf("%+v: got %v\n%s\nwant\n%s", e, err, strings.Join(got, "\n"), ex.Out)
					}
				}
			})
		}
	}
}

// rows are nested rows with nulls at every level, some of them throughout.
func rows(t *rapid.T) string {
	val := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
	holes := rapid.Bool().Draw(t, "holes")
	or := func(name, value string) string {
		if holes && rapid.IntRange(0, 2).Draw(t, name+" is null") == 0 {
			return "null"
		}
		return value
	}
	var b strings.Builder
	b.WriteString(`{"q":"?","n":1,"e":{"a":"x","i":{"k":1,"t":"t"}},"m":[{"r":"u","c":"v"}]}` + "\n") // every type is known
	for range rapid.IntRange(0, 12).Draw(t, "rows") {
		inner := or("i", fmt.Sprintf(`{"k":%s,"t":%s}`, or("k", val("k", "1", "2")), or("t", `"t"`)))
		e := or("e", fmt.Sprintf(`{"a":%s,"i":%s}`, or("a", val("a", `"x"`, `"yy"`)), inner))
		var ms []string
		for range rapid.IntRange(0, 3).Draw(t, "messages") {
			ms = append(ms, or("message", fmt.Sprintf(`{"r":%s,"c":%s}`, or("r", `"u"`), or("c", val("c", `"1"`, `"2"`)))))
		}
		fmt.Fprintf(&b, `{"q":%s,"n":%s,"e":%s,"m":%s}`+"\n", or("q", val("q", `"a"`, `"b"`, `""`)), or("n", val("n", "-1", "7")), e, or("m", "["+strings.Join(ms, ",")+"]"))
	}
	return b.String()
}

// everyThird puts out one row of three, twice.
type everyThird struct{}

func (everyThird) Plan(in *schema.Schema) (*transform.Plan, error) {
	if _, at := in.Column("n"); at < 0 {
		return nil, errors.New(`no column "n"`) // a plan may not read what is missing: the reference refuses it, and the engine relies on it
	}
	return &transform.Plan{Reads: []schema.Path{"n"}, Bind: func() transform.Func {
		return func(row schema.Row, out *transform.Emitter) error {
			switch {
			case row.Number()%3 == 1:
				out.Drop("third")
			case row.At(0).Kind() == schema.Int && row.At(0).Int() == 7:
				return transform.Rejectf("seven", "n", row.At(0), "it is 7")
			default:
				out.Emit()
				out.Emit()
			}
			return nil
		}
	}}, nil
}

func steps(t *rapid.T) []transform.RowStep {
	text := func(s string) schema.Value { return schema.TextValue(s) }
	all := []transform.RowStep{
		transform.Set{Path: "new", Value: text("v"), Type: schema.StringType},
		transform.Set{Path: "e.new", Value: text("v"), Type: schema.StringType},
		transform.Set{Path: "e.i.new", Value: schema.IntValue(3), Type: schema.Int64Type},
		transform.Set{Path: "e.i.t", Value: text("filled"), Type: schema.StringType, If: transform.Fill},
		transform.Set{Path: "q", Value: text("filled"), Type: schema.StringType, If: transform.Fill},
		transform.Set{Path: "q", Value: text("replaced"), Type: schema.StringType, If: transform.Replace},
		transform.Set{Path: "fresh.deep.leaf", Value: schema.NullValue, Type: schema.StringType},
		transform.Index{}, transform.Index{Path: "e.i.index", Start: 10},
		transform.Copy{From: "q", To: "e.q"}, transform.Copy{From: "e.i.k", To: "k"}, transform.Copy{From: "e.i", To: "copy"},
		transform.Copy{From: "m", To: "e.m"}, transform.Copy{From: "e.a", To: "fresh.a"},
		transform.Rename{From: "n", To: "number"}, transform.Rename{From: "e.a", To: "e.b"}, transform.Rename{From: "e.i.t", To: "top"},
		transform.Drop{Paths: []schema.Path{"e.i"}}, transform.Drop{Paths: []schema.Path{"m"}},
		transform.Format{Path: "f", Template: "<{{q}}>"}, transform.Format{Path: "e.f", Template: "{{n}}"},
		everyThird{},
	}
	var out []transform.RowStep
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		out = append(out, rapid.SampledFrom(all).Draw(t, "step"))
	}
	return out
}

// Any steps over any rows give what the plain engine gives, which works row by row on values.
func TestStepsAgainstValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, list := rows(t), steps(t)
		e := engine{known: rapid.Bool().Draw(t, "known"), slice: rapid.IntRange(0, 3).Draw(t, "slice")}
		e.options.NewStructsRequired = rapid.Bool().Draw(t, "required")
		want, rejected, wantErr := parse(t, text).Apply(list...)
		got, outcome, _, err := e.run(t, text, list...)
		if wantErr != nil || err != nil {
			// a struct that is null cannot be filled where its fields take no null; that is the one fault that only columns have
			if (wantErr == nil) != (err == nil) && !strings.Contains(fmt.Sprint(err), "cannot be filled") && !strings.Contains(fmt.Sprint(err), "already exists") {
				t.Fatalf("%+v: got error %v, want %v", list, err, wantErr)
			}
			return
		}
		if !slices.Equal(got, want.Lines()) || len(outcome.Rejects) != len(rejected) {
			t.Fatalf("%+v over\n%s: %d rejected, want %d\ngot\n%s\nwant\n%s", list, text, len(outcome.Rejects), len(rejected), strings.Join(got, "\n"), strings.Join(want.Lines(), "\n"))
		}
	})
}

const two = `{"q":"a","e":{"a":"x"},"m":[{"r":"u"}]}` + "\n" + `{"q":"b","e":null,"m":null}` + "\n\n" +
	`{"e":{"b":1.5,"a":"y"},"m":[{"r":"u","n":"ann"},{"r":"a","n":null}],"z":{"zz":[1]},"s":7}` + "\n\n" + `{"q":null,"s":0.5,"e":{"a":"w"},"m":[]}`

// What a file lacks is null there, at every level, and narrower types become wider ones.
func TestConform(t *testing.T) {
	want := []string{
		`{"q":"a","e":{"a":"x","b":null},"m":[{"r":"u","n":null}],"z":null,"s":null}`,
		`{"q":"b","e":null,"m":null,"z":null,"s":null}`,
		`{"q":null,"e":{"a":"y","b":1.5},"m":[{"r":"u","n":"ann"},{"r":"a","n":null}],"z":{"zz":[1]},"s":7.0}`,
		`{"q":null,"e":{"a":"w","b":null},"m":[],"z":null,"s":0.5}`,
	}
	for _, e := range []engine{{}, {known: true}, {slice: 1}} {
		got, _, out, err := e.run(t, two, transform.Located{RowStep: transform.Unify{}, Where: "p.yaml:2:3", Verb: "unify"})
		if err != nil || !slices.Equal(got, want) || len(out.Fields) != 5 {
			t.Errorf("%+v: got %v\n%s", e, err, strings.Join(got, "\n"))
		}
	}
	_, _, _, err := engine{}.run(t, `{"s":9007199254740993}`+"\n\n"+`{"s":0.5}`, transform.Unify{})
	var fault *transform.Fault
	if !errors.As(err, &fault) || fault.Where != "step unify" || fault.Pos.Row != 0 {
		t.Errorf("an integer that a double cannot hold: %v", err)
	}
	_, _, _, err = engine{}.run(t, two, transform.Located{RowStep: transform.Unify{Refuse: true}, Where: "p.yaml:2:3", Verb: "unify"})
	if err == nil || !strings.HasPrefix(err.Error(), "p.yaml:2:3: step unify: ") {
		t.Errorf("got %v", err)
	}
}

// Files of a split that differ are an error that names them; those that differ in what may be null put out one schema.
func TestOneSchema(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":2}` + "\n\n" + `{"a":1}`:       `in-1.jsonl: expected column "b"`,
		`{"a":1}` + "\n\n" + `{"a":1,"b":2}`:       `in-1.jsonl: column "b": the other file of the split has none`,
		`{"a":1}` + "\n\n" + `{"a":"x"}`:           `in-1.jsonl: column "a" is string, expected int64`,
		`{"a":{"b":1}}` + "\n\n" + `{"a":{"c":1}}`: `in-1.jsonl: expected column "a.b"`,
		`{"b":1}` + "\n\n" + `{"a":1}`:             `in-1.jsonl: expected column "b"`,
	} {
		if _, _, _, err := (engine{}).run(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	required := schema.NewField("a", schema.StructOf(schema.Field{Name: "b", Type: schema.ListOf(schema.Int64Type)}))
	required.Nullable, required.Type.Fields[0].Type.Fields[0].Nullable = false, false
	nullable := schema.NewField("a", schema.StructOf(schema.NewField("b", schema.ListOf(schema.Int64Type))))
	files := []program.File{{Name: "1", Schema: &schema.Schema{Fields: []schema.Field{required}}}, {Name: "2", Schema: &schema.Schema{Fields: []schema.Field{nullable}}}}
	progs, out, err := program.CompileSplit(files, nil, program.Options{}, true)
	if err != nil || !out.Fields[0].Nullable || !out.Fields[0].Type.Fields[0].Nullable {
		t.Fatalf("%v %v", out, err)
	}
	table, err := transformtest.Parse(`{"a":{"b":[1,2]}}`+"\n"+`{"a":{"b":[]}}`, files[0].Schema.Fields)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pipelinetest.Batch(table)
	if err != nil {
		t.Fatal(err)
	}
	x, err := progs[0].Resolve(unknown).NewRun(program.RunOptions{Scratch: &program.Scratch{}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.Slice(b, nil)
	if err != nil || got.Leaves[0].MaxDef != out.Leaves()[0].MaxDef || string(got.RowJSON(0)) != `{"a":{"b":[1,2]}}` || string(got.RowJSON(1)) != `{"a":{"b":[]}}` {
		t.Errorf("got %v: %s %s", err, got.RowJSON(0), got.RowJSON(1))
	}
}

// A Resolved tells a planner what comes from where, and what must be decoded for it.
func TestResolved(t *testing.T) {
	tables, in := files(t, `{"q":"a","n":1,"e":{"a":"x"}}`)
	list := []transform.RowStep{transform.Set{Path: "c", Value: schema.TextValue("v"), Type: schema.StringType}, transform.Index{Path: "e.i"},
		transform.Format{Path: "f", Template: "{{n}}"}, transform.Rename{From: "q", To: "p"}, transform.Index{Path: "i"}}
	progs, _, err := program.CompileSplit(in, list, program.Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pipelinetest.Batch(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	blind, known := progs[0].Resolve(unknown), progs[0].Resolve(counts(b))
	var how []string
	for i, l := range progs[0].Leaves() {
		how = append(how, fmt.Sprintf("%s %s %d %s %d %v", l.Path, blind.How(i), blind.Input(i), known.How(i), known.Input(i), known.PromiseDistinct(i)))
		if (blind.Constant(i) != nil) != (l.Path == "c") || known.RowNumbers(i) != (l.Path.Base() == "i") {
			t.Errorf("%s: constant %v, row numbers %v", l.Path, blind.Constant(i), known.RowNumbers(i))
		}
		if !known.SameForm(known, i) || known.SameForm(blind, i) != (l.Path != "e.i") {
			t.Errorf("%s: same form %v, with what is not known %v", l.Path, known.SameForm(known, i), known.SameForm(blind, i))
		}
	}
	want := []string{"p encoded 0 encoded 0 false", "n encoded 1 encoded 1 false", "e.a encoded 2 encoded 2 false", "e.i encoded -1 row numbers -1 false",
		"c constant -1 constant -1 false", "f computed -1 computed -1 false", "i row numbers -1 row numbers -1 true"}
	if !slices.Equal(how, want) {
		t.Errorf("got %q", how)
	}
	if d := known.Decode([]int{3, 4}); !slices.Equal(d, []int{1}) {
		t.Errorf("row numbers and a constant decode %v, expected what the step reads", d)
	}
	if d := blind.Decode([]int{3}); !slices.Equal(d, []int{1, 2}) {
		t.Errorf("a new field of a struct that may be null decodes %v, expected a leaf of it as well", d)
	}
	if !progs[0].Computes() || progs[0].In() != in[0].Schema || progs[0].NumOut() != 7 || progs[0].Out() != progs[0].Judged() {
		t.Error("the program is described wrongly")
	}
	known.Repeats = true
	if known.PromiseDistinct(6) {
		t.Error("numbers are distinct although rows repeat")
	}
}

// A struct that is null somewhere cannot be filled where its fields take no null; where it is nowhere null, nothing is refused.
func TestRefused(t *testing.T) {
	f := schema.NewField("e", schema.StructOf(schema.Field{Name: "a", Type: schema.StringType}, schema.NewField("b", schema.StringType)))
	in := []program.File{{Name: "f", Schema: &schema.Schema{Fields: []schema.Field{f}}}}
	step := transform.Set{Path: "e.b", Value: schema.TextValue("x"), Type: schema.StringType, If: transform.Fill}
	progs, _, err := program.CompileSplit(in, []transform.RowStep{step}, program.Options{PreserveLayout: true}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := progs[0].Resolve(unknown).Err(); err == nil || !strings.Contains(err.Error(), `struct "e" is null in some rows and cannot be filled: its field "a"`) {
		t.Errorf("got %v", err)
	}
	if err := progs[0].Resolve(func(int) (int64, int64) { return 0, 1 }).Err(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		step transform.RowStep
		want string
	}{
		{transform.Set{Path: "e", Value: schema.TextValue("x"), Type: schema.StringType, If: transform.Fill}, "cannot be filled"},
		{transform.Set{Path: "e.a", Value: schema.TextValue("x"), Type: schema.StringType}, `column "e.a" already exists (string)`},
		{transform.Copy{From: "e.a", To: "e.b"}, "already exists"},
		{badPut{transform.Put{Path: "e[].x", Type: schema.StringType, Const: &schema.NullValue}}, `"e" is struct<a: string not null, b: string>, not a list`},
		{badPut{transform.Put{Path: "x", Type: schema.StringType}}, "nothing computes it"},
		{badPut{transform.Put{Path: "x", Copy: "y"}}, `no column "y"`},
		{badPut{transform.Put{Path: "x", Type: f.Type, Const: &schema.NullValue}}, "cannot be written as a constant"},
		{badPut{transform.Put{Path: "x", Type: schema.ListOf(schema.StringType), Const: &schema.NullValue}}, "cannot be written"},
		{badPut{transform.Put{Path: "e.a.b", Type: schema.StringType, Const: &schema.NullValue}}, "not a struct"},
		{badDrop("y"), `drop "y": no column "y"`},
		{badDrop("e[]"), `drop "e[]": "e" is struct`},
	} {
		_, err := program.Compile(in[0].Schema, []transform.RowStep{c.step}, program.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.step, err, c.want)
		}
	}
	_, err = program.Compile(in[0].Schema, []transform.RowStep{transform.Located{RowStep: transform.Copy{From: "e.a", To: "e.b"}, Where: "p:1:1", Verb: "copy"}}, program.Options{})
	if err == nil || !strings.Contains(err.Error(), "if: replace") {
		t.Errorf("got %v", err)
	}
}

// A badPut is a step that no verb makes.
type badPut struct{ transform.Put }

func (b badPut) Plan(*schema.Schema) (*transform.Plan, error) {
	return &transform.Plan{Puts: []transform.Put{b.Put}}, nil
}

type badDrop schema.Path

func (b badDrop) Plan(*schema.Schema) (*transform.Plan, error) {
	return &transform.Plan{Drops: []schema.Path{schema.Path(b)}}, nil
}

// upper changes the texts of a leaf, within lists too, and says of bytes that they are text.
type upper struct{ path schema.Path }

func (u upper) Plan(*schema.Schema) (*transform.Plan, error) {
	return &transform.Plan{Puts: []transform.Put{{Path: u.path, Copy: u.path, OnExisting: transform.Replace, MapText: func(dst []byte, s string) []byte { return append(dst, strings.ToUpper(s)...) }}}}, nil
}

func TestMappedTexts(t *testing.T) {
	for _, e := range []engine{{}, {known: true}, {slice: 1}} {
		got, _, _, err := e.run(t, `{"q":"a","m":[{"r":"u"},{"r":null}]}`+"\n"+`{"q":null,"m":null}`, upper{"q"}, upper{"m[].r"})
		if err != nil || !slices.Equal(got, []string{`{"q":"A","m":[{"r":"U"},{"r":null}]}`, `{"q":null,"m":null}`}) {
			t.Errorf("got %v %s", err, got)
		}
	}
}

// Rows that are chosen by number leave the others out, whatever other steps do, and are counted under their reason.
func TestChoice(t *testing.T) {
	var asked [][2]int64
	choice := program.Choice{Reason: "chosen", LeftOut: func(first, end int64) (out []int64, err error) {
		asked = append(asked, [2]int64{first, end})
		for n := first; n < end; n++ {
			if n%2 == 1 || n == 4 {
				out = append(out, n)
			}
		}
		return out, nil
	}}
	text := strings.Repeat(`{"n":1}`+"\n", 8)
	got, outcome, _, err := engine{slice: 3}.run(t, text, everyThird{}, choice, transform.Index{Path: "i"})
	if err != nil || !slices.Equal(got, []string{`{"n":1,"i":0}`, `{"n":1,"i":0}`, `{"n":1,"i":2}`, `{"n":1,"i":2}`, `{"n":1,"i":6}`, `{"n":1,"i":6}`}) {
		t.Errorf("got %v %s", err, got)
	}
	if outcome.Dropped["third"] != 3 || outcome.Dropped["chosen"] != 4 || !slices.Equal(asked, [][2]int64{{0, 3}, {3, 6}, {6, 8}}) {
		t.Errorf("dropped %v, asked %v", outcome.Dropped, asked)
	}
	broken := program.Choice{LeftOut: func(int64, int64) ([]int64, error) { return nil, errors.New("no file") }}
	if _, _, _, err := (engine{}).run(t, text, broken); err == nil || err.Error() != "no file" {
		t.Errorf("got %v", err)
	}
}

// Where columns go out undecoded, or numbers were promised to be distinct, a run says that it cannot.
func TestRunFails(t *testing.T) {
	text := `{"n":1}` + "\n" + `{"n":2}` + "\n"
	raw := program.Raw{&record.Raw{}}
	if !raw.Any() || (program.Raw{nil}).Any() {
		t.Error("Any is wrong")
	}
	if _, _, _, err := (engine{o: program.RunOptions{Raw: raw}}).run(t, text, everyThird{}); !errors.Is(err, program.ErrDecode) {
		t.Errorf("got %v", err)
	}
	table := parse(t, text)
	p, err := program.Compile(table.Schema, []transform.RowStep{transform.Index{Path: "i"}, everyThird{}}, program.Options{})
	if err != nil {
		t.Fatal(err)
	}
	progs, _, err := program.CompileSplit([]program.File{{Name: "f", Schema: table.Schema}}, []transform.RowStep{transform.Index{Path: "i"}, everyThird{}}, program.Options{}, false)
	if err != nil || p.NumOut() != 2 {
		t.Fatal(err)
	}
	b, err := pipelinetest.Batch(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, repeats := range []bool{false, true} {
		r := progs[0].Resolve(unknown)
		r.Repeats = repeats
		r.PromiseDistinct(1)
		x, err := r.NewRun(program.RunOptions{Scratch: &program.Scratch{}, Outcome: &program.Outcome{Dropped: map[string]int64{}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Slice(b, nil); errors.Is(err, program.ErrRepeat) == repeats {
			t.Errorf("repeats %v: got %v", repeats, err)
		}
	}
	fail := func(err error) transform.RowStep { return failing{err} }
	for _, c := range []struct {
		step transform.RowStep
		want string
	}{
		{fail(errors.New("broken")), "memory: row 0: broken"},
		{fail(&transform.Fault{Where: "fn.star:1:2", Message: "loops"}), "fn.star:1:2: row 0: loops (memory: row 0)"},
	} {
		if _, _, _, err := (engine{}).run(t, text, c.step); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

type failing struct{ err error }

func (f failing) Plan(*schema.Schema) (*transform.Plan, error) {
	return &transform.Plan{Bind: func() transform.Func {
		return func(schema.Row, *transform.Emitter) error { return f.err }
	}}, nil
}

// Rows that the reader could not take are rejected with their place and, where asked for, as they were read.
func TestReaderFaults(t *testing.T) {
	table := parse(t, `{"n":1}`+"\n"+`{"n":2}`+"\n"+`{"n":3}`)
	p, err := program.Compile(table.Schema, []transform.RowStep{transform.Set{Path: "c", Value: schema.TextValue("v"), Type: schema.StringType}}, program.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := pipelinetest.Batch(table)
	if err != nil {
		t.Fatal(err)
	}
	b.Faults = []record.Fault{{Row: 1, Reason: "wrong-type", Path: "n", Message: "n: it is text", Value: `"x"`}, {Row: 1, Reason: "wrong-type", Path: "n"}}
	out := &program.Outcome{Dropped: map[string]int64{}}
	x, err := p.Resolve(unknown).NewRun(program.RunOptions{Scratch: &program.Scratch{}, Outcome: out, KeepRejects: true, MustExpand: []bool{false, true}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.Slice(b, nil)
	if err != nil || got.Rows != 2 || got.Leaves[1].Const != nil || string(got.RowJSON(1)) != `{"n":3,"c":"v"}` {
		t.Errorf("got %v, %d rows", err, got.Rows)
	}
	if len(out.Rejects) != 1 || out.Rejects[0].Message != "it is text" || string(out.Rejects[0].Row) != `{"n":2}` || out.Dropped["wrong-type"] != 1 {
		t.Errorf("rejects %+v", out.Rejects)
	}
}
