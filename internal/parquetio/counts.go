package parquetio

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/rlprep/rlprep/internal/parquetio/page"
)

// Counts returns what the footer says of a leaf in a row group: how many of its entries have no value, as Chunk counts them
// (-1: it does not say), and its bytes in the file. It reads nothing, and a footer may lie: CountNulls counts.
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
	return f.clearCount(rg, leaf, f.chunk(rg, leaf).nulls)
}

// clearCount returns -1 for a count of a list that could be taken for "null or empty in every row", though it is another.
func (f *File) clearCount(rg, leaf int, nulls int64) int64 {
	if f.physical[leaf].MaxRep > 0 && nulls > 0 && nulls == f.groups[rg].Rows && nulls != f.chunk(rg, leaf).values {
		return -1
	}
	return nulls
}

// CountNulls counts, in the pages, what Counts takes from the footer. It reads every page of the chunk and checks it as a Reader does:
// checksum, levels, number of rows, and that each value points into the dictionary. A *FormatError says what is wrong. The count is kept.
func (f *File) CountNulls(rg, leaf int) (int64, error) {
	c := f.chunk(rg, leaf)
	if n, known := f.levels.get(c); known {
		return f.clearCount(rg, leaf, n.below(c.physical().MaxDef)), nil
	}
	shared := page.TakeBuffers(1)
	defer shared.GiveBack()
	l := leafReader{page: openPage{buf: shared.Leaves[0].Page}}
	if err := l.open(f, rg, leaf, 0, shared, &Lane{}); err != nil {
		return 0, err
	}
	defer l.giveUp()
	if n := atomic.LoadInt32(&c.dictRead); n > 0 {
		l.dictKnown = page.CountedDict(int(n) - 1) // to skip values no more of it is needed
	}
	n, err := l.countNulls()
	shared.Leaves[0].Page = l.page.buf
	if err != nil {
		return 0, err
	}
	return f.clearCount(rg, leaf, n), nil
}

func (l *leafReader) countNulls() (nulls int64, err error) {
	defer page.Recover(&err, l.where)
	var rows int64
	p := &l.page
	for {
		err := l.nextPage()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, l.wrap(err)
		}
		if l.maxRep == 0 {
			rows += int64(p.entries)
		} else {
			if rows == 0 && p.rep[0] != 0 {
				return 0, l.wrap(errRowNotBegun)
			}
			rows += int64(bytes.Count(p.rep[:p.entries], []byte{0}))
		}
		if err := l.skipEntries(p.entries); err != nil {
			return 0, l.wrap(err)
		}
	}
	switch want := l.chunk.rows(); {
	case rows < want:
		return 0, l.wrap(fewerRows(want - rows))
	case rows > want:
		return 0, l.errorf("it has more rows than the footer says")
	}
	return l.counts.below(l.maxDef), l.finish(true)
}

func fewerRows(n int64) error { return fmt.Errorf("it has %d rows less than the footer says", n) }
