package parquetio

import (
	"bytes"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs that we only read, by their number in the format.
const (
	codecGzip   Codec = 2
	codecLZO    Codec = 3
	codecBrotli Codec = 4
	codecLZ4    Codec = 5
	codecLZ4Raw Codec = 7
)

// zstdReaders holds decoders for one goroutine each, which write into the memory that they are given and no more.
var zstdReaders = newFreeList(func() *zstd.Decoder {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constant
	}
	return r
})

// decompress fills dst, which has the length that the page header claims. parquet-go's codecs are not used: on damaged input
// they grow without bound (compress/lz4 v0.32 doubles its buffer for ever).
func decompress(dst, src []byte, codec Codec) error {
	n, err := 0, error(nil)
	switch codec {
	case None:
		n = copy(dst, src)
		if len(src) > len(dst) {
			n = len(src)
		}
	case Snappy:
		if n, err = s2.DecodedLen(src); err == nil && n == len(dst) {
			_, err = s2.Decode(dst, src)
		}
	case Zstd:
		r := zstdReaders.get()
		var out []byte
		out, err = r.DecodeAll(src, dst[:0:len(dst)])
		n = len(out)
		zstdReaders.put(r)
	case codecGzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(src)); err == nil {
			n, err = readWhole(r, dst)
		}
	case codecBrotli:
		n, err = readWhole(brotli.NewReader(bytes.NewReader(src)), dst)
	case codecLZ4Raw:
		n, err = lz4.UncompressBlock(src, dst)
	default:
		return fmt.Errorf("compressed with %s, which rlprep cannot read: rewrite the file with zstd", codecName(codec))
	}
	switch {
	case err != nil:
		return fmt.Errorf("decompress (%s): %w", codecName(codec), err)
	case n != len(dst):
		return fmt.Errorf("decompress (%s): %d bytes come out of it, its header says %d", codecName(codec), n, len(dst))
	}
	return nil
}

// readWhole fills dst from r and returns more than its length when r has more.
func readWhole(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return n, nil // the caller compares lengths
	}
	if err != nil {
		return n, err
	}
	var more [1]byte
	m, err := io.ReadFull(r, more[:])
	if err == io.EOF {
		err = nil
	}
	return n + m, err
}

func codecName(c Codec) string {
	names := [...]string{"none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw"}
	if c >= 0 && int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("codec %d", int32(c))
}
