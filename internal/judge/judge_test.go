package judge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/pipeline/pipelinetest"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	_ "github.com/rlprep/rlprep/schema/hf"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/ruletest"
	_ "github.com/rlprep/rlprep/schema/verl"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// A how is how much a run of rules knows before it reads rows, and how it reads them.
type how struct {
	statistics bool
	slice      int
}

// run judges rows in memory as the pipeline does: footers, then each file as one range, then the keys.
func run(t *testing.T, rules *judge.Rules, files []*rule.File, rows []*record.Batch, h how) *judge.Findings {
	t.Helper()
	found := judge.NewFindings()
	rules.Files(files, found)
	total := int64(0)
	for _, b := range rows {
		total += int64(b.Rows)
	}
	keys := judge.NewKeys(total, rules.Singletons(), 2, t.TempDir())
	defer keys.Close()
	var readings judge.Readings
	for i, b := range rows {
		got := judge.NewFound()
		check(t, rules, i, b, &readings, got, h)
		found.Merge(got.Entries)
		if err := keys.Spill(got.Hits); err != nil {
			t.Fatal(err)
		}
		got.Release()
	}
	if err := rules.Groups(keys, files, found); err != nil {
		t.Fatal(err)
	}
	found.Sort(files)
	return found
}

func check(t *testing.T, rules *judge.Rules, file int, b *record.Batch, readings *judge.Readings, got *judge.Found, h how) {
	t.Helper()
	rng := judge.Range{File: file, Name: b.File, RowGroup: b.RowGroup, Rows: int64(b.Rows), Known: func(leaf int) (rule.ColumnFacts, error) {
		if !h.statistics {
			return rule.ColumnFacts{Nulls: -1}, nil
		}
		return statistics(&b.Leaves[leaf]), nil
	}}
	c := rules.Check(rng, b.Schema, readings, got)
	if err := c.Prejudge(); err != nil {
		t.Fatal(err)
	}
	wanted := c.Leaves()
	for from := 0; from < b.Rows; {
		n := min(h.slice, b.Rows-from)
		part := *b
		part.Rows, part.SplitRow, part.FileRow = n, b.SplitRow+int64(from), b.FileRow+int64(from)
		part.Leaves = make([]record.Leaf, len(b.Leaves))
		take := make([]int32, n)
		for i := range take {
			take[i] = int32(from + i)
		}
		for i, l := range b.Leaves {
			part.Leaves[i] = record.Leaf{Leaf: l.Leaf, Const: l.Const, Seq: l.Seq}
			if slices.Contains(wanted, i) && l.Vec != nil {
				part.Leaves[i].Vec = l.Vec.SelectRows(take, l.MaxDef)
			}
		}
		c.Rows(&part)
		from += n
	}
}

// statistics are what a footer and a dictionary would say of a leaf.
func statistics(l *record.Leaf) rule.ColumnFacts {
	c := rule.ColumnFacts{Nulls: int64(l.Vec.Entries() - l.Vec.Values.Len())}
	texts, ok := l.Vec.Texts()
	if !ok || l.Type.Kind != schema.Text {
		return c
	}
	c.Dict = []schema.Value{}
	for i := range texts.Len() {
		if v := schema.TextValue(texts.At(i)); !slices.ContainsFunc(c.Dict, v.Equal) {
			c.Dict = append(c.Dict, v)
		}
	}
	return c
}

// places are the findings as the places that they name, sorted.
func places(fs []rule.Finding) (out []string) {
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%s %d %s", f.Pos.File, f.Pos.Row, f.Pos.Path))
	}
	slices.Sort(out)
	return out
}

