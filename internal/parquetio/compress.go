package parquetio

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// zstdWriters holds encoders for one goroutine each. What EncodeAll returns depends on its input alone.
var zstdWriters = sync.Pool{New: func() any {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constant
	}
	return w
}}

// compress returns src compressed, in dst where it has room.
func compress(dst, src []byte, codec Codec) ([]byte, error) {
	switch codec {
	case None:
		return append(dst[:0], src...), nil
	case Snappy:
		return s2.EncodeSnappy(dst[:cap(dst)], src), nil
	case Zstd:
		w := zstdWriters.Get().(*zstd.Encoder)
		defer zstdWriters.Put(w)
		return w.EncodeAll(src, dst[:0]), nil
	}
	return nil, fmt.Errorf("compress with codec %d: not one of none, snappy, zstd", codec)
}
