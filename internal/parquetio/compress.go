package parquetio

import (
	"fmt"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// zstdWindow bounds how far back zstd looks. It sets the memory of an encoder too; from 256 KiB on it makes no difference in size.
const zstdWindow = 512 << 10

// zstdWriters holds encoders for one goroutine each. What EncodeAll returns depends on its input alone. SpeedFastest takes
// three quarters of SpeedDefault's time on gsm8k's text (200 and 150 MB/s a core) for pages a tenth larger.
var zstdWriters = newFreeList(func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdWindow))
	if err != nil {
		panic(err) // the options are constant
	}
	return w
})

// compress returns src compressed with snappy or zstd, in dst where that has room.
func compress(dst, src []byte, codec Codec) ([]byte, error) {
	switch codec {
	case Snappy:
		return s2.EncodeSnappy(dst[:cap(dst)], src), nil
	case Zstd:
		w := zstdWriters.get()
		defer zstdWriters.put(w)
		return w.EncodeAll(src, dst[:0]), nil
	}
	return nil, fmt.Errorf("compress with codec %d: not one of snappy, zstd", codec)
}
