package parquetio

import (
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// Raw returns the chunk of a leaf in a row group to be carried undecoded. leaf is its index in Schema().Leaves().
func (f *File) Raw(rg, leaf int) *record.Raw { return &record.Raw{Chunk: f.chunk(rg, leaf)} }

func (c *Chunk) physical() *physicalLeaf { return &c.file.physical[c.leaf] }

func (c *Chunk) rows() int64 { return c.file.groups[c.rowGroup].Rows }

// CanMove reports whether a raw chunk can stand, byte for byte, as a leaf of a file with pages of that codec (keep: of any).
func CanMove(raw *record.Raw, to schema.Leaf, codec Codec, keep bool) bool {
	c, ok := raw.Chunk.(*Chunk)
	if !ok {
		return false
	}
	from := &c.file.leaves[c.leaf]
	return from.MaxDef == to.MaxDef && from.MaxRep == to.MaxRep && (keep || c.codec == codec) &&
		sameStorage(from.Type, to.Type) && !oldDictionary(c)
}

// oldDictionary reports whether the chunk may be longer than its footer says: parquet-mr up to 1.2.8 did not count the
// header of the dictionary page (PARQUET-816).
func oldDictionary(c *Chunk) bool {
	name, version, _ := cutVersion(c.file.meta.createdBy)
	return name == "parquet-mr" && c.dictPage > 0 && version.less(1, 2, 9)
}