// Every example of every rule gives through judge what the rule gives by itself, whatever is known before its rows are read.
func TestRuleExamples(t *testing.T) {
	examples := 0
	for _, r := range rule.All() {
		for i, e := range r.Examples {
			if e.Launch != "" || e.Target != "" {
				continue // judge does not see these
			}
			files, values, err := ruletest.Tables(e)
			if err != nil {
				t.Fatal(err)
			}
			var rows []*record.Batch
			for k, f := range files {
				b, err := pipelinetest.Batch(&transformtest.Table{Schema: f.Schema, Rows: values[k]})
				if err != nil {
					rows = nil
					break // a type that only files have
				}
				b.File, b.RowGroup = f.Name, -1
				f.Index = k
				rows = append(rows, b)
			}
			if rows == nil {
				continue
			}
			want, err := ruletest.Findings(r, e)
			if err != nil {
				t.Fatal(err)
			}
			examples++
			env := &rule.Env{Target: rule.DefaultTarget(), Rows: r.Rows}
			if env.Rows == rule.Any {
				if env.Rows = e.Rows; env.Rows == rule.Any {
					env.Rows = rule.RL
				}
			}
			for _, h := range []how{{slice: 1 << 10}, {statistics: true, slice: 1 << 10}, {slice: 1}} {
				found := run(t, &judge.Rules{List: []*rule.Rule{r}, Env: env}, files, rows, h)
				var got []rule.Finding
				counted := int64(0)
				for _, entry := range found.Entries {
					got = append(got, entry.Findings...)
					counted += entry.Count
				}
				if counted != int64(len(want)) || len(want) <= 3 && !slices.Equal(places(got), places(want)) {
					t.Errorf("%s example %d (%s) %+v: %d findings, %q\nwant %d, %q", r.ID, i, e.Title, h, counted, places(got), len(want), places(want))
				}
			}
		}
	}
	if examples < 100 {
		t.Errorf("only %d examples were run", examples)
	}
}

var framework = rule.Register(rule.Framework{Name: "judgetest"})

// repeated reports the rows whose text was there before, by Group; singly, those whose text stands alone.
var (
	repeated = framework.Add(rule.Rule{ID: "RL991", Name: "q-repeated", Applies: []rule.Severity{{Level: rule.Error}},
		Reads: func(*rule.Pass) []schema.Path { return []schema.Path{"q"} },
		New:   func(p *rule.Pass) rule.Checker { return &groups{p, false} }, SharesKeysAs: "q"})
	singly = framework.Add(rule.Rule{ID: "RL992", Name: "q-alone", Applies: []rule.Severity{{Level: rule.Warning}}, JudgeSingletons: true,
		Reads: func(*rule.Pass) []schema.Path { return []schema.Path{"q"} },
		New:   func(p *rule.Pass) rule.Checker { return &groups{p, true} }, SharesKeysAs: "q"})
	empty = framework.Add(rule.Rule{ID: "RL993", Name: "q-empty", Applies: []rule.Severity{{Level: rule.Error}},
		Reads: func(*rule.Pass) []schema.Path { return []schema.Path{"q"} },
		New:   func(p *rule.Pass) rule.Checker { return &sees{Pass: p} }})
	asks = framework.Add(rule.Rule{ID: "RL994", Name: "launch-asked", Applies: []rule.Severity{{Level: rule.Info}},
		Reads: func(*rule.Pass) []schema.Path { return []schema.Path{"q"} },
		New:   func(p *rule.Pass) rule.Checker { return &asking{p} }})
)

type groups struct {
	*rule.Pass
	alone bool
}

func (g *groups) Row(row schema.Row) { g.Emit(rule.NewKey(row.At(0).Text()), row, 7) }

func (g *groups) Group(_ rule.Key, hits iter.Seq[rule.Hit]) {
	n := 0
	for h := range hits {
		if n++; n == 2 && !g.alone {
			g.Reportf(h.Pos(), schema.Value{}, "seen before, value %d", h.Value)
		}
	}
	for h := range hits { // again, and not to the end
		if n == 1 && g.alone {
			g.Reportf(h.Pos(), schema.Value{}, "alone")
		}
		break
	}
}

// sees is a Scanner.
type sees struct{ *rule.Pass }

func (s *sees) Scans(int) bool { return true }

func (s *sees) Scan(_ int, texts schema.Texts, hits []int) []int {
	for i := range texts.Len() {
		if texts.At(i) == "" {
			hits = append(hits, i)
		}
	}
	return hits
}

func (s *sees) Row(row schema.Row) { s.Reportf(row.Pos().At("q"), row.At(0), "empty") }

type asking struct{ *rule.Pass }

func (a *asking) Row(row schema.Row) {
	if l := a.Env.Launch; l != nil {
		l.Value("k")
		l.Document("k")
		l.MissingFiles("k")
		l.Operator("k")
		l.Refused()
		l.Variable("HOME")
		l.Module()
	}
}

// A launch answers every question with its text.
type launch string

