package parquetio

import (
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// Raw returns the chunk of a leaf in a row group to be carried undecoded. leaf is its index in Schema().Leaves().
func (f *File) Raw(rg, leaf int) *record.Raw { return &record.Raw{Chunk: f.chunk(rg, leaf)} }

func (c *Chunk) physical() *physicalLeaf { return &c.file.physical[c.leaf] }

func (c *Chunk) rows() int64 { return c.file.groups[c.rowGroup].Rows }

// damaged returns the error for a part of the chunk that cannot be understood.
func (c *Chunk) damaged(part string, err error) error {
	return formatErrorf(c.file.name, "row group %d: column %s: %s: %w", c.rowGroup, c.file.leaves[c.leaf].Path, part, err)
}

// CanMove reports whether a raw chunk can stand, byte for byte, as a leaf of a file with pages of that codec (keep: of any). Bytes
// without an annotation can stand as text: whether they are UTF-8 is the caller's to know.
func CanMove(raw *record.Raw, to schema.Leaf, codec Codec, keep bool) bool {
	c, ok := raw.Chunk.(*Chunk)
	if !ok {
		return false
	}
	from := c.file.leaves[c.leaf]
	if from.Type.Kind == schema.Binary && from.Type.Layout != schema.Fixed && from.Type.Name == "" && to.Type.Kind == schema.Text {
		from.Type.Kind = schema.Text
	}
	return from.MaxDef == to.MaxDef && from.MaxRep == to.MaxRep && (keep || c.codec == codec) &&
		sameStorage(from.Type, to.Type) && (c.dictPage == 0 || !c.file.meta.writer.cutsDictionary())
}

// checkStart reads the header of the chunk's first page into buf: a flipped bit in an offset of the footer would be carried over
// with the chunk, and readers that go straight to the data pages would see other rows than those that begin at the dictionary.
func (c *Chunk) checkStart(buf []byte) error {
	if c.values == 0 {
		return nil
	}
	s := page.NewStream(c.file.f, c.start(), c.start()+c.compressed, math.MaxInt64, buf)
	h, err := s.Header()
	if err != nil {
		return c.damaged("first page", err)
	}
	if end := s.Position() + h.Compressed; c.dictPage > 0 && c.dataPage != c.dictPage && c.dataPage != end {
		return c.damaged("footer", fmt.Errorf("data pages begin at byte %d, but the dictionary page ends at %d", c.dataPage, end))
	}
	return nil
}

// The largest dictionary that Chunk reads: one with more is no list of a few values that a rule could judge.
const (
	maxDictValues = 1 << 16
	maxDictBytes  = 8 << 20
)

// Chunk returns what is known of a leaf in a row group without reading its rows. Nulls counts, as Parquet does, every entry
// without a value: also where the list or struct around it is null or empty. It is the footer's word (CountNulls counts). Dict is read
// where every data page is dictionary-encoded, by its own header, and its values are text, binary or numbers; it may hold values that
// no row has.
func (f *File) Chunk(rg, leaf int) (out rule.ColumnFacts, err error) {
	c := f.chunk(rg, leaf)
	out.Nulls = f.nulls(rg, leaf)
	if !c.allDictionary() {
		return out, nil
	}
	defer page.Recover(&err, fmt.Sprintf("%s: row group %d: column %s", f.name, rg, f.leaves[leaf].Path))
	out.Dict, err = f.dictionary(rg, leaf)
	return out, err
}

// allDictionary reports whether the footer says that every data page is dictionary-encoded. encoding_stats say so; without them the
// encodings do, where no other encoding of values is among them. (PLAIN there may mean the dictionary itself: then it is not known.)
func (c *Chunk) allDictionary() bool {
	if c.values == 0 || c.physical().Physical == encoding.Boolean {
		return false
	}
	const dictOnly = 1<<encoding.PlainDictionary | 1<<encoding.RLEDictionary
	const levels = 1<<encoding.RLE | 1<<encoding.BitPacked
	return c.pages == pagesDict || c.pages == pagesUnknown && c.encodings&dictOnly != 0 && c.encodings&^(dictOnly|levels) == 0
}

func (f *File) dictionary(rg, leaf int) ([]schema.Value, error) {
	var l leafReader
	if err := l.open(f, rg, leaf, 0, &page.Buffers{}, &Lane{}); err != nil {
		return nil, err
	}
	h, err := l.stream.Header()
	if err != nil {
		return nil, l.wrap(err)
	}
	if h.Kind != page.Dictionary || h.Values > maxDictValues || h.Uncompressed > maxDictBytes {
		return nil, nil
	}
	defer l.giveUp()
	if err := l.openDict(&h); err != nil {
		return nil, l.wrap(err)
	}
	if only, err := l.onlyDictionary(); err != nil || !only {
		return nil, err
	}
	atomic.StoreInt32(&f.chunk(rg, leaf).dictRead, int32(l.dict.Len())+1)
	return l.dict.Values(f.leaves[leaf].Type, l.kind), nil
}

// onlyDictionary reports whether the headers of all data pages that follow say that they are dictionary-encoded: encoding_stats may lie.
func (l *leafReader) onlyDictionary() (bool, error) {
	for {
		h, err := l.dataHeader()
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, l.wrap(err)
		}
		if h.Values > 0 && h.Encoding != encoding.RLEDictionary && h.Encoding != encoding.PlainDictionary {
			return false, nil
		}
		l.stream.Skip(h.Compressed)
	}
}
