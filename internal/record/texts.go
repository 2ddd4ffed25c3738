package record

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/array"
)

// Texts are the values of a vector of text or bytes, one behind the other.
type Texts struct {
	bytes   []byte
	offsets []int32 // offsets[0] is where bytes begins
}

// Texts returns v's values; false where they are no text or bytes. They live as long as v.
func (v *Vector) Texts() (Texts, bool) {
	if v == nil {
		return Texts{}, false
	}
	switch a := v.Values.(type) {
	case *array.String:
		return newTexts(a.Len(), a), true
	case *array.Binary:
		return newTexts(a.Len(), a), true
	}
	return Texts{}, false
}

func newTexts(n int, a interface {
	ValueBytes() []byte
	ValueOffsets() []int32
}) Texts {
	if n == 0 {
		return Texts{}
	}
	return Texts{a.ValueBytes(), a.ValueOffsets()}
}

// Len is the number of values.
func (t Texts) Len() int { return max(0, len(t.offsets)-1) }

// At returns value i.
func (t Texts) At(i int) string {
	b := t.bytes[t.offsets[i]-t.offsets[0] : t.offsets[i+1]-t.offsets[0]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}
