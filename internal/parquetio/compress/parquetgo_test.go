package compress

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	pqcodec "github.com/parquet-go/parquet-go/compress"
	pqgzip "github.com/parquet-go/parquet-go/compress/gzip"
	pqlz4 "github.com/parquet-go/parquet-go/compress/lz4"
	pqsnappy "github.com/parquet-go/parquet-go/compress/snappy"
	pqzstd "github.com/parquet-go/parquet-go/compress/zstd"
)

// theirs are parquet-go's codecs, with the level that Compress uses where there is one.
var theirs = []struct {
	codec Codec
	pqcodec.Codec
}{
	{Zstd, &pqzstd.Codec{Level: pqzstd.SpeedFastest}},
	{Snappy, &pqsnappy.Codec{}},
	{Gzip, &pqgzip.Codec{Level: pqgzip.BestSpeed}},
	{LZ4Raw, &pqlz4.Codec{Level: pqlz4.Fastest}},
}

// samplePage is a page of about 1 MB, of the words of real text in random order.
func samplePage(t testing.TB) (page []byte) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/sample/train.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	words, r := bytes.Fields(text), rand.New(rand.NewPCG(1, 2))
	for len(page) < 1<<20 {
		page = append(append(page, words[r.IntN(len(words))]...), ' ')
	}
	return page
}

// TestParquetGo: what either compresses the other decompresses to the same bytes.
func TestParquetGo(t *testing.T) {
	page := samplePage(t)
	for _, c := range theirs {
		packed, err := c.Encode(nil, page)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, len(page))
		if err := Decompress(out, packed, c.codec); err != nil || !bytes.Equal(out, page) {
			t.Errorf("%s: ours of theirs: %v", c.codec, err)
		}
		if c.codec != Zstd && c.codec != Snappy {
			continue
		}
		if packed, err = Compress(nil, page, c.codec); err != nil {
			t.Fatal(err)
		}
		if out, err = c.Decode(out, packed); err != nil || !bytes.Equal(out, page) {
			t.Errorf("%s: theirs of ours: %v", c.codec, err)
		}
	}
}

// BenchmarkParquetGo takes the time of both over the same page.
func BenchmarkParquetGo(b *testing.B) {
	page := samplePage(b)
	out := make([]byte, len(page))
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, c := range theirs {
		packed, err := c.Encode(nil, page)
		if err != nil {
			b.Fatal(err)
		}
		name := c.codec.String()
		run(name+" decode/ours", func() error { return Decompress(out, packed, c.codec) })
		run(name+" decode/parquet-go", func() (err error) { out, err = c.Decode(out, packed); return err })
		if c.codec == Zstd || c.codec == Snappy {
			var a, other []byte
			run(name+" encode/ours", func() (err error) { a, err = Compress(a, page, c.codec); return err })
			run(name+" encode/parquet-go", func() (err error) { other, err = c.Encode(other, page); return err })
		}
	}
}
