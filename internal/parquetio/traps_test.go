package parquetio

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/rlprep/rlprep/internal/parquetio/arrowschema"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

// The traps that other tools fall into when they rewrite footers, one test each.

// parquet-go's structs write a null_count that was absent as 0; DuckDB and Polars then find no row for IS NULL.
func TestTrapFooterWithoutNullCountStaysWithout(t *testing.T) {
	noNulls := func(meta []byte) []byte {
		stats := rewrite(t, rawFields(t, meta)[12], thrift.Edit{ID: 3})
		return rewrite(t, meta, thrift.Edit{ID: 12, Type: thrift.Struct, Raw: stats})
	}
	name := refooter(t, sample("duckdb-nulls"), func(footer []byte) []byte { return mapChunks(t, footer, noNulls) })
	in := openFile(t, name)
	out := withColumn(in, 1, "agent_name", schema.TextValue("tool_agent")).apply(t, in)
	c := out.chunk(0, out.leafAt(t, "s"))
	if in.chunk(0, 0).nulls != -1 || c.nulls != -1 {
		t.Fatalf("null count %d in the source, %d in the copy; want -1, not said", in.chunk(0, 0).nulls, c.nulls)
	}
	if _, ok := rawFields(t, c.stats.Of(out.footer))[3]; ok {
		t.Error("the copy has a null_count field")
	}
	if got, err := out.Chunk(0, out.leafAt(t, "s")); err != nil || got.Nulls != -1 {
		t.Errorf("Chunk: %d nulls, %v; want -1", got.Nulls, err)
	}
}

// A field of the footer that is newer than any reader here must survive at every level.
func TestTrapUnknownFooterFieldsSurvive(t *testing.T) {
	mark := thrift.Edit{ID: 99, Type: thrift.Binary, Raw: []byte("from the future")}
	name := refooter(t, sample("pyarrow-page-index"), func(footer []byte) []byte {
		footer = mapChunks(t, footer, func(meta []byte) []byte {
			stats := rewrite(t, rawFields(t, meta)[12], mark)
			return rewrite(t, meta, thrift.Edit{ID: 12, Type: thrift.Struct, Raw: stats}, mark)
		})
		groups := mapList(t, rawFields(t, footer)[4], func(_ int, g []byte) []byte {
			columns := mapList(t, rawFields(t, g)[1], func(_ int, c []byte) []byte { return rewrite(t, c, mark) })
			return rewrite(t, g, thrift.Edit{ID: 1, Type: thrift.List, Raw: columns}, mark)
		})
		elements := mapList(t, rawFields(t, footer)[2], func(_ int, e []byte) []byte { return rewrite(t, e, mark) })
		return rewrite(t, footer, thrift.Edit{ID: 2, Type: thrift.List, Raw: elements}, thrift.Edit{ID: 4, Type: thrift.List, Raw: groups}, mark)
	})
	in := openFile(t, name)
	want := bytes.Count(in.footer, mark.Raw)
	if min := 1 + len(in.groups)*(1+3*len(in.leaves)); want < min {
		t.Fatalf("%d marks in the source, want at least %d", want, min)
	}
	out := withColumn(in, 2, "agent_name", schema.TextValue("x")).apply(t, in)
	if got := bytes.Count(out.footer, mark.Raw); got != want {
		t.Errorf("%d of %d unknown fields survived", got, want)
	}
}

// parquet-go slices out of range where column or offset indexes do not stand in one piece.
func TestTrapPageIndexesStandInOnePiece(t *testing.T) {
	in := openFile(t, sample("pyarrow-page-index"))
	out := withColumn(in, 1, "agent_name", schema.TextValue("tool_agent")).apply(t, in)
	var columns, offsets []section
	for i := range out.chunks {
		columns, offsets = append(columns, out.chunks[i].columnIndex), append(offsets, out.chunks[i].offsetIndex)
	}
	for _, kind := range [][]section{columns, offsets} {
		at := kind[0].offset
		for i, s := range kind {
			if s.length == 0 || s.offset != at {
				t.Fatalf("index %d at %d with %d bytes, the one before ends at %d", i, s.offset, s.length, at)
			}
			at += s.length
		}
	}
	pq, err := out.parquet() // with its page index: it panicked here
	if err != nil {
		t.Fatal(err)
	}
	for rg, g := range pq.RowGroups() {
		for leaf, c := range g.ColumnChunks() {
			seekAndCompare(t, out, rg, leaf, c)
		}
	}
}

