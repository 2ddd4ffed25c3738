package parquetio

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio/arrowschema"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

// withKeys writes a copy of the file whose key-value metadata is what change makes of it.
func withKeys(t testing.TB, name string, change func([]KeyValue) []KeyValue) string {
	t.Helper()
	kv := openFile(t, name).meta.keyValues
	return refooter(t, name, func(footer []byte) []byte {
		return rewrite(t, footer, thrift.Edit{ID: 5, Type: thrift.List, Raw: encodeKeyValues(change(slices.Clone(kv)))})
	})
}

// repeatKeys puts every key twice, the second time with another value where other says so, and keys of the user around them.
func repeatKeys(kv []KeyValue, other func(KeyValue) KeyValue) []KeyValue {
	out := []KeyValue{{Key: "mine", Value: "first"}}
	for _, e := range kv {
		out = append(out, e, KeyValue{Key: "between", Value: e.Key}, other(e))
	}
	return append(out, KeyValue{Key: "mine", Value: "last"}, KeyValue{Key: "none", NoValue: true})
}

// Keys of one name are no fault of the format. None may take the place, or the value, of another.
func TestRepeatedKeys(t *testing.T) {
	same := func(e KeyValue) KeyValue { return e }
	rotten := func(e KeyValue) KeyValue { return KeyValue{Key: e.Key, Value: "another writer's"} }
	for _, name := range []string{"pyarrow-nested", "datasets-features", "pandas-index", "polars"} {
		for kind, other := range map[string]func(KeyValue) KeyValue{"same": same, "rotten": rotten} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				in := openFile(t, withKeys(t, sample(name), func(kv []KeyValue) []KeyValue { return repeatKeys(kv, other) }))
				edits := map[string]fileEdit{"copied": {hf: HFKeep}, "more": withColumn(in, 1, "agent_name", schema.TextValue("x"))}
				for what, e := range edits {
					checkKeys(t, what, in, e.apply(t, in))
				}
			})
		}
	}
}

// checkKeys compares the keys of a rewritten file with those of its source.
func checkKeys(t *testing.T, what string, in, out *File) {
	t.Helper()
	of := func(f *File, key string) (values []string) {
		for _, kv := range f.meta.keyValues {
			if kv.Key == key {
				values = append(values, kv.Value)
			}
		}
		return values
	}
	for _, key := range []string{"mine", "between", "none"} {
		if got, want := of(out, key), of(in, key); !slices.Equal(got, want) {
			t.Errorf("%s: key %q has values %q, want %q", what, key, got, want)
		}
	}
	arrow := of(out, arrowschema.Key)
	if n := len(of(in, arrowschema.Key)); in.arrow != nil && len(arrow) != n {
		t.Fatalf("%s: %d entries ARROW:schema of %d", what, len(arrow), n)
	}
	if in.arrow != nil && out.arrow == nil {
		t.Errorf("%s: ARROW:schema does not fit the columns", what)
	}
	if what != "copied" && len(arrow) > 1 && arrow[0] != arrow[1] {
		t.Errorf("%s: the columns changed, and the second ARROW:schema still describes others", what)
	}
	if what == "copied" && len(arrow) > 1 && arrow[1] != of(in, arrowschema.Key)[1] {
		t.Errorf("%s: nothing changed but the second ARROW:schema", what)
	}
}

// The files with two ARROW:schema keys that made versions before panic, or overwrite the key behind them.
func TestRepeatedArrowSchemaOfAnotherWriter(t *testing.T) {
	for _, name := range []string{"two-arrow-schemas", "two-arrow-schemas-and-a-key"} {
		in := openFile(t, filepath.Join("../../testdata/parquet/hostile", name+".parquet"))
		out := withColumn(in, 0, "agent_name", schema.TextValue("x")).apply(t, in)
		want := slices.DeleteFunc(slices.Clone(in.meta.keyValues), func(kv KeyValue) bool { return kv.Key == arrowschema.Key })
		got := slices.DeleteFunc(slices.Clone(out.meta.keyValues), func(kv KeyValue) bool { return kv.Key == arrowschema.Key })
		if !slices.Equal(got, want) {
			t.Errorf("%s: other keys are %v, want %v", name, got, want)
		}
	}
}

