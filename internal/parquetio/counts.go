package parquetio

// Counts returns what the footer says of a leaf in a row group: how many of its entries have no value, as Chunk counts them
// (-1: it does not say), and its bytes in the file. It reads nothing.
func (f *File) Counts(rg, leaf int) (nulls, bytes int64) {
	return f.nulls(rg, leaf), f.chunk(rg, leaf).compressed
}

// nulls is the null_count of a leaf, -1 where it is not known. That of an Arrow dictionary below a struct or list is not: pyarrow 26 counts
// the nulls of the values there and not those of what is around them.
func (f *File) nulls(rg, leaf int) int64 {
	switch {
	case f.physical[leaf].MaxDef == 0:
		return 0
	case f.physical[leaf].MaxDef > 1 && f.leaves[leaf].Type.Dictionary:
		return -1
	}
	return f.chunk(rg, leaf).nulls
}
