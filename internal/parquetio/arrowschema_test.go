package parquetio

import (
	"encoding/base64"
	"runtime/metrics"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rlprep/rlprep/internal/parquetio/arrowschema"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

func storedSchema(t testing.TB, name string) string {
	t.Helper()
	v, ok := openFile(t, sample(name)).Metadata()[arrowschema.Key]
	if !ok {
		t.Fatalf("%s has no %s", name, arrowschema.Key)
	}
	return v
}

// Decoded and encoded again, a schema is the same one.
func TestArrowSchemaRoundTrip(t *testing.T) {
	for _, name := range []string{"pyarrow-types", "pyarrow-nested", "polars", "polars-categorical", "datasets-features", "pandas-index", "pyarrow-extension"} {
		s, err := arrowschema.Decode(storedSchema(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		value, err := arrowschema.Encode(s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := arrowschema.Decode(value)
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
		got, err := arrowschema.Decode(value)
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
			if _, err := arrowschema.Decode(base64.StdEncoding.EncodeToString(raw)); err == nil {
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

func FuzzArrowSchema(f *testing.F) {
	for _, name := range []string{"pyarrow-nested", "pyarrow-types", "polars-categorical", "pandas-index", "datasets-features"} {
		raw, err := base64.StdEncoding.DecodeString(storedSchema(f, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := arrowschema.Decode(base64.StdEncoding.EncodeToString(raw))
		if err == nil && s == nil {
			t.Fatal("neither a schema nor an error")
		}
	})
}

// An ARROW:schema that is not of this file says nothing.
func TestForeignArrowSchemaIsIgnored(t *testing.T) {
	foreign := storedSchema(t, "polars")
	for _, value := range []string{foreign, "not base64!", "", base64.StdEncoding.EncodeToString([]byte("\xff\xff\xff\xff\x10\x00\x00\x00abcd"))} {
		name := refooter(t, sample("pandas-index"), func(footer []byte) []byte {
			kv := encodeKeyValues([]KeyValue{{Key: arrowschema.Key, Value: value}})
			return rewrite(t, footer, thrift.Edit{ID: 5, Type: thrift.List, Raw: kv})
		})
		f := openFile(t, name)
		if f.arrow != nil {
			t.Errorf("%.20q was applied", value)
		}
		out := fileEdit{}.apply(t, f)
		if _, ok := out.Metadata()[arrowschema.Key]; ok {
			t.Errorf("%.20q was written again", value)
		}
	}
}
