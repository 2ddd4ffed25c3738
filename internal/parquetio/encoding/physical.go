package encoding

import "fmt"

// A Physical is a physical type of the format, with its number in it.
type Physical int32

// The physical types.
const (
	Boolean Physical = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

var physicalNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// String returns the name of the format, "type N" for a number that it does not have.
func (p Physical) String() string {
	if p >= 0 && int(p) < len(physicalNames) {
		return physicalNames[p]
	}
	return fmt.Sprintf("type %d", int32(p))
}
