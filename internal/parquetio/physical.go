package parquetio

import (
	"github.com/rlprep/rlprep/schema"
)

// A physicalType is a Parquet physical type, with its number in the format.
type physicalType int32

// The physical types.
const (
	typeBoolean physicalType = iota
	typeInt32
	typeInt64
	typeInt96
	typeFloat
	typeDouble
	typeByteArray
	typeFixed
)

// A physicalLeaf is how a leaf of a schema stands in a Parquet file that we write.
type physicalLeaf struct {
	schema.Leaf
	Physical physicalType
	Length   int      // typeFixed: bytes of a value
	Names    []string // path_in_schema
	Unsigned bool     // integers that are ordered as unsigned
}
