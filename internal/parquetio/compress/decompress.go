package compress

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/rlprep/rlprep/internal/parquetio/freelist"
)

// zstdReaders holds decoders for one goroutine each, which write into the memory that they are given and no more.
var zstdReaders = freelist.New(func() *zstd.Decoder {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constant
	}
	return r
})

// keptBytes is the largest output after which a decoder is kept.
const keptBytes = 8 << 20

// Decompress fills dst, which has the length that the page header claims; src of any other length is an error. parquet-go's codecs are not
// used: on damaged input they grow without bound (compress/lz4 v0.32 doubles its buffer for ever).
func Decompress(dst, src []byte, codec Codec) error {
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
		r := zstdReaders.Get()
		var out []byte
		out, err = r.DecodeAll(src, dst[:0:len(dst)])
		n = len(out)
		if len(dst) <= keptBytes { // a decoder holds what it wrote last
			zstdReaders.Put(r)
		}
	case Gzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(src)); err == nil {
			n, err = readWhole(r, dst)
		}
	case Brotli:
		n, err = readWhole(brotli.NewReader(bytes.NewReader(src)), dst)
	case LZ4:
		n, err = decompressLZ4(dst, src)
	case LZ4Raw:
		n, err = uncompressLZ4(src, dst)
	default:
		return fmt.Errorf("compressed with %s, which rlprep cannot read: rewrite the file with zstd", codec)
	}
	switch {
	case err != nil:
		return fmt.Errorf("decompress (%s): %w", codec, err)
	case n != len(dst):
		return fmt.Errorf("decompress (%s): %d bytes come out of it, its header says %d", codec, n, len(dst))
	}
	return nil
}

// uncompressLZ4 is lz4.UncompressBlock, which panics on an empty dst (v4.1.29, on amd64).
func uncompressLZ4(src, dst []byte) (int, error) {
	if len(dst) == 0 {
		dst = make([]byte, 1)
	}
	return lz4.UncompressBlock(src, dst)
}

// mostGrown is the most bytes that a codec makes of one byte. A page that claims more is refused.
var mostGrown = map[Codec]int64{None: 1, Snappy: 22, Gzip: 1032, LZ4: 255, LZ4Raw: 255}

const grownSlack = 1 << 10 // of headers, and of rounding

// Check refuses src where it cannot decompress to n bytes, as its page header claims, before memory for them is allocated. From huge bytes on,
// where the codec's bound does not tell, it decompresses src in pieces and counts the bytes.
func Check(src []byte, n int64, codec Codec, huge int64) error {
	if most, ok := mostGrown[codec]; ok && n-grownSlack > most*int64(len(src)) {
		return fmt.Errorf("decompress (%s): %d bytes cannot hold the %d that the page header says", codec, len(src), n)
	}
	if n < min(huge, 1<<20+64*int64(len(src))) {
		return nil
	}
	has, err := length(src, n, codec)
	if err != nil {
		return fmt.Errorf("decompress (%s): %w", codec, err)
	}
	if has != n {
		return fmt.Errorf("decompress (%s): %d bytes come out of it, its header says %d", codec, has, n)
	}
	return nil
}

// length returns how many bytes src decompresses to; n where only decompressing it as a whole can tell.
func length(src []byte, n int64, codec Codec) (int64, error) {
	switch codec {
	case Snappy:
		has, err := s2.DecodedLen(src)
		return int64(has), err
	case LZ4Raw:
		return lz4Length(src), nil
	case LZ4:
		if has, ok := hadoopLength(src); ok {
			return has, nil
		}
		if !lz4Framed(src) {
			return lz4Length(src), nil
		}
	}
	r, err := pieces(src, codec)
	if r == nil || err != nil {
		return n, err
	}
	defer r.Close()
	return io.Copy(io.Discard, io.LimitReader(r, n+1))
}

