package parquetio

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/pierrec/lz4/v4"
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

// The codec LZ4 has several forms, and no file says which it is in.
func TestLZ4Forms(t *testing.T) {
	text := bytes.Repeat([]byte("what is 2 + 2? "), 400)
	half := len(text) / 2
	be := binary.BigEndian.AppendUint32
	block := func(b, part []byte) []byte {
		packed := lz4Block(t, part)
		return append(be(b, uint32(len(packed))), packed...)
	}
	var frame bytes.Buffer
	w := lz4.NewWriter(&frame)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string][]byte{
		"hadoop":                      block(be(nil, uint32(len(text))), text),
		"hadoop, two runs":            block(be(block(be(nil, uint32(half)), text[:half]), uint32(len(text)-half)), text[half:]),
		"hadoop, two blocks in a run": block(block(be(nil, uint32(len(text))), text[:half]), text[half:]),
		"frame":                       frame.Bytes(),
		"block":                       lz4Block(t, text),
	} {
		dst := make([]byte, len(text))
		if n, err := length(src, int64(len(text)), codecLZ4); n != int64(len(text)) || err != nil {
			t.Errorf("%s: length %d, %v", name, n, err)
		}
		if err := decompress(dst, src, codecLZ4); err != nil || !bytes.Equal(dst, text) {
			t.Errorf("%s: %v", name, err)
		}
		for cut := range len(src) - 8 { // no size is believed; a frame ends with a mark and a checksum that the library does not ask for
			if err := decompress(make([]byte, len(text)), src[:cut], codecLZ4); err == nil {
				t.Errorf("%s: %d of %d bytes are enough", name, cut, len(src))
			}
		}
		for _, n := range []int{len(text) - 1, len(text) + 1} {
			if err := decompress(make([]byte, n), src, codecLZ4); err == nil {
				t.Errorf("%s: taken for %d bytes, not %d", name, n, len(text))
			}
		}
	}
}

// Files with the codec LZ4 by parquet-java and Spark; of one there is a copy by pyarrow, in zstd.
func TestLZ4OfOtherWriters(t *testing.T) {
	hostile := "../../testdata/parquet/hostile/"
	in, want := openFile(t, hostile+"java_codec_LZ4_v1.parquet"), openFile(t, hostile+"java_codec_LZ4_v1-by-pyarrow.parquet")
	if in.chunk(0, 0).codec != codecLZ4 || want.chunk(0, 0).codec != Zstd || in.NumRows() != 300 {
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
