package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/ruletest"
)

// writeTable writes rows, structs of the columns of s, as a Parquet file with row groups of two.
func writeTable(t *testing.T, name string, f *rule.File, rows []schema.Value) error {
	t.Helper()
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var metadata []parquetio.KeyValue
	for key, value := range f.Metadata {
		metadata = append(metadata, parquetio.KeyValue{Key: key, Value: value})
	}
	w, err := parquetio.NewWriter(out, f.Schema, parquetio.WriterOptions{Metadata: metadata})
	if err != nil {
		return err
	}
	enc := parquetio.NewEncoder(f.Schema, parquetio.EncoderOptions{Codec: parquetio.Snappy})
	for group := range slices.Chunk(rows, 2) {
		b := &record.Batch{Schema: f.Schema, Rows: len(group)}
		for k, field := range f.Schema.Fields {
			builder, err := record.NewBuilder(field, 0)
			if err != nil {
				return err
			}
			for _, row := range group {
				if err := builder.Append(row.Elem(k)); err != nil {
					return err
				}
			}
			for _, v := range builder.Vectors() {
				b.Leaves = append(b.Leaves, record.Leaf{Leaf: f.Schema.Leaves()[len(b.Leaves)], Vec: v})
			}
		}
		if err := enc.Append(b); err != nil {
			return err
		}
		g, err := enc.Finish()
		if err != nil {
			return err
		}
		if err := w.Write(g); err != nil {
			return err
		}
	}
	_, err = w.Close()
	return err
}

// A fixCase is an example of a rule, written as Parquet, and how lint is called for it.
type fixCase struct {
	*testing.T
	rule  *rule.Rule
	files []string
	args  []string
}

// newFixCase writes an example; skip says why it cannot be.
func newFixCase(t *testing.T, r *rule.Rule, e rule.Example) (c *fixCase, skip string) {
	t.Helper()
	c = &fixCase{T: t, rule: r}
	files, rows, err := ruletest.Tables(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	glob := true
	var train, val []string
	for i, f := range files {
		if strings.Contains(e.Schema, "large_string") {
			return nil, "the metadata of Arrow says so alone: TestFixForms"
		}
		f.Schema.Fields = append(f.Schema.Fields, schema.NewField("kept", schema.Int64Type)) // so that something is left
		for n := range rows[i] {
			rows[i][n] = withField(rows[i][n], f.Schema, schema.IntValue(int64(n)))
		}
		if f.Rows != int64(len(rows[i])) || e.Edit != nil && len(f.RowGroups) != 1 {
			return nil, "its row groups cannot be made"
		}
		f.Name = filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := writeTable(t, f.Name, f, rows[i]); err != nil {
			return nil, err.Error()
		}
		c.files = append(c.files, f.Name)
		glob = glob && f.Glob
		if f.Val {
			val = append(val, "--val", f.Name)
		} else {
			train = append(train, f.Name)
		}
	}
	if glob {
		train = []string{filepath.Join(dir, "train-*.parquet")}
	}
	kind := max(r.Rows, e.Rows)
	if kind == rule.Any {
		kind = rule.RL
	}
	target := e.Target
	if target == "" {
		target = rule.DefaultTarget().String()
	}
	c.args = slices.Concat([]string{"--select", r.ID, "--kind", kind.String(), "--target", target}, train, val)
	return c, ""
}

// withField returns a row with one more value.
func withField(row schema.Value, s *schema.Schema, v schema.Value) schema.Value {
	values := make([]schema.Value, 0, row.Len()+1)
	for i := range row.Len() {
		values = append(values, row.Elem(i))
	}
	t := schema.StructOf(s.Fields...)
	return schema.StructValue(&t, append(values, v))
}

// lint calls lint and returns the positions that the rule finds, and what is said.
func (c *fixCase) lint(flags ...string) (found []string, said string) {
	c.Helper()
	status, stdout, stderr := runMain(c.T, slices.Concat([]string{"lint", "--output-format", "jsonl"}, flags, c.args)...)
	if status > ExitFindings {
		c.Fatalf("lint %v: exit %d: %s", flags, status, stderr)
	}
	for line := range strings.Lines(stdout) {
		var j struct{ Rule, File, Column string }
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			c.Fatalf("%v in %q", err, line)
		}
		found = append(found, strings.TrimSpace(filepath.Base(j.File)+" "+j.Column))
	}
	return found, stderr
}

