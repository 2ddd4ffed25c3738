// Package page reads and writes the pages of column chunks: headers, levels, values, dictionaries, compression and statistics. It knows no
// file, no footer and no row group; parquetio does.
package page

import "fmt"

const (
	// ValuesWorth is how many of the largest values a page may have as bytes.
	ValuesWorth = 4
	// MaxBytes is how many bytes any page may have: offsets within it and the slice before it must fit 31 bits.
	MaxBytes = 7 << 28
)

// Limits are the sizes at which pages end or are treated in another way. They are variables for tests alone.
var Limits = struct {
	// Huge is the size from which on a page is an exception: what it holds is checked before memory is asked for, and few are in memory at a time.
	Huge int64
	// Slice is the size where what is read ends a slice, so that offsets fit and memory stays bounded whatever the rows are like.
	Slice int
	// Target and Rows are when a page is full: bytes, uncompressed, and rows, as parquet-java has them, for readers that seek. Measured on
	// gsm8k's text with zstd: see BenchmarkPageSize.
	Target, Rows int
	// DictEntries and DictBytes bound a dictionary.
	DictEntries, DictBytes int
	// Aside is the least size of a page that is worth handing to another goroutine for compression.
	Aside int
}{Huge: 64 << 20, Slice: 64 << 20, Target: 1 << 20, Rows: 20_000, DictEntries: 1 << 16, DictBytes: 1 << 20, Aside: 128 << 10}

// TooLong returns the error for a value of n bytes where at most most are read.
func TooLong(n, most int64) error {
	return fmt.Errorf("a value of %d bytes; at most %d are read: raise --max-value-bytes", n, most)
}
