package page

import "github.com/rlprep/rlprep/internal/parquetio/compress"

// Encoded are the pages of one column chunk, and what a footer says of them.
type Encoded struct {
	Pages        Pages // the dictionary page first, where there is one
	DictBytes    int64 // of the dictionary page with its header; 0: none
	Values       int64 // entries: values and nulls
	Uncompressed int64 // of pages with their headers
	Codec        compress.Codec
	Encodings    []int32 // Parquet encoding numbers that occur, levels included
	Stats        Stats
	Index        []Info // one a data page
}

// Stats are the statistics of a chunk or page. Min and Max are in PLAIN encoding without length; nil: none.
type Stats struct {
	Nulls              int64
	Min, Max           []byte
	MinExact, MaxExact bool // false where a bound was cut
}

// An Info is what the page index says of one data page.
type Info struct {
	Offset   int64 // within Pages
	Size     int64 // compressed, with its header
	FirstRow int64 // within the row group
	Values   int64
	Stats    Stats
	AllNull  bool
	Encoding int32 // of its values
}