func (l launch) Value(string) (schema.Value, schema.Pos) {
	return schema.TextValue(string(l)), schema.Pos{}
}
func (l launch) Whole() bool                    { return l == "x" }
func (l launch) Keys() []string                 { return []string{string(l)} }
func (l launch) Default(string) schema.Value    { return schema.TextValue(string(l)) }
func (l launch) DocumentError(string) string    { return string(l) }
func (l launch) Python(string) (string, bool)   { return string(l), true }
func (l launch) NearFile(string) string         { return string(l) }
func (l launch) Document(string) schema.Value   { return schema.Value{} }
func (l launch) MissingFiles(string) []string   { return []string{string(l)} }
func (l launch) Operator(string) string         { return "=" }
func (l launch) Refused() []rule.Refusal        { return []rule.Refusal{{Message: string(l)}} }
func (l launch) Variable(string) (string, bool) { return string(l), true }
func (l launch) Module() (string, schema.Pos)   { return string(l), schema.Pos{} }

// table returns files with these texts as column q, one a row; "~" is null.
func table(t interface{ Fatal(...any) }, files ...[]string) (out []*rule.File, rows []*record.Batch) {
	s := &schema.Schema{Fields: []schema.Field{schema.NewField("q", schema.StringType)}}
	for i, texts := range files {
		tb := &transformtest.Table{Schema: s}
		typ := schema.StructOf(s.Fields...)
		for _, q := range texts {
			v := schema.TextValue(q)
			if q == "~" {
				v = schema.NullValue
			}
			tb.Rows = append(tb.Rows, schema.StructValue(&typ, []schema.Value{v}))
		}
		b, err := pipelinetest.Batch(tb)
		if err != nil {
			t.Fatal(err)
		}
		b.File = fmt.Sprint("f", i)
		rows = append(rows, b)
		out = append(out, &rule.File{Index: i, Name: b.File, Schema: s, Rows: int64(len(texts))})
	}
	return out, rows
}

func all() *judge.Rules {
	return &judge.Rules{List: []*rule.Rule{repeated, singly, empty, asks}, Env: &rule.Env{Target: rule.DefaultTarget(), Launch: launch("x")}}
}

// A rule sees its own keys and those of the rule that shares them; one that minds keys of one row sees these as well.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var texts [][]string
		for range rapid.IntRange(1, 3).Draw(rt, "files") {
			texts = append(texts, rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "~", "d", "e"}), 0, 8).Draw(rt, "texts"))
		}
		files, rows := table(rt, texts...)
		where := map[string][]string{}
		empties := 0
		for f, list := range texts {
			for i, q := range list {
				if q == "" {
					empties++
				}
				q = strings.Trim(q, "~") // Text of null is ""
				where[q] = append(where[q], fmt.Sprintf("f%d %d", f, i))
			}
		}
		want := map[string]int64{"RL993": int64(empties)}
		for _, at := range where {
			if len(at) == 1 {
				want["RL992"]++
			} else {
				want["RL991"]++
			}
		}
		found := run(t, all(), files, rows, how{slice: rapid.IntRange(1, 9).Draw(rt, "slice")})
		got := map[string]int64{}
		for _, e := range found.Entries {
			got[e.Findings[0].Rule.ID] += e.Count
			for _, f := range e.Findings {
				if f.Rule == repeated && !slices.ContainsFunc(slices.Collect(mapsValues(where)), func(at []string) bool {
					return len(at) > 1 && at[1] == fmt.Sprintf("%s %d", f.Pos.File, f.Pos.Row)
				}) {
					rt.Fatalf("%s is not the second of its key", f.Pos)
				}
			}
		}
		for id, n := range want {
			if got[id] != n {
				rt.Fatalf("%s: %d findings, want %d, in %q", id, got[id], n, texts)
			}
		}
		if empties > 0 != (found.Worst() == rule.Error) && want["RL991"] == 0 {
			rt.Fatalf("the worst is %s", found.Worst())
		}
	})
}

func mapsValues[K comparable, V any](m map[K]V) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// More hits of a key than are held in memory are all shown, as often as they are asked for; so are keys that do not fit into one run.
func TestManyHits(t *testing.T) {
	const rows = 150_000
	got := judge.NewFound()
	for i := range int64(rows) {
		k := "same"
		if i%3 > 0 {
			k = fmt.Sprint(i % 40_000)
		}
		got.EmitKey(rule.NewKey(k), i, uint64(i))
	}
	keys := judge.NewKeys(rows, []bool{false}, 2, t.TempDir())
	defer keys.Close()
	if err := keys.Spill(got.Hits); err != nil {
		t.Fatal(err)
	}
	seen, groups := 0, 0
	err := keys.Each(func(g *judge.Group) {
		groups++
		for range 2 {
			last := int64(-1)
			n := 0
			for number, value := range g.Rows() {
				if number <= last || uint64(number) != value {
					t.Fatalf("row %d after %d, value %d", number, last, value)
				}
				last = number
				n++
			}
			seen += n
		}
		for range g.Rows() {
			break
		}
	})
	if err != nil || seen < 2*rows*9/10 || groups < 10_000 {
		t.Errorf("%v: %d of %d rows in %d groups", err, seen/2, rows, groups)
	}
}