// A key that the caller sets replaces every entry of its name.
func TestMetadataReplacesEveryEntry(t *testing.T) {
	in := openFile(t, withKeys(t, sample("polars"), func(kv []KeyValue) []KeyValue { return repeatKeys(kv, func(e KeyValue) KeyValue { return e }) }))
	w := Writer{schema: in.schema, o: WriterOptions{Base: in, Metadata: []KeyValue{{Key: "mine", Value: "new"}, {Key: "fresh", Value: "new"}}}}
	var got []string
	for _, kv := range w.keyValues() {
		if kv.Key == "mine" || kv.Key == "fresh" {
			got = append(got, kv.Key+"="+kv.Value)
		}
	}
	if want := "mine=new mine=new fresh=new"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

// twice returns the struct src with every field there twice: first with another value of its type, then as it was.
func twice(t testing.TB, src []byte, below map[int16]func([]byte) []byte) []byte {
	t.Helper()
	s := thrift.Scanner{Buf: src}
	var w thrift.StructWriter
	var out []byte
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		at := s.At
		s.Skip(typ, 0)
		value := src[at:s.At]
		if change := below[id]; change != nil {
			value = change(value)
		}
		if other := otherValue(typ, value); other != nil {
			out = append(w.Field(out, id, typ), other...)
		}
		out = append(w.Field(out, id, typ), value...)
	}
	if s.Err != nil {
		t.Fatal(s.Err)
	}
	return w.Stop(out)
}

// otherValue is another value of the type, of another length.
func otherValue(typ byte, value []byte) []byte {
	switch typ {
	case thrift.I16, thrift.I32, thrift.I64:
		return thrift.AppendInt(nil, 8)
	case thrift.Binary:
		return thrift.AppendBytes(nil, "something that is longer than the other "+strings.Repeat("x", len(value)))
	case thrift.List:
		return thrift.AppendList(nil, thrift.Struct, 0)
	case thrift.Struct:
		return []byte{thrift.Stop}
	}
	return nil
}

// repeatFields repeats the fields of every struct of a footer.
func repeatFields(t testing.TB, footer []byte) []byte {
	t.Helper()
	list := func(change func([]byte) []byte) func([]byte) []byte {
		return func(b []byte) []byte { return mapList(t, b, func(_ int, e []byte) []byte { return change(e) }) }
	}
	of := func(below map[int16]func([]byte) []byte) func([]byte) []byte {
		return func(b []byte) []byte { return twice(t, b, below) }
	}
	plain := of(nil)
	meta := of(map[int16]func([]byte) []byte{12: plain})
	chunk := of(map[int16]func([]byte) []byte{3: meta})
	group := of(map[int16]func([]byte) []byte{1: list(chunk), 4: list(plain)})
	return of(map[int16]func([]byte) []byte{2: list(plain), 4: list(group), 5: list(plain)})(footer)
}

// Of a field that is there twice the last one counts, when it is read and when it is written again.
func TestRepeatedFields(t *testing.T) {
	for _, name := range []string{"pyarrow-nested", "pyarrow-page-index", "pyarrow-sorted", "pyarrow-bloom", "datasets", "duckdb", "polars", "pyarrow-many-groups"} {
		t.Run(name, func(t *testing.T) {
			want := openFile(t, sample(name))
			hostile := refooter(t, sample(name), func(b []byte) []byte { return repeatFields(t, b) })
			defer func(n int) { keptGroups = n }(keptGroups)
			for _, keptGroups = range []int{1, 16 << 10} {
				in := openFile(t, hostile)
				sameContent(t, "read", in, want)
				e := withColumn(in, 1, "agent_name", schema.TextValue("x"))
				out := e.apply(t, in)
				plain := fileEdit{schema: in.Schema()}
				for i := range plain.schema.Leaves() {
					if !CanMove(out.Raw(0, out.leafAt(t, in.leaves[i].Path)), in.leaves[i], 0, true) {
						t.Errorf("leaf %s is another in the copy", in.leaves[i].Path)
					}
				}
				sameContent(t, "copied", plain.apply(t, in), want)
			}
		})
	}
}

// sameContent compares columns, keys and values.
func sameContent(t *testing.T, what string, got, want *File) {
	t.Helper()
	if g, w := fmt.Sprint(got.Schema()), fmt.Sprint(want.Schema()); g != w {
		t.Fatalf("%s: schema %s, want %s", what, g, w)
	}
	if len(got.groups) != len(want.groups) || got.NumRows() != want.NumRows() {
		t.Fatalf("%s: %d row groups, %d rows; want %d, %d", what, len(got.groups), got.NumRows(), len(want.groups), want.NumRows())
	}
	for rg, g := range want.groups {
		a := readAll(t, got, rg, 0, g.Rows, func() int { return 1 << 20 })
		b := readAll(t, want, rg, 0, g.Rows, func() int { return 1 << 20 })
		for i := range b {
			if d := a[i].diff(&b[i]); d != "" {
				t.Fatalf("%s: row group %d: column %s: %.300s", what, rg, want.leaves[i].Path, d)
			}
		}
	}
}

