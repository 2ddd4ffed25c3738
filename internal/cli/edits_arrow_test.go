package cli

import (
	"bytes"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	apq "github.com/apache/arrow-go/v18/parquet"
	acompress "github.com/apache/arrow-go/v18/parquet/compress"
	afile "github.com/apache/arrow-go/v18/parquet/file"
	aschema "github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/parquet-go/parquet-go"
)

// rewriteByArrow writes a file anew with arrow-go: the columns and the levels and values of in, what parquet-go found in it, in row
// groups, pages and codecs of its own.
func rewriteByArrow(t *testing.T, r *rand.Rand, name string, in *dump) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	codecs := []acompress.Compression{acompress.Codecs.Uncompressed, acompress.Codecs.Snappy, acompress.Codecs.Gzip, acompress.Codecs.Zstd, acompress.Codecs.Brotli}
	version := []apq.DataPageVersion{apq.DataPageV1, apq.DataPageV2}[r.IntN(2)]
	props := apq.NewWriterProperties(apq.WithCompression(codecs[r.IntN(len(codecs))]), apq.WithDataPageVersion(version), apq.WithDataPageSize([]int64{64, 1000, 1 << 20}[r.IntN(3)]),
		apq.WithBatchSize(1+int64(r.IntN(64))), apq.WithDictionaryDefault(r.IntN(3) > 0), apq.WithStats(r.IntN(4) > 0), apq.WithPageIndexEnabled(r.IntN(2) == 0))
	var out bytes.Buffer
	w, err := afile.NewParquetWriterWithError(&out, aschema.MustGroup(arrowNode(t, f.Root(), "root"), nil), afile.WithWriterProps(props))
	if err != nil {
		t.Fatal(err)
	}
	total := len(in.rows[in.leaves[0]])
	size := 1 + r.IntN(total)
	size = max(size, total/10)
	for start := 0; start < total; start += size {
		g, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, leaf := range in.leaves {
			c, err := g.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			writeEntries(t, c, in.def[leaf], in.rows[leaf][start:min(start+size, total)])
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// arrowNode is a column of parquet-go's in arrow-go's terms.
func arrowNode(t *testing.T, c *parquet.Column, name string) aschema.Node {
	t.Helper()
	rep := apq.Repetitions.Required
	if c.Optional() {
		rep = apq.Repetitions.Optional
	} else if c.Repeated() {
		rep = apq.Repetitions.Repeated
	}
	if !c.Leaf() {
		var kids aschema.FieldList
		for _, k := range c.Columns() {
			kids = append(kids, arrowNode(t, k, k.Name()))
		}
		var logical aschema.LogicalType
		if c.Type().String() == "LIST" {
			logical = aschema.NewListLogicalType()
		}
		return aschema.MustGroup(aschema.NewGroupNodeLogical(name, rep, kids, logical, -1))
	}
	kind := map[parquet.Kind]apq.Type{parquet.Boolean: apq.Types.Boolean, parquet.Int32: apq.Types.Int32, parquet.Int64: apq.Types.Int64,
		parquet.Double: apq.Types.Double, parquet.ByteArray: apq.Types.ByteArray}[c.Type().Kind()]
	if kind == apq.Types.ByteArray {
		return aschema.MustPrimitive(aschema.NewPrimitiveNodeLogical(name, rep, aschema.StringLogicalType{}, kind, 0, -1))
	}
	return aschema.MustPrimitive(aschema.NewPrimitiveNode(name, rep, kind, -1, 0))
}

// writeEntries writes the entries of some rows to a column chunk.
func writeEntries(t *testing.T, c afile.ColumnChunkWriter, maxDef int, rows [][]entry) {
	t.Helper()
	var reps, defs []int16
	var texts []string
	for _, row := range rows {
		for _, e := range row {
			reps, defs = append(reps, int16(e.rep)), append(defs, int16(e.def))
			if e.def == maxDef {
				texts = append(texts, e.value)
			}
		}
	}
	var err error
	switch c := c.(type) {
	case *afile.BooleanColumnChunkWriter:
		_, err = c.WriteBatch(parsed(t, texts, strconv.ParseBool), defs, reps)
	case *afile.Int32ColumnChunkWriter:
		_, err = c.WriteBatch(parsed(t, texts, func(s string) (int32, error) { n, err := strconv.ParseInt(s, 10, 32); return int32(n), err }), defs, reps)
	case *afile.Int64ColumnChunkWriter:
		_, err = c.WriteBatch(parsed(t, texts, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }), defs, reps)
	case *afile.Float64ColumnChunkWriter:
		_, err = c.WriteBatch(parsed(t, texts, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }), defs, reps)
	case *afile.ByteArrayColumnChunkWriter:
		_, err = c.WriteBatch(parsed(t, texts, func(s string) (apq.ByteArray, error) { return apq.ByteArray(s), nil }), defs, reps)
	default:
		t.Fatalf("a column of %v", reflect.TypeOf(c))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func parsed[T any](t *testing.T, texts []string, parse func(string) (T, error)) []T {
	t.Helper()
	out := make([]T, len(texts))
	for i, s := range texts {
		v, err := parse(strings.Clone(s))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = v
	}
	return out
}
