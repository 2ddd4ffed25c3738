// Package compress compresses and decompresses the pages of Parquet files. It never returns more bytes than the caller asked for, and asks
// for little memory beside them, whatever damaged input claims.
package compress

import "fmt"

// A Codec is how pages are compressed, with its number in the Parquet format.
type Codec int32

// The codecs of the format. Compress knows None, Snappy and Zstd; Decompress knows all but LZO.
const (
	None   Codec = 0
	Snappy Codec = 1
	Gzip   Codec = 2
	LZO    Codec = 3
	Brotli Codec = 4
	LZ4    Codec = 5
	Zstd   Codec = 6
	LZ4Raw Codec = 7
)

// String returns the codec's name in lower case, "codec 9" for an unknown one.
func (c Codec) String() string {
	names := [...]string{"none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw"}
	if c >= 0 && int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("codec %d", int32(c))
}