// Hits that an earlier run stored are noted again; a file of another size is refused.
func TestStoredKeys(t *testing.T) {
	got := judge.NewFound()
	for i := range int64(10) {
		got.EmitKey(rule.NewKey(fmt.Sprint(i%5)), i, 0)
	}
	name := filepath.Join(t.TempDir(), "spill")
	if err := os.WriteFile(name, got.Hits, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{int64(len(got.Hits)), int64(len(got.Hits)) - 1, int64(len(got.Hits)) * 2} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		keys := judge.NewKeys(10, []bool{false}, 1, "")
		err = keys.Resume(f, size)
		groups := 0
		if err == nil {
			err = keys.Each(func(*judge.Group) { groups++ })
		}
		if good := size == int64(len(got.Hits)); good != (err == nil) || good && groups != 5 {
			t.Errorf("%d bytes of %d: %v, %d groups", size, len(got.Hits), err, groups)
		}
		keys.Close()
	}
}

// An entry survives its record; one of a rule that does not exist is refused.
func TestEntryJSON(t *testing.T) {
	files, rows := table(t, []string{"a", "a", "", "a"})
	found := run(t, all(), files, rows, how{slice: 2})
	b, err := json.Marshal(found.Entries)
	if err != nil {
		t.Fatal(err)
	}
	var back []judge.Entry
	if err := json.Unmarshal(b, &back); err != nil || fmt.Sprint(back) != fmt.Sprint(found.Entries) {
		t.Errorf("%v:\n%v\n%v", err, back, found.Entries)
	}
	if err := json.Unmarshal(bytes.ReplaceAll(b, []byte("RL991"), []byte("RL000")), &back); err == nil || !strings.Contains(err.Error(), `unknown rule "RL000"`) {
		t.Errorf("got %v", err)
	}
	downgraded := all()
	downgraded.DowngradeErrors = []string{"RL991", "RL993"}
	if w := run(t, downgraded, files, rows, how{slice: 2}).Worst(); w != rule.Warning {
		t.Errorf("the worst is %s although errors are downgraded", w)
	}
}

// A cache is entries in memory.
type cache struct {
	entries map[int]*entry
	broken  bool // what it returns is damaged
	closed  int
}

type entry struct {
	cache   *cache
	file    int
	records []byte
	marks   []byte
	head    []byte
	size    int
}

func (c *cache) Load(file, size int, each func([]byte)) judge.CachedFile {
	e := c.entries[file]
	if e == nil {
		return nil
	}
	each(e.marks)
	e.size = size
	return e
}

func (c *cache) Create(file int) judge.CacheWriter { return &entry{cache: c, file: file} }

func (e *entry) Write(record []byte, mark uint64) {
	e.records = append(e.records, record...)
	for i := range 8 {
		e.marks = append(e.marks, byte(mark>>(8*i)))
	}
}
func (e *entry) Commit(head []byte) { e.head = bytes.Clone(head); e.cache.entries[e.file] = e }
func (e *entry) Discard()           { delete(e.cache.entries, e.file) }
func (e *entry) Close() error       { e.cache.closed++; return nil }
func (e *entry) Head() []byte       { return e.head }
func (e *entry) Blocks() int        { return min(1, len(e.marks)) }

func (e *entry) Marks(_ int, b []byte) ([]byte, error) {
	if e.cache.broken {
		return nil, errors.New("bit rot")
	}
	return append(b[:0], e.marks...), nil
}
func (e *entry) Records(_ int, b []byte) ([]byte, error) { return append(b[:0], e.records...), nil }