// seekAndCompare reads a leaf from a row in the middle on, which parquet-go finds by the offset index.
func seekAndCompare(t *testing.T, f *File, rg, leaf int, c parquet.ColumnChunk) {
	t.Helper()
	rows := f.groups[rg].Rows
	want := readAll(t, f, rg, rows/2, rows-rows/2, func() int { return 1 << 20 })[leaf]
	pages := c.Pages()
	defer pages.Close()
	if err := pages.SeekToRow(rows / 2); err != nil {
		t.Fatal(err)
	}
	var got leafDump
	for {
		p, err := pages.ReadPage()
		if err != nil {
			break
		}
		values := make([]parquet.Value, p.NumValues())
		n, _ := p.Values().ReadValues(values)
		for _, v := range values[:n] {
			got.def, got.rep = append(got.def, byte(v.DefinitionLevel())), append(got.rep, byte(v.RepetitionLevel()))
			if !v.IsNull() {
				got.values = append(got.values, v.AppendBytes(nil))
			}
		}
	}
	if d := got.diff(&want); d != "" {
		t.Errorf("row group %d: column %s from row %d: %s", rg, f.leaves[leaf].Path, rows/2, d)
	}
}

// Arrow C++ applies a stored ARROW:schema by position when its number of fields is right: after a drop and an add, or a
// rename, a stale one would describe the wrong columns.
func TestTrapArrowSchemaFollowsDropAndAdd(t *testing.T) {
	in := openFile(t, sample("pyarrow-types"))
	s := in.Schema().Clone()
	_, at := s.Column("lstr") // large_string: only ARROW:schema tells it from string
	s.Fields = append(s.Fields[:at:at], s.Fields[at+1:]...)
	s.Fields = append(s.Fields, schema.NewField("agent_name", schema.StringType))
	_, at = s.Column("cat")
	s.Fields[at].Name = "category"
	e := fileEdit{schema: s, from: map[schema.Path]schema.Path{"category": "cat"},
		consts: map[schema.Path]schema.Value{"agent_name": schema.TextValue("tool_agent")}}
	out := e.apply(t, in)

	stored, err := arrowschema.Decode(out.Metadata()[arrowschema.Key])
	if err != nil {
		t.Fatal(err)
	}
	if stored.NumFields() != in.arrow.NumFields() {
		t.Fatalf("%d fields, want %d: the trap is only one with an equal count", stored.NumFields(), in.arrow.NumFields())
	}
	for i, f := range s.Fields {
		got := stored.Field(i)
		if got.Name != f.Name || got.Nullable != f.Nullable {
			t.Errorf("field %d is %s, the column %s", i, got, f)
		}
	}
	for name, want := range map[string]arrow.DataType{"agent_name": arrow.BinaryTypes.String, "lbin": arrow.BinaryTypes.LargeBinary} {
		if i := stored.FieldIndices(name); len(i) != 1 || !arrow.TypeEqual(stored.Field(i[0]).Type, want) {
			t.Errorf("%s is at %v, want one of type %s", name, i, want)
		}
	}
	for i, f := range out.Schema().Fields {
		if f.String() != s.Fields[i].String() {
			t.Errorf("read back as %s, want %s", f, s.Fields[i])
		}
	}
}

// A rewrite through a library's schema lost the key-value metadata of the file.
func TestTrapKeyValueMetadataSurvives(t *testing.T) {
	in := openFile(t, sample("datasets-features"))
	out := withColumn(in, 1, "agent_name", schema.TextValue("x")).apply(t, in)
	was, is := in.Metadata(), out.Metadata()
	for k := range was {
		if _, ok := is[k]; !ok {
			t.Errorf("key %q is gone", k)
		}
	}
	stored, err := arrowschema.Decode(is[arrowschema.Key])
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := stored.Metadata().GetValue(hfKey); v != is[hfKey] {
		t.Errorf("ARROW:schema has its own stale copy of %q:\n%s\n%s", hfKey, v, is[hfKey])
	}
}

// parquet-go writes "" in an optional string as null.
func TestTrapEmptyStringIsNoNull(t *testing.T) {
	in := openFile(t, sample("pyarrow-v1-zstd"))
	out := withColumn(in, 0, "suffix", schema.TextValue("")).apply(t, in)
	for rg, g := range out.groups {
		d := readByParquetGo(t, out, rg, 0)
		if len(d.values) != int(g.Rows) {
			t.Errorf("row group %d: %d values that are not null, want %d", rg, len(d.values), g.Rows)
		}
	}
}