// lz4Length returns how many bytes a block of LZ4 decompresses to, by the lengths in it.
func lz4Length(src []byte) (n int64) {
	more := func(v byte) (length int64) { // 15 goes on in the bytes that follow
		length = int64(v)
		for b := byte(255); v == 15 && b == 255 && len(src) > 0; src = src[1:] {
			b = src[0]
			length += int64(b)
		}
		return length
	}
	for len(src) > 0 {
		token := src[0]
		src = src[1:]
		literals := more(token >> 4)
		if n += literals; literals > int64(len(src)) {
			return n
		}
		if src = src[literals:]; len(src) < 2 {
			return n // the last sequence has no match
		}
		src = src[2:]
		n += more(token&15) + 4
	}
	return n
}

// hadoopLength is lz4Length of Hadoop's framing; false where src has another form.
func hadoopLength(src []byte) (n int64, ok bool) {
	for len(src) > 0 {
		if len(src) < 4 {
			return 0, false
		}
		run := int64(binary.BigEndian.Uint32(src))
		src = src[4:]
		for has := int64(0); has < run; {
			if len(src) < 4 || int64(binary.BigEndian.Uint32(src)) > int64(len(src)-4) {
				return 0, false
			}
			size := binary.BigEndian.Uint32(src)
			got := lz4Length(src[4 : 4+size])
			if got == 0 {
				return 0, false
			}
			src, has, n = src[4+size:], has+got, n+got
		}
	}
	return n, true
}

// zstdPieces is the largest window that pieces allows: a frame asks for that much memory.
const zstdPieces = 64 << 20

// pieces returns a reader that decompresses src in little memory, nil where the codec has none.
func pieces(src []byte, codec Codec) (io.ReadCloser, error) {
	switch codec {
	case Gzip:
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, fmt.Errorf("decompress (gzip): %w", err)
		}
		return r, nil
	case LZ4:
		return io.NopCloser(lz4.NewReader(bytes.NewReader(src))), nil
	case Brotli:
		return io.NopCloser(brotli.NewReader(bytes.NewReader(src))), nil
	case Zstd:
		var head zstd.Header
		if err := head.Decode(src); err != nil {
			return nil, fmt.Errorf("decompress (zstd): %w", err)
		}
		if head.WindowSize > zstdPieces {
			return nil, nil // its frame is one piece
		}
		r, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return r.IOReadCloser(), nil
	}
	return nil, nil
}

// decompressLZ4 reads the codec LZ4, which the format never defined: Hadoop's framing (parquet-java, Spark, arrow-rs, fastparquet, Arrow
// since 0.15), else a frame of LZ4's own, else a bare block, which old Arrow wrote. Arrow tries them in this order too.
func decompressLZ4(dst, src []byte) (int, error) {
	if hadoopLZ4(dst, src) {
		return len(dst), nil
	}
	if lz4Framed(src) {
		return readWhole(lz4.NewReader(bytes.NewReader(src)), dst)
	}
	return uncompressLZ4(src, dst)
}

func lz4Framed(src []byte) bool {
	const frameMagic = 0x184D2204
	return len(src) >= 4 && binary.LittleEndian.Uint32(src) == frameMagic
}

// hadoopLZ4 fills dst from src, and reports whether src is Hadoop's framing of exactly len(dst) bytes: the uncompressed size of a run, then
// blocks, the compressed size before each, until the run has its size. Numbers are big-endian.
func hadoopLZ4(dst, src []byte) bool {
	for len(src) > 0 {
		if len(src) < 8 {
			return false
		}
		run := uint64(binary.BigEndian.Uint32(src))
		if src = src[4:]; run == 0 || run > uint64(len(dst)) {
			return false
		}
		for run > 0 {
			if len(src) < 4 {
				return false
			}
			packed := uint64(binary.BigEndian.Uint32(src))
			if src = src[4:]; packed == 0 || packed > uint64(len(src)) {
				return false
			}
			n, err := uncompressLZ4(src[:packed], dst[:run:run])
			if err != nil || n == 0 {
				return false
			}
			src, dst, run = src[packed:], dst[n:], run-uint64(n)
		}
	}
	return len(dst) == 0
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
