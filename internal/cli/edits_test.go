package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/rlprep/rlprep/internal/edit"
)

// mainInProcess runs a command as users do.
func mainInProcess(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = Main(context.Background(), args, strings.NewReader(""), &out, &err)
	return status, out.String(), err.String()
}

// An entry is a value of a leaf with its levels, as parquet-go reads it.
type entry struct {
	rep, def int
	value    string
}

// A dump is what parquet-go finds in a file: the entries of each leaf, row by row, and the bytes of its column chunks.
type dump struct {
	leaves []string // dotted paths, in order
	def    map[string]int
	rows   map[string][][]entry
	chunks map[string][]string // hashes, by leaf, a row group each
	// mixed has the leaves with several codecs: parquet-go reads all row groups with the codec of the first (column.go, v0.32).
	mixed map[string]bool
}

func dumpFile(t *testing.T, names ...string) *dump {
	t.Helper()
	d := &dump{def: map[string]int{}, rows: map[string][][]entry{}, chunks: map[string][]string{}, mixed: map[string]bool{}}
	for k, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)), parquet.SkipPageIndex(true))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, path := range f.Schema().Columns() {
			leaf := strings.Join(path, "\x1f")
			if k == 0 {
				d.leaves = append(d.leaves, leaf)
				column, _ := f.Schema().Lookup(path...)
				d.def[leaf] = column.MaxDefinitionLevel
			}
			groups := f.Metadata().RowGroups
			for g := range groups {
				d.mixed[leaf] = d.mixed[leaf] || groups[g].Columns[i].MetaData.Codec != groups[0].Columns[i].MetaData.Codec
			}
			for g, group := range f.RowGroups() {
				if !d.mixed[leaf] {
					d.rows[leaf] = append(d.rows[leaf], readLeaf(t, name, group.ColumnChunks()[i])...)
				}
				m := groups[g].Columns[i].MetaData
				start := m.DataPageOffset
				if m.DictionaryPageOffset > 0 {
					start = m.DictionaryPageOffset
				}
				sum := sha256.Sum256(b[start : start+m.TotalCompressedSize])
				d.chunks[leaf] = append(d.chunks[leaf], string(sum[:]))
			}
		}
	}
	return d
}

// readLeaf returns the entries of a column chunk, row by row.
func readLeaf(t *testing.T, name string, c parquet.ColumnChunk) [][]entry {
	t.Helper()
	rows, err := leafRows(c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows
}

func leafRows(c parquet.ColumnChunk) (rows [][]entry, err error) {
	pages := c.Pages()
	defer pages.Close()
	values := make([]parquet.Value, 256)
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		r := p.Values()
		for {
			n, err := r.ReadValues(values)
			for _, v := range values[:n] {
				e := entry{v.RepetitionLevel(), v.DefinitionLevel(), ""}
				if !v.IsNull() {
					e.value = v.String()
				}
				if e.rep == 0 {
					rows = append(rows, nil)
				}
				rows[len(rows)-1] = append(rows[len(rows)-1], e)
			}
			if err != nil || n == 0 {
				break
			}
		}
		parquet.Release(p)
	}
}

// readsItsOwn reports whether parquet-go reads what it wrote: of some nested columns v0.32 does not find the end of the repetition levels, which
// pyarrow, DuckDB and rlprep do.
func readsItsOwn(t *testing.T, name string) bool {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)), parquet.SkipPageIndex(true))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, group := range f.RowGroups() {
		for _, c := range group.ColumnChunks() {
			if _, err := leafRows(c); err != nil {
				return false
			}
		}
	}
	return true
}

// equal fails where a leaf of the output has not the rows of one of the input.
func (d *dump) equal(t *testing.T, what, leaf string, in *dump, from string) {
	t.Helper()
	if d.mixed[leaf] {
		return
	}
	got, want := d.rows[leaf], in.rows[from]
	if len(got) != len(want) {
		t.Errorf("%s: %q has %d rows, wanted %d", what, leaf, len(got), len(want))
		return
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("%s: %q row %d is %v, wanted %v", what, leaf, i, got[i], want[i])
			return
		}
	}
}

