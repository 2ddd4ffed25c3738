package parquetio

// Counts returns what the footer says of a leaf in a row group: how many of its entries have no value, as Chunk counts them
// (-1: it does not say), and its bytes in the file. It reads nothing.
func (f *File) Counts(rg, leaf int) (nulls, bytes int64) {
	c := f.chunk(rg, leaf)
	if f.physical[leaf].MaxDef == 0 {
		return 0, c.compressed
	}
	return c.nulls, c.compressed
}