// stamps are the times and bytes of files.
func stamps(t *testing.T, files []string) (out []string) {
	t.Helper()
	for _, f := range files {
		out = append(out, fmt.Sprint(fileInfo(t, f).ModTime(), readText(t, f)))
	}
	return out
}

func fileInfo(t *testing.T, name string) fs.FileInfo {
	t.Helper()
	st, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestFixExamples fixes the bad example of every rule that --fix fixes: nothing of the rule is found then, columns that no fix names are
// the input's byte for byte, and once more changes nothing. Good examples are left alone. That a rule's fixes fix its examples, fixtest asks in
// the rule's own package.
func TestFixExamples(t *testing.T) {
	t.Parallel()
	fixed := 0
	for _, r := range rule.All() {
		if len(r.Fixes) == 0 { // why, ruletest asks
			continue
		}
		done := 0
		for i, e := range r.Examples {
			t.Run(fmt.Sprintf("%s-%d", r.ID, i), func(t *testing.T) {
				c, skip := newFixCase(t, r, e)
				if skip != "" {
					t.Skip(skip)
				}
				if c.fix(e) {
					done++
				}
			})
		}
		fixed += done
	}
	t.Logf("%d bad examples fixed", fixed)
	if fixed < 40 && !t.Failed() {
		t.Errorf("only %d bad examples were fixed", fixed)
	}
}

// fix fixes the example and reports whether there was something to fix.
func (c *fixCase) fix(e rule.Example) bool {
	before := stamps(c.T, c.files)
	bad, _ := c.lint()
	if e.Launch != "" {
		return false // what the launch says is not given here
	}
	if len(bad) == 0 && len(e.Want) > 0 {
		c.Fatal("nothing is found in the Parquet file")
	}
	in := make([]*dump, len(c.files))
	for i, f := range c.files {
		in[i] = dumpFile(c.T, f)
	}
	flags := []string{"--fix", "--unsafe-fixes", "--agent", "tool_agent"}
	left, said := c.lint(flags...)
	after := stamps(c.T, c.files)
	switch {
	case len(bad) == 0:
		if !slices.Equal(before, after) {
			c.Errorf("a good example was changed: %s", said)
		}
		return false
	case e.Unfixed != "":
		if len(left) == 0 || !strings.Contains(said, e.Unfixed) {
			c.Errorf("left is %v, %q, expected %q", left, said, e.Unfixed)
		}
	case len(left) > 0 && strings.Contains(said, "every row of ") && allBad(e):
		return true
	case len(left) > 0:
		c.Errorf("still found: %v; %s", left, said)
	case slices.Equal(before, after):
		c.Error("no file was changed")
	}
	c.untouched(in, said)
	if again, more := c.lint(flags...); !slices.Equal(stamps(c.T, c.files), after) || len(again) != len(left) || strings.Contains(more, "fixed:") {
		c.Errorf("once more changes something: %s", more)
	}
	return e.Unfixed == ""
}

// allBad reports whether every row of an example is found.
func allBad(e rule.Example) bool {
	n := 0
	for _, text := range e.Files {
		n += strings.Count(strings.TrimSpace(text), "\n") + 1
	}
	return len(e.Want) == n
}

// untouched compares the column chunks that no fix names with those of the input, unless rows were left out.
func (c *fixCase) untouched(in []*dump, said string) {
	for i, f := range c.files {
		touched, gone := touchedPaths(c.T, said, f)
		if gone {
			continue
		}
		out := dumpFile(c.T, f)
		for _, leaf := range out.leaves {
			if in[i].chunks[leaf] == nil || slices.ContainsFunc(touched, func(p string) bool { return strings.HasPrefix(leaf+"\x1f", p+"\x1f") }) {
				continue
			}
			if n := len(in[i].chunks[leaf]) - len(out.chunks[leaf]); n > 0 && strings.Contains(said, "without empty row groups") {
				in[i].chunks[leaf] = in[i].chunks[leaf][n:] // the first ones were empty
			}
			out.sameBytes(c.T, f, leaf, in[i], leaf)
		}
	}
}

// touchedPaths are the columns of a file that are said to be fixed, their names joined as a dump joins them, up to the first list;
// gone: rows were left out.
func touchedPaths(t *testing.T, said, file string) (paths []string, gone bool) {
	t.Helper()
	for line := range strings.Lines(said) {
		rest, ok := strings.CutPrefix(line, "fixed: "+file+": ")
		if !ok {
			continue
		}
		gone = gone || strings.Contains(rest, "leaves the rows out")
		if name, _, ok := strings.Cut(rest, ": "); ok && !strings.HasPrefix(name, "RL") {
			p, err := schema.ParsePath(name)
			if err != nil {
				t.Fatal(err)
			}
			steps := p.Steps()
			if at := slices.Index(steps, schema.Elem); at >= 0 {
				steps = steps[:at]
			}
			paths = append(paths, strings.Join(steps, "\x1f"))
		}
	}
	return paths, gone
}

// TestFixFaults fixes the fault sets: what is left is said to be left, and why; rows without a fault are what they were; once more
// changes nothing.
func TestFixFaults(t *testing.T) {
	t.Parallel()
	fixSets(t, shared(t, "data/faults"), 26)
}

// TestFixMoreFaults does so with the sets of testdata/faults.
func TestFixMoreFaults(t *testing.T) {
	t.Parallel()
	fixSets(t, filepath.Join("..", "..", "testdata", "faults"), 5)
}

func fixSets(t *testing.T, root string, least int) {
	clean, faults := 0, 0
	for _, line := range readLines(t, filepath.Join(root, "expected.jsonl")) {
		s := &faultSet{}
		if err := json.Unmarshal([]byte(line), s); err != nil {
			t.Fatal(err)
		}
		t.Run(s.Set, func(t *testing.T) {
			found, left := s.fix(t, root)
			if found {
				faults++
			}
			if found && !left {
				clean++
			}
		})
	}
	t.Logf("%d of %d sets with findings are clean now", clean, faults)
	if clean < least && !t.Failed() {
		t.Errorf("only %d of %d sets with findings are clean now, expected %d", clean, faults, least)
	}
}

// fix fixes a copy of a set.
func (s *faultSet) fix(t *testing.T, root string) (found, left bool) {
	dir := t.TempDir()
	var args, files []string
	for i, name := range slices.Concat(s.Files, s.Val) {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(readText(t, filepath.Join(root, name))), 0o644); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(to, old, old); err != nil {
			t.Fatal(err)
		}
		files = append(files, to)
		if i >= len(s.Files) {
			args = append(args, "--val")
		}
		args = append(args, to)
	}
	if slices.ContainsFunc(files, func(f string) bool { return filepath.Ext(f) == ".jsonl" || filepath.Ext(f) == ".json" }) {
		t.Skip("lines are not fixed in place")
	}
	before := rowsOf(t, files)
	stamp := stamps(t, files)
	lint := func(flags ...string) (int, []string, string) {
		status, stdout, stderr := runMain(t, slices.Concat([]string{"lint", "--output-format", "concise"}, flags, args)...)
		var rules []string
		for line := range strings.Lines(stdout) {
			if at := strings.LastIndex(line, "[RL"); at >= 0 {
				rules = append(rules, line[at+1:at+6])
			}
		}
		return status, rules, stderr
	}
	in := make([]*dump, len(files))
	for i, f := range files {
		in[i] = dumpFile(t, f)
	}
	fixed, now, said := lint("--fix", "--unsafe-fixes")
	if fixed > ExitFindings {
		t.Fatalf("exit %d: %s", fixed, said)
	}
	for _, id := range now {
		if r := rule.Find(id); r.Unfixed == "" || !strings.Contains(said, "left: ") || !strings.Contains(said, r.ID+" "+r.Name+": ") {
			t.Errorf("%s is left, and not said to be: %s", id, said)
		}
	}
	after := stamps(t, files)
	changed := !slices.Equal(stamp, after)
	if strings.HasPrefix(s.Set, "ok_") && changed {
		t.Errorf("nothing is wrong with it, and it was changed: %s", said)
	}
	s.compare(t, files, before, said)
	(&fixCase{T: t, files: files}).untouched(in, said)
	if _, again, more := lint("--fix", "--unsafe-fixes"); !slices.Equal(after, stamps(t, files)) || !slices.Equal(again, now) || strings.Contains(more, "fixed:") {
		t.Errorf("once more changes something: %s", more)
	}
	return changed || len(now) > 0, len(now) > 0
}