// Two lists of column chunks in one row group: the chunks of the first must not stand for columns of the second.
func TestRepeatedColumnLists(t *testing.T) {
	name := refooter(t, sample("polars"), func(footer []byte) []byte {
		groups := mapList(t, rawFields(t, footer)[4], func(_ int, g []byte) []byte {
			columns := rawFields(t, g)[1]
			s := thrift.Scanner{Buf: columns}
			n := s.ListOf(thrift.Struct)
			first := s.StructSpan().Of(columns)
			half := append(thrift.AppendList(nil, thrift.Struct, n-1), strings.Repeat(string(first), n-1)...)
			one := append(thrift.AppendList(nil, thrift.Struct, 1), first...)
			var w thrift.StructWriter
			b := append(w.Field(nil, 1, thrift.List), half...)
			b = append(w.Field(b, 1, thrift.List), one...)
			return w.Stop(w.Int(b, 3, thrift.I64, 1))
		})
		return rewrite(t, footer, thrift.Edit{ID: 4, Type: thrift.List, Raw: groups})
	})
	if _, err := Open(name); err == nil || !strings.Contains(err.Error(), "1 column chunks for") {
		t.Errorf("got %v", err)
	}
}

// A schema element with a field that cannot be written again is an error, not a footer with one element less.
func TestElementWithFieldZero(t *testing.T) {
	name := refooter(t, sample("polars"), func(footer []byte) []byte {
		elements := mapList(t, rawFields(t, footer)[2], func(i int, e []byte) []byte {
			if i != 1 {
				return e
			}
			return append(append([]byte{thrift.I32}, thrift.AppendInt(nil, 0)...), append(thrift.AppendInt(nil, 1), e...)...)
		})
		return rewrite(t, footer, thrift.Edit{ID: 2, Type: thrift.List, Raw: elements})
	})
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "out.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := NewWriter(out, f.Schema(), WriterOptions{Base: f}); err == nil || !strings.HasPrefix(err.Error(), "write ") || !strings.Contains(err.Error(), name) {
		t.Errorf("got %v", err)
	}
}

type panicking struct{}

func (panicking) Name() string              { return "out.parquet" }
func (panicking) Write([]byte) (int, error) { panic("a fault of the writer") }

// Whatever panics behind an exported function is an error that names the file.
func TestPanicsAreErrors(t *testing.T) {
	in := openFile(t, sample("polars"))
	broken := *in
	broken.name, broken.meta.elements = "in.parquet", nil
	_, err := NewWriter(panicking{}, in.Schema(), WriterOptions{Base: &broken})
	checkPanic(t, "NewWriter", err, "in.parquet", "out.parquet")

	w, err := NewWriter(discard{}, in.Schema(), WriterOptions{Base: in})
	if err != nil {
		t.Fatal(err)
	}
	enc := NewEncoder(in.Schema(), EncoderOptions{})
	b := fileEdit{schema: in.Schema()}.batch(t, in, 0)
	if err := enc.Append(b); err != nil {
		t.Fatal(err)
	}
	g, err := enc.Finish()
	if err != nil {
		t.Fatal(err)
	}
	w.tree.leaves = nil
	err = w.Write(g)
	checkPanic(t, "Write", err, in.name, "out.parquet")
	_, err = w.Close()
	checkPanic(t, "Close after Write", err, in.name)

	for i := range b.Leaves {
		b.Leaves[i].Raw.Chunk = &Chunk{}
	}
	if err := enc.Append(b); err != nil {
		t.Fatal(err)
	}
	_, err = enc.Finish()
	checkPanic(t, "Finish", err, in.name)
}

// discardFile is a file in a folder that the test removes.
func discardFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func isFormat(err error) bool { return errors.Is(err, ErrFormat) }

type discard struct{}

func (discard) Name() string                { return "out.parquet" }
func (discard) Write(b []byte) (int, error) { return len(b), nil }

func checkPanic(t *testing.T, what string, err error, names ...string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("%s: %v", what, err)
		return
	}
	for _, n := range names {
		if !strings.Contains(err.Error(), n) {
			t.Errorf("%s: %q is not named: %v", what, n, err)
		}
	}
}
