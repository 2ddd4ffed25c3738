package parquetio

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

// A physicalLeaf is how a leaf of a schema stands in a Parquet file.
type physicalLeaf struct {
	Physical       physicalType
	Length         int      // typeFixed: bytes of a value
	Names          []string // path_in_schema
	MaxDef, MaxRep uint8
	Unsigned       bool // integers that are ordered as unsigned
}