func rowsOf(t *testing.T, files []string) (out [][]string) {
	t.Helper()
	for _, f := range files {
		rows, _ := readRows(t, f)
		out = append(out, rows)
	}
	return out
}

// compare sees that rows in which verl minds nothing say what they said, and that those which it minds differ in nothing but what is
// said to be fixed, or are gone.
func (s *faultSet) compare(t *testing.T, files []string, before [][]string, said string) {
	n := int64(0)
	for i, rows := range rowsOf(t, files) {
		touched, gone := touchedPaths(t, said, files[i])
		at := 0
		for _, was := range before[i] {
			minded := i < len(s.Files) && slices.Contains(s.Rows, n)
			n++
			if gone && minded {
				continue
			}
			if at >= len(rows) {
				t.Fatalf("%s: %d rows, more were to stay", files[i], len(rows))
			}
			a, b := object(t, was), object(t, rows[at])
			at++
			if minded || strings.Contains(said, "drops the column") {
				for _, p := range touched {
					remove(a, strings.Split(p, "\x1f"))
					remove(b, strings.Split(p, "\x1f"))
				}
			}
			if x, y := plainJSON(t, a), plainJSON(t, b); x != y {
				t.Fatalf("%s: row %d was\n%s\nand is\n%s", files[i], n-1, x, y)
			}
		}
		if at != len(rows) {
			t.Errorf("%s: %d rows are left, expected %d", files[i], len(rows), at)
		}
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func remove(m map[string]any, path []string) {
	if len(path) == 1 {
		delete(m, path[0])
	} else if in, ok := m[path[0]].(map[string]any); ok {
		remove(in, path[1:])
	}
}

// plainJSON writes v with its keys sorted, without nulls, numbers as texts: a number that became a text says what it said.
func plainJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(plainValue(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func plainValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e = plainValue(e); e != nil {
				out[k] = e
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		for i := range v {
			v[i] = plainValue(v[i])
		}
	case json.Number:
		return strings.TrimSuffix(v.String(), ".0")
	}
	return v
}

// arrowSchema is the metadata by which Arrow tells large_string from string.
func arrowSchema(t *testing.T, fields ...arrow.Field) parquetio.KeyValue {
	t.Helper()
	p := ipc.GetSchemaPayload(arrow.NewSchema(fields, nil), memory.DefaultAllocator)
	defer p.Release()
	var b bytes.Buffer
	if _, err := p.WritePayload(&b); err != nil {
		t.Fatal(err)
	}
	return parquetio.KeyValue{Key: "ARROW:schema", Value: base64.StdEncoding.EncodeToString(b.Bytes())}
}

// TestFixForms gives texts and lists one form over two files, and bytes that are text their annotation: no column chunk is touched.
func TestFixForms(t *testing.T) {
	dir := t.TempDir()
	text := &schema.Schema{Fields: []schema.Field{schema.NewField("q", schema.StringType), schema.NewField("tags", schema.ListOf(schema.StringType)), schema.NewField("n", schema.Int64Type)}}
	row := schema.StructOf(text.Fields...)
	rows := func(text func(string) schema.Value) []schema.Value {
		return []schema.Value{
			schema.StructValue(&row, []schema.Value{text("a"), schema.ListValue([]schema.Value{text("x"), schema.NullValue}), schema.IntValue(1)}),
			schema.StructValue(&row, []schema.Value{schema.NullValue, schema.NullValue, schema.IntValue(2)}),
			schema.StructValue(&row, []schema.Value{text("ä"), schema.ListValue(nil), schema.IntValue(3)}),
		}
	}
	large := arrowSchema(t, arrow.Field{Name: "q", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		arrow.Field{Name: "tags", Type: arrow.LargeListOf(arrow.BinaryTypes.LargeString), Nullable: true}, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	raw := text.Clone()
	raw.Fields[0].Type = schema.Type{Kind: schema.Binary}
	raw.Fields[1].Type.Fields[0].Type = schema.Type{Kind: schema.Binary}
	var names []string
	var before []*dump
	for i, f := range []*rule.File{{Schema: text}, {Schema: text, Metadata: map[string]string{large.Key: large.Value}}, {Schema: raw}} {
		name := filepath.Join(dir, fmt.Sprintf("train-%d.parquet", i))
		make := schema.TextValue
		if f.Schema == raw {
			make = schema.BinaryValue
		}
		if err := writeTable(t, name, f, rows(make)); err != nil {
			t.Fatal(err)
		}
		names, before = append(names, name), append(before, dumpFile(t, name))
	}
	args := append([]string{"lint", "--select", "RL008", "--output-format", "concise"}, names...)
	if _, found, _ := runMain(t, args...); strings.Count(found, "RL008") != 4 {
		t.Fatalf("found %s", found)
	}
	status, _, said := runMain(t, append(args, "--fix")...)
	if status != 0 {
		t.Fatalf("exit %d: %s", status, said)
	}
	_, want := readRows(t, names[0])
	for i, name := range names {
		if _, got := readRows(t, name); got != want {
			t.Errorf("%s has %s, expected %s", name, got, want)
		}
		now := dumpFile(t, name)
		for _, leaf := range now.leaves {
			now.sameBytes(t, name, leaf, before[i], leaf)
		}
	}
	broken := filepath.Join(dir, "train-2.parquet")
	values := []schema.Value{schema.BinaryValue("\xff"), schema.NullValue, schema.IntValue(1)}
	if err := writeTable(t, broken, &rule.File{Schema: raw}, []schema.Value{schema.StructValue(&row, values)}); err != nil {
		t.Fatal(err)
	}
	if status, _, said = runMain(t, append(args, "--fix")...); status != 1 || !strings.Contains(said, "some of its bytes are no UTF-8: "+broken+": row 0") {
		t.Errorf("exit %d: %s", status, said)
	}
}

// TestFixIndex looks at indices that leave little choice.
func TestFixIndex(t *testing.T) {
	for _, c := range []struct {
		what   string
		bits   int
		in     [][]int64 // by file; -9: null
		flags  string
		want   [][]int64
		reason string
	}{
		{"nulls take their own numbers", 64, [][]int64{{0, -9, 2}, {-9, 4}}, "", [][]int64{{0, 1, 2}, {3, 4}}, ""},
		{"which others have taken", 64, [][]int64{{1, -9}, {-9, 7}}, "", [][]int64{{1, 9}, {2, 7}}, ""},
		{"negative numbers", 64, [][]int64{{-5, -9}}, "", [][]int64{{-5, 1}}, ""},
		{"no room in int8", 8, [][]int64{{127, -9}}, "", nil, "leave no room"},
		{"the highest number", 64, [][]int64{{1<<63 - 1, -9}}, "", nil, "leave no room"},
		{"int32 stays int32", 32, [][]int64{{5, -9}}, "", [][]int64{{5, 1}}, ""},
		{"the first of equal numbers keeps it", 64, [][]int64{{0, 0}, {0, 5}}, "--unsafe-fixes", [][]int64{{0, 1}, {2, 5}}, ""},
		{"far numbers", 64, [][]int64{{1 << 40, 1 << 40}, {1 << 40}}, "--unsafe-fixes", [][]int64{{1 << 40, 1}, {2}}, ""},
		{"equal numbers and nulls", 64, [][]int64{{3, 3, -9}, {-9, 3}}, "--unsafe-fixes", [][]int64{{3, 1, 2}, {8, 4}}, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			s := &schema.Schema{Fields: []schema.Field{schema.NewField("extra_info", schema.StructOf(schema.NewField("index", schema.Type{Kind: schema.Int, Bits: c.bits}), schema.NewField("split", schema.StringType)))}}
			outer := schema.StructOf(s.Fields...)
			var names []string
			for i, numbers := range c.in {
				var rows []schema.Value
				for _, n := range numbers {
					v := schema.IntValue(n)
					if n == -9 {
						v = schema.NullValue
					}
					info := schema.StructValue(&s.Fields[0].Type, []schema.Value{v, schema.TextValue("train")})
					rows = append(rows, schema.StructValue(&outer, []schema.Value{info}))
				}
				names = append(names, filepath.Join(dir, fmt.Sprintf("train-%d.parquet", i)))
				if err := writeTable(t, names[i], &rule.File{Schema: s}, rows); err != nil {
					t.Fatal(err)
				}
			}
			before := stamps(t, names)
			_, _, said := runMain(t, slices.Concat([]string{"lint", "--select", "RL4", "--fix"}, strings.Fields(c.flags), names)...)
			if c.reason != "" {
				if !strings.Contains(said, c.reason) || !slices.Equal(before, stamps(t, names)) {
					t.Errorf("said %q, or a file is another", said)
				}
				return
			}
			for i, rows := range rowsOf(t, names) {
				var got []int64
				for _, r := range rows {
					n, err := object(t, r)["extra_info"].(map[string]any)["index"].(json.Number).Int64()
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, n)
				}
				if !slices.Equal(got, c.want[i]) {
					t.Errorf("file %d: %v, expected %v; %s", i, got, c.want[i], said)
				}
			}
		})
	}
}

// TestFixMutations fixes the faults that are put into correct data: a rule with fixes finds nothing more, or says why; rows in which there
// was no fault are what they were, and the one that had it differs from what it was in nothing but what is said to be fixed, or is gone.
// RLPREP_FIX=all takes all mutations, else every third.
func TestFixMutations(t *testing.T) {
	t.Parallel()
	fixed, restored := 0, 0
	for n := range mutations {
		m := &mutations[n]
		if n%3 != 0 && os.Getenv("RLPREP_FIX") != "all" {
			continue
		}
		t.Run(m.rule+" "+m.what, func(t *testing.T) {
			changed, back := m.fix(t)
			if changed {
				fixed++
			}
			if back {
				restored++
			}
		})
	}
	t.Logf("%d mutations fixed; in %d the row is what it was before the fault", fixed, restored)
}

// fix fixes the data of a mutation; back: the row says again what it said before.
func (m *mutation) fix(t *testing.T) (changed, back bool) {
	files := m.write(t)
	before, stamp := rowsOf(t, files), stamps(t, files)
	flags := []string{"lint", "--fix", "--unsafe-fixes", "--agent", "tool_agent", "--output-format", "concise"}
	if m.target != "" {
		flags = append(flags, "--target", m.target)
	}
	status, found, said := runMain(t, append(flags, files...)...)
	if status > ExitFindings {
		t.Fatalf("exit %d: %s", status, said)
	}
	if r := rule.Find(m.rule); strings.Contains(found, "["+m.rule+" ") && (r.Unfixed == "" && !strings.Contains(said, "every row of") || !strings.Contains(said, r.ID+" "+r.Name+": ")) {
		t.Errorf("still found, and it is not said why: %s%s", found, said)
	}
	after := stamps(t, files)
	_, again, more := runMain(t, append(flags, files...)...)
	if !slices.Equal(after, stamps(t, files)) || again != found || strings.Contains(more, "fixed:") {
		t.Errorf("once more changes something: %s", more)
	}
	for f, rows := range rowsOf(t, files) {
		touched, gone := touchedPaths(t, said, files[f])
		at := 0
		for i, was := range before[f] {
			mine := f == mutFile && i == mutRow && m.row != nil
			if gone && (mine || m.row == nil) && (at >= len(rows) || len(rows)-at < len(before[f])-i) {
				continue // it is left out
			}
			if at >= len(rows) {
				t.Fatalf("%s: row %d is gone: %s", files[f], i, said)
			}
			a, b := object(t, was), object(t, rows[at])
			if mine {
				base, err := json.Marshal(m.base(f*mutRows + i))
				if err != nil {
					t.Fatal(err)
				}
				back = plainJSON(t, object(t, string(base))) == plainJSON(t, object(t, rows[at]))
			}
			at++
			if mine || m.row == nil || strings.Contains(said, "drops the column") || strings.Contains(said, "RL404") {
				for _, p := range touched {
					remove(a, strings.Split(p, "\x1f"))
					remove(b, strings.Split(p, "\x1f"))
				}
			}
			if x, y := plainJSON(t, a), plainJSON(t, b); x != y {
				t.Fatalf("%s: row %d was\n%s\nand is\n%s\n%s", files[f], i, x, y, said)
			}
		}
		if at != len(rows) {
			t.Errorf("%s: %d rows are left, expected %d", files[f], len(rows), at)
		}
	}
	return !slices.Equal(stamp, after), back
}

// TestFixTakesBack has a fix that the engine cannot carry out beside one that it can: the one is left, the other is done.
func TestFixTakesBack(t *testing.T) {
	dir := t.TempDir()
	split := schema.NewField("split", schema.StringType)
	split.Nullable = false // a null extra_info cannot be made a struct without one
	s := &schema.Schema{Fields: []schema.Field{schema.NewField("extra_info", schema.StructOf(split, schema.NewField("index", schema.Int64Type))), schema.NewField("trace", schema.StringType)}}
	outer := schema.StructOf(s.Fields...)
	var rows []schema.Value
	for i := range 4 {
		info := schema.StructValue(&s.Fields[0].Type, []schema.Value{schema.TextValue("train"), schema.IntValue(int64(i))})
		if i == 2 {
			info = schema.NullValue
		}
		rows = append(rows, schema.StructValue(&outer, []schema.Value{info, schema.TextValue("x")}))
	}
	var names []string
	for i := range 3 {
		names = append(names, filepath.Join(dir, fmt.Sprintf("train-%d.parquet", i)))
		if err := writeTable(t, names[i], &rule.File{Schema: s}, rows); err != nil {
			t.Fatal(err)
		}
	}
	_, found, said := runMain(t, slices.Concat([]string{"lint", "--select", "RL012,RL402", "--fix", "--unsafe-fixes", "--output-format", "concise"}, names)...)
	if strings.Count(found, "RL402") != 3 || strings.Contains(found, "RL012") || strings.Count(said, "trace: RL012 column-reserved: drops the column") != 3 ||
		!strings.Contains(said, `RL402 index-null: `) || !strings.Contains(said, `its field "split" takes no null`) {
		t.Errorf("found %s; said %s", found, said)
	}
}

// TestFixInOneRun has faults that others hide: none is left after one run.
func TestFixInOneRun(t *testing.T) {
	messages := schema.StructOf(schema.NewField("role", schema.StringType), schema.NewField("content", schema.StringType))
	truth := schema.StructOf(schema.NewField("ground_truth", schema.StringType))
	info := schema.StructOf(schema.NewField("index", schema.Int64Type), schema.NewField("answer", schema.StringType))
	s := &schema.Schema{Fields: []schema.Field{schema.NewField("data_source", schema.Type{Kind: schema.Binary}), schema.NewField("prompt", schema.ListOf(messages)),
		schema.NewField("reward_model", truth), schema.NewField("extra_info", info)}}
	outer := schema.StructOf(s.Fields...)
	var rows []schema.Value
	for i := range 6 {
		prompt := schema.ListValue([]schema.Value{schema.StructValue(&messages, []schema.Value{schema.TextValue([]string{"user", "Human"}[i%2]), schema.TextValue(fmt.Sprint("How much is ", i, "?"))})})
		gt, index := schema.TextValue(fmt.Sprint(i)), schema.IntValue(int64(i/2))
		if i == 3 {
			index = schema.NullValue
		}
		if i == 4 { // found only once data_source is text
			gt = schema.NullValue
		}
		rows = append(rows, schema.StructValue(&outer, []schema.Value{schema.BinaryValue("openai/gsm8k"), prompt, schema.StructValue(&truth, []schema.Value{gt}),
			schema.StructValue(&info, []schema.Value{index, schema.TextValue(fmt.Sprint("#### ", i))})}))
	}
	name := filepath.Join(t.TempDir(), "train.parquet")
	if err := writeTable(t, name, &rule.File{Schema: s}, rows); err != nil {
		t.Fatal(err)
	}
	status, found, said := runMain(t, "lint", "--fix", "--unsafe-fixes", "--output-format", "concise", name)
	if status != 0 || found != "" {
		t.Errorf("exit %d: found %s; said %s", status, found, said)
	}
	for i, r := range rowsOf(t, []string{name})[0] {
		want := fmt.Sprintf(`{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"How much is %d?"}],"reward_model":{"ground_truth":"%d"},"extra_info":{"index":%d,"answer":"#### %d"}}`,
			i, i, []int{0, 7, 1, 3, 2, 5}[i], i)
		if r != want {
			t.Errorf("row %d is %s, expected %s", i, r, want)
		}
	}
}
