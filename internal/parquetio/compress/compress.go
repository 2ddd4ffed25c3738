package compress

import (
	"fmt"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/rlprep/rlprep/internal/parquetio/freelist"
)

// zstdWindow bounds how far back zstd looks, and with it the memory of an encoder. From 256 KiB on it makes no difference in size.
const zstdWindow = 512 << 10

// zstdWriters holds encoders for one goroutine each. What EncodeAll returns depends on its input alone. SpeedFastest takes
// three quarters of SpeedDefault's time on gsm8k's text (200 and 150 MB/s a core) for pages a tenth larger.
var zstdWriters = freelist.New(func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdWindow))
	if err != nil {
		panic(err) // the options are constant
	}
	return w
})

// growOnce is the size from which on a result gets its memory at once: growing to it step by step leaves several times as much behind.
const growOnce = 64 << 20

// Compress returns src compressed with Snappy or Zstd, in dst where that has room; its result depends on src and codec alone.
func Compress(dst, src []byte, codec Codec) ([]byte, error) {
	switch codec {
	case Snappy:
		return s2.EncodeSnappy(dst[:cap(dst)], src), nil
	case Zstd:
		if len(src) >= growOnce && cap(dst) < len(src) {
			dst = make([]byte, 0, len(src)+len(src)/128+1024)
		}
		w := zstdWriters.Get()
		defer zstdWriters.Put(w)
		return w.EncodeAll(src, dst[:0]), nil
	}
	return nil, fmt.Errorf("compress with codec %d: not one of snappy, zstd", codec)
}
