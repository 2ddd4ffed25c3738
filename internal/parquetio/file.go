package parquetio

import (
	"bytes"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"github.com/rlprep/rlprep/internal/openfiles"
	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

// A File is an open Parquet file: its footer, parsed and validated, and the handle to read column chunks by. Its methods may
// be called from several goroutines at once.
type File struct {
	name string // as messages call it
	f    input
	size int64

	footer []byte // the FileMetaData struct, raw; spans point into it, those of shed row groups to where they were
	length int64  // of it in the file

	maxValue int64
	hash     [16]byte
	shed     bool // footer has no row groups: see File.shedGroups
	meta     metadata
	groups   []RowGroup
	chunks   []Chunk // row group by row group, in leaf order
	schema   *schema.Schema
	leaves   []schema.Leaf
	// physical is the leaves as the schema elements have them.
	physical []physicalLeaf
	levels   *levelTally   // of row groups that were read
	arrow    *arrow.Schema // ARROW:schema; nil where there is none that can be used
}

// An input is where a file's bytes are: a file on disk (*openfiles.File, *os.File), or elsewhere.
type input interface {
	io.ReaderAt
	io.Closer
}

// A RowGroup is what the footer says of one row group. Compressed and Uncompressed are bytes of its pages, headers included.
type RowGroup struct {
	Rows         int64
	Compressed   int64
	Uncompressed int64

	raw     thrift.Span // the RowGroup struct
	columns thrift.Span // its list of column chunks
	first   int         // of its chunks in File.chunks
	leaves  int         // how many chunks
}

// A section is a range of bytes of the file; length 0: there is none.
type section struct{ offset, length int64 }

// A Chunk is a column chunk of an input file, as its footer describes it. It is carried undecoded.
type Chunk struct {
	file     *File
	rowGroup int32
	leaf     int32

	raw   thrift.Span // the ColumnChunk struct
	meta  thrift.Span // its ColumnMetaData struct
	path  thrift.Span // its path_in_schema
	stats thrift.Span // its Statistics struct

	stored       encoding.Physical
	codec        Codec
	values       int64 // entries: values and nulls
	compressed   int64 // bytes of all pages with their headers, as they stand in the file
	uncompressed int64
	dataPage     int64  // offset of the first data page
	dictPage     int64  // offset of the dictionary page; 0: none
	indexPage    int64  // offset; 0: none
	nulls        int64  // from the statistics; -1: not said
	encodings    uint32 // bit n: encoding n occurs
	pages        pageEncodings
	dictRead     int32 // entries of the dictionary plus 1, where Chunk read it; 0: it did not. Atomic
	columnIndex  section
	offsetIndex  section
	bloom        section // length -1: there is one, of unknown length
	elsewhere    bool    // the pages are in another file
}

// pageEncodings is what encoding_stats says of the data pages.
type pageEncodings uint8

const (
	pagesUnknown pageEncodings = iota // no encoding_stats
	pagesDict                         // every data page is dictionary-encoded
	pagesMixed
)

// Name returns the name that messages use, as it was given to Open.
func (f *File) Name() string { return f.name }

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Close closes the file. Readers and Raw chunks of it must not be used after.
func (f *File) Close() error { return f.f.Close() }

// chunk returns the chunk of one leaf in one row group.
func (f *File) chunk(rg, leaf int) *Chunk { return &f.chunks[f.groups[rg].first+leaf] }

// start returns the offset of the first page of the chunk, the dictionary page where there is one.
func (c *Chunk) start() int64 {
	if c.dictPage > 0 {
		return c.dictPage
	}
	return c.dataPage
}

// NumRows returns the number of rows.
func (f *File) NumRows() int64 { return f.meta.rows }

// Schema returns the columns as pyarrow would see them: with the types of ARROW:schema where it fits the file. It is shared
// and must not be changed; Clone it for that. SourceElement of each field is set.
func (f *File) Schema() *schema.Schema { return f.schema }

// RowGroups returns the row groups. The slice is shared and must not be changed.
func (f *File) RowGroups() []RowGroup { return f.groups }

// Metadata returns the key-value metadata of the footer. Of a key that occurs twice the first value is returned, as Arrow
// does.
func (f *File) Metadata() map[string]string {
	out := make(map[string]string, len(f.meta.keyValues))
	for _, kv := range f.meta.keyValues {
		if _, ok := out[kv.Key]; !ok {
			out[kv.Key] = kv.Value
		}
	}
	return out
}

// FooterHash distinguishes this footer from others: it differs if the columns, the statistics or the sizes of pages differ.
func (f *File) FooterHash() [16]byte {
	if f.shed {
		return f.hash
	}
	return xxh3.Hash128(f.footer).Bytes()
}

// keptGroups is the size from which on what a footer says of row groups is not kept beyond what Chunk and RowGroup hold.
var keptGroups = 16 << 10

// local reports whether the file is on disk.
func (f *File) local() bool {
	switch f.f.(type) {
	case *os.File, *openfiles.File:
		return true
	}
	return false
}

// shedGroups releases the list of row groups in the footer, which grows with the file; only a Writer that copies from it asks for it
// again, once, in its order.
func (f *File) shedGroups() {
	cut := f.meta.groups
	if !f.local() || int(cut.End-cut.Start) < keptGroups {
		return
	}
	f.hash, f.shed = f.FooterHash(), true
	kept := thrift.AppendList(bytes.Clone(f.footer[:cut.Start]), thrift.Struct, 0)
	less := cut.End - uint32(len(kept))
	f.meta.groups.End = uint32(len(kept))
	f.footer = append(kept, f.footer[cut.End:]...)
	move := func(s *thrift.Span) {
		if s.Start >= cut.End {
			s.Start, s.End = s.Start-less, s.End-less
		}
	}
	for i := range f.meta.elements {
		move(&f.meta.elements[i].raw)
	}
	for i := range f.meta.orders {
		move(&f.meta.orders[i])
	}
}

// inGroups returns the bytes of a span within the list of row groups, valid until win is used again.
func (f *File) inGroups(win *window, s thrift.Span) ([]byte, error) {
	if !f.shed {
		return s.Of(f.footer), nil
	}
	return win.section(f, section{f.size - trailer - f.length + int64(s.Start), int64(s.End - s.Start)})
}