// cached judges files with a cache and returns what was found and the files that were not read.
func cached(t *testing.T, c *cache, rules *judge.Rules, files []*rule.File, rows []*record.Batch) (*judge.Findings, map[int]bool, error) {
	t.Helper()
	found := judge.NewFindings()
	keys := judge.NewKeys(100, rules.Singletons(), 2, t.TempDir())
	defer keys.Close()
	caching := judge.NewCaching(c, rules, keys)
	defer caching.Discard()
	var numbers []int
	for i := range files {
		numbers = append(numbers, i)
	}
	done, err := caching.Load(numbers, func(_ int64, entries []judge.Entry) { found.Merge(entries) })
	if err != nil {
		return nil, nil, err
	}
	var readings judge.Readings
	for i, b := range rows {
		if done[i] {
			continue
		}
		got := judge.NewFound()
		check(t, rules, i, b, &readings, got, how{slice: 2})
		found.Merge(got.Entries)
		if err := keys.Spill(got.Hits); err != nil {
			t.Fatal(err)
		}
		caching.Add(i, int64(b.Rows), got)
		caching.Commit(func(file int) error {
			if files[file].Glob { // stands for a file that changes while it is read
				return errors.New("changed")
			}
			return nil
		})
	}
	err = rules.Groups(keys, files, found)
	found.Sort(files)
	return found, done, err
}

// What is cached of some files, of all or of none gives the same findings; an entry is used only while the launch answers the same.
func TestCache(t *testing.T) {
	var texts [][]string
	for i := range 300 { // more than are held open
		texts = append(texts, []string{"a", fmt.Sprint("only ", i), fmt.Sprint("pair ", i/2), ""})
	}
	files, rows := table(t, texts...)
	files[5].Glob = true
	c := &cache{entries: map[int]*entry{}}
	want, done, err := cached(t, c, all(), files, rows)
	if err != nil || slices.Contains(slices.Collect(mapsValues(done)), true) || len(c.entries) != len(files)-1 {
		t.Fatalf("%v: %d entries", err, len(c.entries))
	}
	delete(c.entries, 17)
	c.entries[18].head = []byte{0x80} // damaged
	got, done, err := cached(t, c, all(), files, rows)
	if err != nil || fmt.Sprint(got.Entries) != fmt.Sprint(want.Entries) || done[5] || done[17] || done[18] || !done[19] {
		t.Errorf("%v: other findings with a cache", err)
	}
	if c.closed != len(files)-2 {
		t.Errorf("%d entries closed of %d", c.closed, len(files)-2)
	}
	other := all()
	other.Env.Launch = launch("another")
	if _, done, err := cached(t, c, other, files, rows); err != nil || slices.Contains(slices.Collect(mapsValues(done)), true) {
		t.Errorf("%v: entries of another launch were used", err)
	}
	c.broken = true
	if _, _, err := cached(t, c, other, files, rows); !errors.Is(err, judge.ErrCache) {
		t.Errorf("a damaged entry gives %v", err)
	}
}

// Rows that cannot be cached leave no entry of their file.
func TestNotCached(t *testing.T) {
	c := &cache{entries: map[int]*entry{}}
	rules := all()
	keys := judge.NewKeys(10, rules.Singletons(), 1, "")
	defer keys.Close()
	caching := judge.NewCaching(c, rules, keys)
	caching.Add(3, 5, judge.NewFound())
	caching.Add(3, 5, nil)
	caching.Add(3, 5, judge.NewFound())
	caching.Commit(func(int) error { return nil })
	if len(c.entries) != 0 {
		t.Error("an entry was stored")
	}
}

// Known answers of constants and row numbers need no values; an error of what is known ends the part.
func TestKnownFails(t *testing.T) {
	_, rows := table(t, []string{"a"})
	broken := errors.New("broken footer")
	prompts := &judge.Rules{List: rule.All(), Env: &rule.Env{Target: rule.DefaultTarget(), Rows: rule.RL}}
	table, err := transformtest.Parse(`{"agent_name":"x","data_source":"y"}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pipelinetest.Batch(table)
	if err != nil {
		t.Fatal(err)
	}
	var readings judge.Readings
	c := prompts.Check(judge.Range{Name: "f", Rows: 1, Known: func(int) (rule.ColumnFacts, error) { return rule.ColumnFacts{}, broken }}, b.Schema, &readings, judge.NewFound())
	if err := c.Prejudge(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	constant := schema.TextValue("")
	rows[0].Leaves[0] = record.Leaf{Leaf: rows[0].Leaves[0].Leaf, Const: &constant}
	got := judge.NewFound()
	check(t, all(), 0, rows[0], &readings, got, how{slice: 1})
	if got.Worst() != rule.Error {
		t.Error("an empty constant is not found")
	}
}
