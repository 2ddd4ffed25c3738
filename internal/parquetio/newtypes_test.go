package parquetio

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// Types that Arrow has no word for, or that it reads in its own way: as pyarrow 26 shows them.
func TestForeignTypes(t *testing.T) {
	for _, tt := range []struct {
		file, column, want, name string
	}{
		{"interval-converted", "x", "fixed_size_binary[12]", "interval"},
		{"java_types_v1", "x_interval", "fixed_size_binary[12]", schema.UnknownName},
		{"empty-logical-type", "x", "binary", ""},
		{"future-logical-type", "x", "binary", ""},
		{"geography", "x", "binary", "geography"},
		{"geometry-by-duckdb", "g", "binary", "geometry"},
		{"geoparquet-by-duckdb", "g", "binary", ""},
		{"variant-by-duckdb", "v", "struct<metadata: binary not null, value: binary, typed_value: struct<b: struct<value: binary, typed_value: string> not null, a: struct<value: binary, typed_value: int32> not null>>", ""},
	} {
		f := openFile(t, filepath.Join("../../testdata/parquet/hostile", tt.file+".parquet"))
		field, at := f.Schema().Column(tt.column)
		if at < 0 || field.Type.String() != tt.want || field.Type.Name != tt.name {
			t.Errorf("%s: %s is %s (%q), want %s (%q)", tt.file, tt.column, field.Type, field.Type.Name, tt.want, tt.name)
		}
	}
}

// Rows that are decoded and written again keep the values and the schema elements, as the raw copy does; of values without an order there
// are no bounds.
func TestForeignTypesAreEncoded(t *testing.T) {
	for _, name := range []string{"interval-converted", "java_types_v1", "empty-logical-type", "future-logical-type", "geography", "geometry-by-duckdb", "variant-by-duckdb", "brotli-by-duckdb", "brotli-by-polars"} {
		in := openFile(t, filepath.Join("../../testdata/parquet/hostile", name+".parquet"))
		out := recoded(t, in)
		sameContent(t, name, out, in)
		for i := range in.meta.elements {
			if a, b := in.meta.elements[i].raw.Of(in.footer), out.meta.elements[i].raw.Of(out.footer); string(a) != string(b) {
				t.Errorf("%s: schema element %d is %x, was %x", name, i, b, a)
			}
		}
		for i, l := range out.leaves {
			n := l.Type.Name
			_, bounded := rawFields(t, out.chunk(0, i).stats.Of(out.footer))[5]
			if (n == "interval" || n == schema.UnknownName || strings.HasPrefix(n, "geo") || strings.HasPrefix(n, "logical")) && bounded {
				t.Errorf("%s: column %s has bounds", name, l.Path)
			}
		}
	}
}

// recoded decodes every row of in and writes it again.
func recoded(t *testing.T, in *File) *File {
	t.Helper()
	out := discardFile(t)
	w, err := NewWriter(out, in.Schema(), WriterOptions{Base: in})
	if err != nil {
		t.Fatal(err)
	}
	enc := NewEncoder(in.Schema(), EncoderOptions{Codec: Zstd})
	leaves := make([]int, len(in.leaves))
	for i := range leaves {
		leaves[i] = i
	}
	for rg, g := range in.groups {
		r, err := in.Reader(rg, leaves, 0, g.Rows)
		if err != nil {
			t.Fatal(err)
		}
		vectors, err := r.Next(int(g.Rows))
		if err != nil {
			t.Fatal(err)
		}
		b := &record.Batch{Schema: in.Schema(), Rows: int(g.Rows), File: in.Name(), RowGroup: rg}
		for i, l := range in.leaves {
			b.Leaves = append(b.Leaves, record.Leaf{Leaf: l, Vec: vectors[i]})
		}
		writeRowGroup(t, w, enc, b)
		r.Close()
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return openFile(t, out.Name())
}

// GeoParquet names its columns in metadata of the file.
func TestGeoMetadataFollowsTheColumns(t *testing.T) {
	in := openFile(t, "../../testdata/parquet/hostile/geoparquet-by-duckdb.parquet")
	was := in.Metadata()[geoKey]
	if got := withColumn(in, 1, "note", schema.TextValue("x")).apply(t, in).Metadata()[geoKey]; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(was, " ", "") {
		t.Errorf("a column more: %s, was %s", got, was)
	}
	s := in.Schema().Clone()
	_, at := s.Column("g")
	s.Fields[at].Name = "place"
	out := fileEdit{schema: s, from: map[schema.Path]schema.Path{"place": "g"}}.apply(t, in)
	if got := out.Metadata()[geoKey]; !strings.Contains(got, `"primary_column": "place"`) || !strings.Contains(got, `"columns": {"place": {"encoding":"WKB"`) {
		t.Errorf("renamed: %s", got)
	}
	s = in.Schema().Clone()
	s.Fields = append(s.Fields[:at:at], s.Fields[at+1:]...)
	if got, ok := (fileEdit{schema: s}).apply(t, in).Metadata()[geoKey]; ok {
		t.Errorf("dropped: %s", got)
	}
}

// A column that is annotated as null and has values is refused where they would be encoded, and is copied.
func TestNullsThatAreNone(t *testing.T) {
	in := openFile(t, "../../testdata/parquet/hostile/unknown-int32.parquet")
	r, err := in.Reader(0, []int{0}, 0, in.NumRows())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.Next(10)
	if err != nil {
		t.Fatal(err)
	}
	b := &record.Batch{Schema: in.Schema(), Rows: v[0].Rows, File: in.Name(), Leaves: []record.Leaf{{Leaf: in.leaves[0], Vec: v[0]}}}
	err = NewEncoder(in.Schema(), EncoderOptions{}).Append(b)
	if !isFormat(err) || !strings.Contains(err.Error(), "its type is null, but the values are int32") {
		t.Errorf("got %v", err)
	}
	(fileEdit{}).apply(t, in)
}
