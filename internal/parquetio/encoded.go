package parquetio

import (
	"github.com/rlprep/rlprep/internal/parquetio/compress"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/schema"
)

// A Codec is how pages are compressed, with its number in the Parquet format.
type Codec = compress.Codec

// The codecs that are written.
const (
	None   = compress.None
	Snappy = compress.Snappy
	Zstd   = compress.Zstd
)

// An EncodedRowGroup is a row group ready to be written: made by an Encoder on any goroutine, written in order by a Writer.
type EncodedRowGroup struct {
	Rows   int64
	Chunks []EncodedChunk // in leaf order
}

// Size is how many bytes the column chunks have in the file.
func (g *EncodedRowGroup) Size() (n int64) {
	for i := range g.Chunks {
		if c := &g.Chunks[i]; c.Raw != nil {
			n += c.Raw.compressed
		} else {
			n += c.Pages.Len()
		}
	}
	return n
}

// source returns the file of the first chunk that is copied, base where none is.
func (g *EncodedRowGroup) source(base *File) *File {
	for i := range g.Chunks {
		if raw := g.Chunks[i].Raw; raw != nil {
			return raw.file
		}
	}
	return base
}

// An EncodedChunk is one column chunk: either Raw, a chunk of an input file to be copied byte for byte, or pages made here.
type EncodedChunk struct {
	Leaf schema.Leaf
	Raw  *Chunk

	page.Encoded // nothing where Raw is set
}
