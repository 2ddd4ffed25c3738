package parquetio

import (
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/rlprep/rlprep/internal/parquetio/compress"
)

// lz4Block compresses b, which must be compressible.
func lz4Block(t testing.TB, b []byte) []byte {
	t.Helper()
	dst := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, dst, nil)
	if err != nil || n == 0 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	return dst[:n]
}

// Files with the codec LZ4 by parquet-java and Spark; of one there is a copy by pyarrow, in zstd.
func TestLZ4OfOtherWriters(t *testing.T) {
	hostile := "../../testdata/parquet/hostile/"
	in, want := openFile(t, hostile+"java_codec_LZ4_v1.parquet"), openFile(t, hostile+"java_codec_LZ4_v1-by-pyarrow.parquet")
	if in.chunk(0, 0).codec != compress.LZ4 || want.chunk(0, 0).codec != Zstd || in.NumRows() != 300 {
		t.Fatalf("codecs %d and %d, %d rows", in.chunk(0, 0).codec, want.chunk(0, 0).codec, in.NumRows())
	}
	once := func() int { return 1 << 20 }
	first := int64(0)
	for rg, g := range in.groups {
		got, all := readAll(t, in, rg, 0, g.Rows, once), readAll(t, want, 0, first, g.Rows, once)
		for i, l := range in.leaves {
			if d := got[i].diff(&all[i]); d != "" {
				t.Errorf("row group %d: column %s: %.300s", rg, l.Path, d)
			}
		}
		first += g.Rows
	}
	spark := openFile(t, hostile+"spark_codec_lz4.parquet")
	for rg, g := range spark.groups {
		readAll(t, spark, rg, 0, g.Rows, once)
	}
}
