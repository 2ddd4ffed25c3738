package parquetio

import (
	"fmt"
	"math/bits"

	"github.com/rlprep/rlprep/schema"
)

// A LeafInfo is what the footer says of one leaf over all row groups. Sizes are bytes of its pages, headers included.
type LeafInfo struct {
	Path         schema.Path `json:"path"`
	Type         string      `json:"type"`
	Codecs       []string    `json:"codecs"`
	Encodings    []string    `json:"encodings"`
	Values       int64       `json:"values"` // entries: values and nulls
	Nulls        int64       `json:"nulls"`  // -1: not said
	Compressed   int64       `json:"compressed_bytes"`
	Uncompressed int64       `json:"uncompressed_bytes"`
}

// LeafInfos describes the leaves, in the order of Schema().Leaves().
func (f *File) LeafInfos() []LeafInfo {
	out := make([]LeafInfo, len(f.leaves))
	for i, l := range f.leaves {
		info := LeafInfo{Path: l.Path, Type: l.Type.String(), Codecs: []string{}, Encodings: []string{}}
		var codecs, encodings uint32
		for rg := range f.groups {
			c := f.chunk(rg, i)
			codecs |= 1 << uint(c.codec)
			encodings |= c.encodings
			info.Values += c.values
			info.Compressed += c.compressed
			info.Uncompressed += c.uncompressed
			if c.nulls < 0 || info.Nulls < 0 {
				info.Nulls = -1
			} else {
				info.Nulls += c.nulls
			}
		}
		info.Codecs = names(codecs, codecNames[:])
		info.Encodings = names(encodings, encodingNames[:])
		out[i] = info
	}
	return out
}

// Codec returns the codec that most bytes of the file are compressed with; Zstd where that is one that we do not write.
func (f *File) Codec() Codec {
	var bytes [len(codecNames)]int64
	best := Zstd
	for i := range f.chunks {
		c := &f.chunks[i]
		if c.codec != None && c.codec != Snappy && c.codec != Zstd {
			continue
		}
		if bytes[c.codec] += c.compressed; bytes[c.codec] > bytes[best] {
			best = c.codec
		}
	}
	return best
}

// CreatedBy returns what the file says of its writer.
func (f *File) CreatedBy() string { return f.meta.createdBy }

var (
	codecNames    = [...]string{"none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw"}
	encodingNames = [...]string{"PLAIN", "", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY",
		"DELTA_BYTE_ARRAY", "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"}
)

// names lists the names of the bits that are set.
func names(set uint32, names []string) []string {
	out := []string{}
	for ; set != 0; set &= set - 1 {
		i := bits.TrailingZeros32(set)
		if i < len(names) && names[i] != "" {
			out = append(out, names[i])
		} else {
			out = append(out, fmt.Sprint(i))
		}
	}
	return out
}
