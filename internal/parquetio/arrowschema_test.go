package parquetio

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"runtime/metrics"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

func storedSchema(t testing.TB, name string) string {
	t.Helper()
	v, ok := openFile(t, sample(name)).Metadata()[arrowSchemaKey]
	if !ok {
		t.Fatalf("%s has no %s", name, arrowSchemaKey)
	}
	return v
}

// Decoded and encoded again, a schema is the same one.
func TestArrowSchemaRoundTrip(t *testing.T) {
	for _, name := range []string{"pyarrow-types", "pyarrow-nested", "polars", "polars-categorical", "datasets-features", "pandas-index", "pyarrow-extension"} {
		s, err := decodeArrowSchema(storedSchema(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		value, err := encodeArrowSchema(s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := decodeArrowSchema(value)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !again.Equal(s) || !again.Metadata().Equal(s.Metadata()) {
			t.Errorf("%s:\n%s\nbecame\n%s", name, s, again)
		}
	}
}

// What newArrowSchema makes of columns that did not change is what the file has, but for what Parquet cannot hold.
func TestArrowSchemaOfUnchangedColumns(t *testing.T) {
	for _, name := range []string{"pyarrow-types", "pyarrow-nested", "polars", "datasets-features", "pandas-index", "pyarrow-extension"} {
		f := openFile(t, sample(name))
		value, ok := newArrowSchema(f.Schema(), f.arrow, f.meta.keyValues)
		if !ok {
			t.Fatalf("%s: no schema", name)
		}
		got, err := decodeArrowSchema(value)
		if err != nil {
			t.Fatal(err)
		}
		for i, field := range got.Fields() {
			was := f.arrow.Field(i)
			switch field.Name {
			case "date64", "t_s", "ts_s": // read back in the unit that is stored
				continue
			}
			if field.Name != was.Name || !arrow.TypeEqual(field.Type, was.Type, arrow.CheckMetadata()) || !field.Metadata.Equal(was.Metadata) {
				t.Errorf("%s: %s, was %s", name, field, was)
			}
		}
		if !got.Metadata().Equal(f.arrow.Metadata()) {
			t.Errorf("%s: metadata %v, was %v", name, got.Metadata(), f.arrow.Metadata())
		}
	}
}

// One flipped bit in a count made Arrow's decoder ask for 47 GB, and out of memory cannot be recovered from. With every bit
// flipped in turn, no decoding may allocate much more than the message is long.
func TestFlippedArrowSchemaBits(t *testing.T) {
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for _, name := range []string{"pyarrow-nested", "polars-categorical", "pandas-index"} {
		raw, err := base64.StdEncoding.DecodeString(storedSchema(t, name))
		if err != nil {
			t.Fatal(err)
		}
		decoded := 0
		metrics.Read(allocated)
		last := allocated[0].Value.Uint64()
		for i := range len(raw) * 8 {
			raw[i/8] ^= 1 << (i % 8)
			if _, err := decodeArrowSchema(base64.StdEncoding.EncodeToString(raw)); err == nil {
				decoded++
			}
			raw[i/8] ^= 1 << (i % 8)
			metrics.Read(allocated)
			if now := allocated[0].Value.Uint64(); now-last > 4<<20 {
				t.Fatalf("%s: bit %d: %d bytes allocated", name, i, now-last)
			}
			last = allocated[0].Value.Uint64()
		}
		if decoded == 0 || decoded == len(raw)*8 {
			t.Errorf("%s: %d of %d decoded: the test does not bite", name, decoded, len(raw)*8)
		}
	}
}

// Offsets may point to one thing twice: a few hundred bytes describe a tree of 2^60 fields, a chain of them one of any depth.
func TestEndlessArrowSchema(t *testing.T) {
	for name, c := range map[string]struct{ depth, width int }{"wide": {60, 2}, "deep": {5000, 1}} {
		b := schemaMessage(c.depth, c.width)
		if err := checkSchemaMessage(b); err == nil {
			t.Errorf("%s: %d bytes were taken", name, len(b))
		}
	}
	if err := checkSchemaMessage(schemaMessage(3, 1)); err != nil {
		t.Errorf("the test's own message is refused: %v", err)
	}
}

// schemaMessage makes a message with a schema whose field has depth fields below each other, each width times.
func schemaMessage(depth, width int) []byte {
	u16 := func(b []byte, v ...int) []byte {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint16(b, uint16(x))
		}
		return b
	}
	u32 := func(b []byte, v ...int) []byte {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		}
		return b
	}
	// A vtable stands before its table, so the offset back to it is its size.
	b := u32(nil, 16)
	b = u16(b, 12, 12, 0, 8, 4, 0)            // Message: header_type, header
	b = append(u32(b, 12, 20, 1), 0, 0, 0, 0) // header 20 bytes on, type 1: Schema
	b = u16(b, 8, 8, 0, 4)                    // Schema: fields
	b = u32(b, 8, 4)
	for i := range depth + 1 {
		// a vector of fields: each is a vtable of 16 bytes, then the table
		n := 1
		if i > 0 {
			n = width
		}
		b = u32(b, n)
		for k := range n {
			b = u32(b, 4*(n-k)+16)
		}
		children := 4
		if i == depth {
			children = 0
		}
		b = u16(b, 16, 16, 0, 0, 12, 8, 0, children) // Field: type's kind, type, children
		b = u32(b, 16, 20, 12, 1)                    // children 20 bytes on, behind the type, which is 12 bytes on: Null
		b = u32(u16(b, 4, 4), 4)
	}
	return b
}

func FuzzArrowSchema(f *testing.F) {
	for _, name := range []string{"pyarrow-nested", "pyarrow-types", "polars-categorical", "pandas-index", "datasets-features"} {
		raw, err := base64.StdEncoding.DecodeString(storedSchema(f, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := decodeArrowSchema(base64.StdEncoding.EncodeToString(raw))
		if err == nil && s == nil {
			t.Fatal("neither a schema nor an error")
		}
	})
}

// A type that Arrow does not know, no type, and integers of other widths: Arrow makes no schema of these.
func TestArrowSchemaTypes(t *testing.T) {
	good := schemaMessage(0, 1)
	kind := len(good) - 12 // behind it, the table of the type
	for _, to := range []byte{flatInt, flatLast + 1, 0} {
		b := bytes.Clone(good)
		b[kind] = to
		if err := checkSchemaMessage(b); err == nil {
			t.Errorf("a field of kind %d is taken", to)
		}
	}
	if err := checkSchemaMessage(good); err != nil {
		t.Error(err)
	}
}

// An ARROW:schema that is not of this file says nothing.
func TestForeignArrowSchemaIsIgnored(t *testing.T) {
	foreign := storedSchema(t, "polars")
	for _, value := range []string{foreign, "not base64!", "", base64.StdEncoding.EncodeToString([]byte("\xff\xff\xff\xff\x10\x00\x00\x00abcd"))} {
		name := refooter(t, sample("pandas-index"), func(footer []byte) []byte {
			kv := encodeKeyValues([]KeyValue{{Key: arrowSchemaKey, Value: value}})
			return rewrite(t, footer, thrift.Edit{ID: 5, Type: thrift.List, Raw: kv})
		})
		f := openFile(t, name)
		if f.arrow != nil {
			t.Errorf("%.20q was applied", value)
		}
		out := fileEdit{}.apply(t, f)
		if _, ok := out.Metadata()[arrowSchemaKey]; ok {
			t.Errorf("%.20q was written again", value)
		}
	}
}