// sameBytes fails where the chunks of a leaf are not those of the input's.
func (d *dump) sameBytes(t *testing.T, what, leaf string, in *dump, from string) {
	t.Helper()
	if !slices.Equal(d.chunks[leaf], in.chunks[from]) {
		t.Errorf("%s: %q: the column chunks are not the input's, byte for byte", what, leaf)
	}
}

// Every column chunk that an edit does not concern is the input's, byte for byte, whoever wrote the file.
func TestUntouchedChunksAreTheInputs(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../testdata/parquet/*.parquet")
	if err != nil || len(names) < 30 {
		t.Fatalf("testdata/parquet: %d files, %v", len(names), err)
	}
	chunks := 0
	for n, name := range names {
		if testing.Short() && n%4 != 0 {
			continue
		}
		if strings.HasSuffix(name, "-empty.parquet") {
			continue // no row group, no chunk
		}
		in := dumpFile(t, name)
		first := strings.Split(in.leaves[0], "\x1f")[0]
		several := slices.ContainsFunc(in.leaves, func(l string) bool { return strings.Split(l, "\x1f")[0] != first })
		edits := [][]string{{"add", "agent_name=tool_agent"}, {"add", "rlprep_n=@row", "rlprep_id=@uuid"}, {"add", "rlprep_new.in.it=int:1", "rlprep_x=@copy:" + first},
			{"rename", first + "=renamed"}, {"reshard", "--shards=1"}}
		if several {
			edits = append(edits, []string{"drop", first}, []string{"select", first})
		}
		for _, edit := range edits {
			out := filepath.Join(t.TempDir(), "out")
			status, _, said := mainInProcess(append(edit, name, "-o", out, "-q")...)
			what := filepath.Base(name) + ": " + strings.Join(edit, " ")
			if status != 0 {
				t.Errorf("%s: exit %d: %s", what, status, said)
				continue
			}
			files, _ := filepath.Glob(filepath.Join(out, "*"))
			got := dumpFile(t, files...)
			for _, leaf := range got.leaves {
				from := leaf
				if rest, ok := strings.CutPrefix(leaf+"\x1f", "renamed\x1f"); ok {
					from = strings.TrimSuffix(first+"\x1f"+rest, "\x1f")
				}
				if in.rows[from] == nil {
					continue // added
				}
				got.equal(t, what, leaf, in, from)
				got.sameBytes(t, what, leaf, in, from)
				chunks += len(got.chunks[leaf])
			}
		}
	}
	t.Logf("%d column chunks compared", chunks)
	if chunks < 1000 && !testing.Short() {
		t.Errorf("only %d column chunks compared", chunks)
	}
}

// A field is a column of a random schema.
type field struct {
	name string
	kind reflect.Kind // Struct, Slice or that of a value
	null bool
	kids []field
}

var scalars = []reflect.Kind{reflect.String, reflect.Int64, reflect.Int32, reflect.Float64, reflect.Bool}

func randomField(r *rand.Rand, name string, depth int) field {
	f := field{name: name, null: r.IntN(5) > 0}
	switch p := r.IntN(10); {
	case depth < 3 && p < 4:
		f.kind = reflect.Struct
		for i := range 1 + r.IntN(3) {
			f.kids = append(f.kids, randomField(r, fmt.Sprintf("f%d", i), depth+1))
		}
	case depth < 3 && p < 6:
		f.kind, f.null = reflect.Slice, false
		f.kids = []field{randomField(r, "element", depth+1)}
		f.kids[0].null = false
	default:
		f.kind = scalars[r.IntN(len(scalars))]
	}
	return f
}

// typ is the Go type that parquet-go makes the column of.
func (f *field) typ() (reflect.Type, string) {
	var t reflect.Type
	tag := f.name
	switch f.kind {
	case reflect.Struct:
		var fields []reflect.StructField
		for i := range f.kids {
			kt, tag := f.kids[i].typ()
			fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(i), Type: kt, Tag: reflect.StructTag(`parquet:"` + tag + `"`)})
		}
		t = reflect.StructOf(fields)
	case reflect.Slice:
		kt, _ := f.kids[0].typ()
		return reflect.SliceOf(kt), tag + ",list"
	default:
		t = map[reflect.Kind]reflect.Type{reflect.String: reflect.TypeFor[string](), reflect.Int64: reflect.TypeFor[int64](), reflect.Int32: reflect.TypeFor[int32](),
			reflect.Float64: reflect.TypeFor[float64](), reflect.Bool: reflect.TypeFor[bool]()}[f.kind]
	}
	if f.null {
		return reflect.PointerTo(t), tag + ",optional"
	}
	return t, tag
}

func randomValue(r *rand.Rand, v reflect.Value, nulls float64) {
	switch v.Kind() {
	case reflect.Pointer:
		if r.Float64() >= nulls {
			v.Set(reflect.New(v.Type().Elem()))
			randomValue(r, v.Elem(), nulls)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			randomValue(r, v.Field(i), nulls)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		for i := range v.Len() {
			randomValue(r, v.Index(i), nulls)
		}
	case reflect.String:
		v.SetString(strings.Repeat(string(rune('a'+r.IntN(5))), []int{0, 1, 2, 60}[r.IntN(4)]))
	case reflect.Int64, reflect.Int32:
		v.SetInt(int64(r.IntN(1 << r.IntN(31))))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(100)) / 4)
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	}
}

// writeRandom writes a file of random columns with parquet-go and returns them.
func writeRandom(t *testing.T, r *rand.Rand, name string) field {
	t.Helper()
	root := field{kind: reflect.Struct}
	for i := range 2 + r.IntN(4) {
		root.kids = append(root.kids, randomField(r, fmt.Sprintf("c%d", i), 0))
	}
	typ, _ := root.typ()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	codecs := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Lz4Raw, &parquet.Brotli}
	w := parquet.NewWriter(f, parquet.SchemaOf(reflect.New(typ).Interface()), parquet.Compression(codecs[r.IntN(len(codecs))]),
		parquet.DataPageVersion(1+r.IntN(2)), parquet.PageBufferSize([]int{64, 1000, 1 << 20}[r.IntN(3)]), parquet.DataPageStatistics(r.IntN(2) == 0))
	nulls := []float64{0, 0.2, 0.5, 1}[r.IntN(4)]
	rows := 1 + r.IntN(1<<r.IntN(9))
	group := 1 + r.IntN(rows)
	for i := range rows {
		v := reflect.New(typ)
		randomValue(r, v.Elem(), nulls)
		if err := w.Write(v.Interface()); err != nil {
			t.Fatal(err)
		}
		if (i+1)%group == 0 && i+1 < rows && i/group < 10 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestRandomEdits edits random nested files by parquet-go and by arrow-go, of v1 and v2 pages, and compares every leaf, level by level and byte by
// byte, with what parquet-go finds in the input. testdata/conformance/edits.py does so with five other writers.
//
// RLPREP_EDITS=N makes N cases (.ci/run: 300); RLPREP_EDIT_SEED=S others.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	cases, seed := 60, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("RLPREP_EDITS")); err == nil {
		cases = n
	}
	if n, err := strconv.ParseUint(os.Getenv("RLPREP_EDIT_SEED"), 10, 64); err == nil {
		seed = n
	}
	kinds, writers, mixed, unread := map[string]int{}, [2]int{}, 0, 0
	dir := t.TempDir()
	for n := range cases {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		c := &editCase{T: t, r: r, name: filepath.Join(dir, fmt.Sprintf("%d.parquet", n)), out: filepath.Join(dir, fmt.Sprint(n))}
		c.root = writeRandom(t, r, c.name)
		if !readsItsOwn(t, c.name) {
			unread++
			continue
		}
		c.in = dumpFile(t, c.name)
		if n%2 == 1 {
			was := c.in
			rewriteByArrow(t, r, c.name, was)
			c.in = dumpFile(t, c.name)
			for _, leaf := range was.leaves {
				c.in.equal(t, "arrow-go's file", leaf, was, leaf)
			}
		}
		writers[n%2]++
		kind := []string{"add", "rename", "drop", "select", "reshard"}[n%5]
		kinds[kind]++
		map[string]func(){"add": c.add, "rename": c.rename, "drop": c.drop, "select": c.pick, "reshard": c.reshard}[kind]()
		if t.Failed() {
			kept := filepath.Join(os.TempDir(), fmt.Sprintf("rlprep-edit-%d-%d.parquet", seed, n))
			b, _ := os.ReadFile(c.name)
			os.WriteFile(kept, b, 0o666)
			t.Fatalf("case %d of seed %d; the input is kept: %s", n, seed, kept)
		}
		mixed += c.mixed
		os.RemoveAll(c.out)
		os.Remove(c.name)
	}
	t.Logf("%d cases of seed %d, %d by parquet-go and %d by arrow-go: %v; of %d parquet-go cannot read the new column, and %d not as it wrote them",
		cases, seed, writers[0], writers[1], kinds, mixed, unread)
	if unread > 1+cases/100 {
		t.Errorf("parquet-go cannot read %d of %d files of its own", unread, cases)
	}
}

type editCase struct {
	*testing.T
	r         *rand.Rand
	name, out string
	root      field
	in        *dump
	what      string
	mixed     int // columns that were added and that parquet-go cannot look at
}

// run does the edit and returns what came out.
func (c *editCase) run(edit ...string) *dump {
	c.Helper()
	c.what = strings.Join(edit, " ")
	status, _, said := mainInProcess(append(edit, c.name, "-o", c.out, "-q")...)
	if status != 0 {
		c.Fatalf("%s: exit %d: %s (%s)", c.what, status, said, c.name)
	}
	files, _ := filepath.Glob(filepath.Join(c.out, "*"))
	return dumpFile(c.T, files...)
}

// kept sees that leaves of the output are those of the input; from maps a leaf to its old place, "" for a new one.
func (c *editCase) kept(got *dump, from func(leaf string) string) (n int) {
	c.Helper()
	for _, leaf := range got.leaves {
		if old := from(leaf); old != "" {
			got.equal(c.T, c.what, leaf, c.in, old)
			got.sameBytes(c.T, c.what, leaf, c.in, old)
			n++
		}
	}
	return n
}

func (c *editCase) top() field { return c.root.kids[c.r.IntN(len(c.root.kids))] }

// add writes a constant and row numbers into a struct, or to the top; where the struct is null they are null.
func (c *editCase) add() {
	mixed := 0
	defer func() {
		if mixed > 0 {
			c.mixed++
		}
	}()
	parent, at, max := "", "", 0
	if f := c.top(); f.kind == reflect.Struct {
		parent, at = f.name+".", f.name+"\x1f"
		if f.null {
			max = 1
		}
	}
	got := c.run("add", parent+"agent_name=tool_agent", parent+"row=@row", "--index-start=3")
	if n := c.kept(got, func(leaf string) string {
		if leaf == at+"agent_name" || leaf == at+"row" {
			return ""
		}
		return leaf
	}); n != len(c.in.leaves) {
		c.Errorf("%s: %d leaves of %d are there", c.what, n, len(c.in.leaves))
	}
	for i := range c.in.rows[c.in.leaves[0]] {
		null := false
		for _, leaf := range c.in.leaves {
			if at != "" && strings.HasPrefix(leaf, at) {
				null = c.in.rows[leaf][i][0].def < max
			}
		}
		for leaf, value := range map[string]string{at + "agent_name": "tool_agent", at + "row": strconv.Itoa(3 + i)} {
			want := entry{0, got.def[leaf], value}
			if null {
				want = entry{0, 0, ""}
			}
			if got.mixed[leaf] {
				mixed++
				continue
			}
			if rows := got.rows[leaf]; len(rows) <= i || !slices.Equal(rows[i], []entry{want}) {
				c.Errorf("%s: %q: %d rows, row %d is %v, wanted %v", c.what, leaf, len(rows), i, rows[min(i, len(rows)-1)], want)
				return
			}
		}
	}
}

func (c *editCase) rename() {
	f := c.top()
	old, to := f.name, "renamed"
	for f.kind == reflect.Struct && c.r.IntN(2) == 0 {
		f = f.kids[c.r.IntN(len(f.kids))]
		old, to = old+"."+f.name, old+".renamed"
	}
	got := c.run("rename", old+"="+to)
	a, b := strings.ReplaceAll(old, ".", "\x1f")+"\x1f", strings.ReplaceAll(to, ".", "\x1f")+"\x1f"
	if n := c.kept(got, func(leaf string) string {
		if rest, ok := strings.CutPrefix(leaf+"\x1f", b); ok {
			return strings.TrimSuffix(a+rest, "\x1f")
		}
		return leaf
	}); n != len(c.in.leaves) {
		c.Errorf("%s: %d leaves of %d are there", c.what, n, len(c.in.leaves))
	}
}

func (c *editCase) drop() {
	f := c.top()
	path := f.name
	if f.kind == reflect.Struct && len(f.kids) > 1 {
		path += "." + f.kids[c.r.IntN(len(f.kids))].name
	}
	got := c.run("drop", path)
	c.partition(got, strings.ReplaceAll(path, ".", "\x1f"), false)
}

func (c *editCase) pick() {
	f := c.top()
	path := f.name
	if f.kind == reflect.Struct {
		path += "." + f.kids[c.r.IntN(len(f.kids))].name
	}
	got := c.run("select", path)
	c.partition(got, strings.ReplaceAll(path, ".", "\x1f"), true)
}

// partition sees that just the leaves below at are there, or just the others.
func (c *editCase) partition(got *dump, at string, below bool) {
	c.Helper()
	var want []string
	for _, leaf := range c.in.leaves {
		if strings.HasPrefix(leaf+"\x1f", at+"\x1f") == below {
			want = append(want, leaf)
		}
	}
	if !slices.Equal(got.leaves, want) {
		c.Errorf("%s: leaves %q, wanted %q", c.what, got.leaves, want)
	}
	c.kept(got, func(leaf string) string { return leaf })
}

func (c *editCase) reshard() {
	rows := len(c.in.rows[c.in.leaves[0]])
	size := fmt.Sprintf("--shards=%d", 1+c.r.IntN(min(rows, 4)))
	if c.r.IntN(2) == 0 {
		size = fmt.Sprintf("--shard-rows=%d", max(1+c.r.IntN(rows), rows/10))
	}
	status, said, errs := mainInProcess("reshard", c.name, "-o", c.out, size, "--json")
	if status != 0 {
		c.Fatalf("%s: exit %d: %s", size, status, errs)
	}
	var sum edit.ReshardSummary
	if err := json.Unmarshal([]byte(said), &sum); err != nil {
		c.Fatal(err)
	}
	var files []string
	for _, f := range sum.Files {
		files = append(files, filepath.Join(c.out, f.Name))
	}
	got := dumpFile(c.T, files...)
	for _, leaf := range c.in.leaves {
		got.equal(c.T, size, leaf, c.in, leaf)
		if len(sum.Reencoded) == 0 {
			got.sameBytes(c.T, size, leaf, c.in, leaf)
		}
	}
}