// Older Arrow wrote a repetition for the root, which other readers take for a column's.
func TestTrapRootHasNoRepetition(t *testing.T) {
	tree, err := physicalSchema(&schema.Schema{Fields: []schema.Field{schema.NewField("a", schema.StringType)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := thrift.Scanner{Buf: tree.elements}
	s.ListOf(thrift.Struct)
	if _, ok := rawFields(t, s.StructSpan().Of(tree.elements))[3]; ok {
		t.Error("the root of a new file has a repetition")
	}
}

// Chunks of a row group that stand far from each other defeat readers that split files or read ahead.
func TestTrapChunksOfARowGroupStandTogether(t *testing.T) {
	in := openFile(t, sample("pyarrow-many-groups"))
	out := withColumn(in, 1, "agent_name", schema.TextValue("x")).apply(t, in)
	at := int64(len(magic))
	for i := range out.chunks {
		if c := &out.chunks[i]; c.start() != at {
			t.Fatalf("row group %d: column %s begins at %d, the chunk before ends at %d", c.rowGroup, out.leaves[c.leaf].Path, c.start(), at)
		}
		at += out.chunks[i].compressed
	}
}

// Statistics that readers ignore for the version of their writer must not be believed under our name.
func TestTrapStatisticsOfOldWritersAreNotVouchedFor(t *testing.T) {
	for createdBy, distrust := range map[string]bool{
		"parquet-mr version 1.8.1 (build abc)": true, "parquet-mr version 1.9.0": true, "parquet-mr": true, "parquet-cpp version 1.2.0": true,
		"parquet-mr version 1.10.0 (build abc)": false, "parquet-mr version 1.13.1": false, "parquet-cpp version 1.5.1-SNAPSHOT": false,
		"parquet-cpp-arrow version 26.0.1": false, "DuckDB version v1.4.0 (build 1)": false, "Polars": false, "": false,
	} {
		w := parseCreatedBy(createdBy)
		if got := w.distrusted(); got != distrust {
			t.Errorf("distrusted(%q) = %v", createdBy, got)
		}
	}
	name := refooter(t, sample("pyarrow-v1-snappy"), func(footer []byte) []byte {
		return rewrite(t, footer, thrift.Edit{ID: 6, Type: thrift.Binary, Raw: []byte("parquet-mr version 1.8.1 (build abc)")})
	})
	in := openFile(t, name)
	out := fileEdit{}.apply(t, in)
	for i := range out.chunks {
		c := &out.chunks[i]
		fields := rawFields(t, c.stats.Of(out.footer))
		for _, id := range []int16{1, 2, 5, 6, 7, 8} {
			if _, ok := fields[id]; ok {
				t.Errorf("column %s still has field %d of Statistics", out.leaves[c.leaf].Path, id)
			}
		}
		if c.nulls != in.chunks[i].nulls {
			t.Errorf("column %s: null count %d, was %d", out.leaves[c.leaf].Path, c.nulls, in.chunks[i].nulls)
		}
	}
}

// min_value and max_value mean nothing without column_orders; a file that had none must not get some.
func TestTrapColumnOrdersAreNotInvented(t *testing.T) {
	name := refooter(t, sample("pyarrow-v1-snappy"), func(footer []byte) []byte { return rewrite(t, footer, thrift.Edit{ID: 7}) })
	in := openFile(t, name)
	out := withColumn(in, 0, "agent_name", schema.TextValue("x")).apply(t, in)
	if n := len(out.meta.orders); n != 0 {
		t.Errorf("%d column orders were made up", n)
	}
	in = openFile(t, sample("pyarrow-v1-snappy"))
	out = withColumn(in, 0, "agent_name", schema.TextValue("x")).apply(t, in)
	if n := len(out.meta.orders); n != len(out.leaves) {
		t.Errorf("%d column orders for %d columns", n, len(out.leaves))
	}
}

// Spark takes a stale copy of its schema for the file's own, and does not see the new column.
func TestTrapSparkSchemaGoesWhenColumnsChange(t *testing.T) {
	key := "org.apache.spark.sql.parquet.row.metadata"
	name := refooter(t, sample("pyarrow-v1-snappy"), func(footer []byte) []byte {
		kv := encodeKeyValues([]KeyValue{{Key: key, Value: "{}"}, {Key: "mine", Value: strings.Repeat("x", 40)}, {Key: "none", NoValue: true}})
		return rewrite(t, footer, thrift.Edit{ID: 5, Type: thrift.List, Raw: kv})
	})
	in := openFile(t, name)
	if _, ok := (fileEdit{}).apply(t, in).Metadata()[key]; !ok {
		t.Error("it went although the columns are the same")
	}
	out := withColumn(in, 0, "agent_name", schema.TextValue("x")).apply(t, in)
	if _, ok := out.Metadata()[key]; ok {
		t.Error("it stayed although the columns changed")
	}
	if kv := out.meta.keyValues; len(kv) != 2 || kv[0].Key != "mine" || kv[1].Key != "none" || !kv[1].NoValue {
		t.Errorf("other entries changed: %+v", kv)
	}
}
