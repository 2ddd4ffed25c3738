package record

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rlprep/rlprep/schema"
)

// Texts returns v's values; false where they are no text or bytes. They live as long as v.
func (v *Vector) Texts() (schema.Texts, bool) {
	if v == nil {
		return schema.Texts{}, false
	}
	switch a := v.Values.(type) {
	case *array.String:
		return newTexts(a.Len(), a), true
	case *array.Binary:
		return newTexts(a.Len(), a), true
	}
	return schema.Texts{}, false
}

func newTexts(n int, a interface {
	ValueBytes() []byte
	ValueOffsets() []int32
}) schema.Texts {
	if n == 0 {
		return schema.Texts{}
	}
	return schema.NewTexts(a.ValueBytes(), a.ValueOffsets())
}

// MapTexts returns v with what f appends for each text in its place. It fails where v's values are no text or bytes.
func (v *Vector) MapTexts(f func(dst []byte, text string) []byte) (*Vector, error) {
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
		data = f(data, texts.At(i))
		if len(data) > math.MaxInt32 {
			return nil, errors.New("texts of more than 2 GiB in a slice of rows")
		}
		offsets = append(offsets, int32(len(data)))
	}
	out := *v
	out.Values = textArray(kind, data, offsets, texts.Len())
	return &out, nil
}
