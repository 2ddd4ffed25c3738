package record

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rlprep/rlprep/schema"
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

// MapTexts returns v with every text made anew by f. It fails where v's values are no text or bytes.
func (v *Vector) MapTexts(f func(string) string) (*Vector, error) {
	texts, ok := v.Texts()
	if !ok {
		return nil, fmt.Errorf("values of Arrow type %s are no texts", v.Values.DataType())
	}
	kind := schema.Text
	if _, bytes := v.Values.(*array.Binary); bytes {
		kind = schema.Binary
	}
	var data []byte
	offsets := make([]int32, 1, texts.Len()+1)
	for i := range texts.Len() {
		data = append(data, f(texts.At(i))...)
		if len(data) > math.MaxInt32 {
			return nil, errors.New("texts of more than 2 GiB in a slice of rows")
		}
		offsets = append(offsets, int32(len(data)))
	}
	out := *v
	out.Values = textArray(kind, data, offsets, texts.Len())
	return &out, nil
}

// Len is the number of values.
func (t Texts) Len() int { return max(0, len(t.offsets)-1) }

// At returns value i.
func (t Texts) At(i int) string {
	b := t.bytes[t.offsets[i]-t.offsets[0] : t.offsets[i+1]-t.offsets[0]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}
