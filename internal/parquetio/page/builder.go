package page

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/schema"
)

// A Builder gathers the values of one vector.
type Builder struct {
	Kind    encoding.Physical // of the values
	Width   int               // bytes of a value; 0: text, bytes or booleans
	n       int
	Expect  int     // values that will come, as far as one can tell: memory is asked for once
	Data    []byte  // the values, text and bytes one after the other, booleans as bits; memory to use again before the first value
	Offsets []int32 // text and bytes: of each value in Data, and the end
	bits    int     // booleans so far
}

// grow makes room for n values of text of size bytes, and for those that are expected after them when they are like these.
func (o *Builder) grow(n, size int) {
	if len(o.Offsets) == 0 {
		o.Offsets = append(slices.Grow(o.Offsets, max(n, o.Expect)+1), 0)
	}
	if left := o.Expect - (len(o.Offsets) - 1); left > n && n > 0 && cap(o.Data)-len(o.Data) < size {
		size = min(size/n*left+size/8, max(size, Limits.Slice))
	}
	o.Data = slices.Grow(o.Data, size)
	o.Offsets = slices.Grow(o.Offsets, n)
}

// copyText adds the text that lies in data between offsets.
func (o *Builder) copyText(data []byte, offsets []int32) {
	from, to := offsets[0], offsets[len(offsets)-1]
	o.grow(len(offsets)-1, int(to-from))
	shift := int32(len(o.Data)) - from
	o.Data = append(o.Data, data[from:to]...)
	for _, end := range offsets[1:] {
		o.Offsets = append(o.Offsets, end+shift)
	}
}

// entries adds entries of a dictionary.
func (o *Builder) entries(d *Dict, numbers []uint32) {
	if d.width > 0 {
		o.Data = slices.Grow(o.Data, max(len(numbers), min(o.Expect-len(o.Data)/d.width, Limits.Slice/d.width))*d.width)
		for _, i := range numbers {
			o.Data = append(o.Data, d.data[int(i)*d.width:][:d.width]...)
		}
		return
	}
	size := 0
	for _, i := range numbers {
		size += len(d.entry(i))
	}
	o.grow(len(numbers), size)
	for _, i := range numbers {
		o.Data = append(o.Data, d.entry(i)...)
		o.Offsets = append(o.Offsets, int32(len(o.Data)))
	}
}

// copyBits adds n bits from bit at of b on.
func (o *Builder) copyBits(b []byte, at, n int) {
	for i := at; i < at+n; i++ {
		o.bit(b[i>>3] >> (i & 7) & 1)
	}
}

func (o *Builder) appendBits(numbers []uint32) {
	for _, v := range numbers {
		o.bit(byte(v))
	}
}

func (o *Builder) bit(v byte) {
	if o.bits&7 == 0 {
		o.Data = append(o.Data, 0)
	}
	o.Data[len(o.Data)-1] |= v << (o.bits & 7)
	o.bits++
}

// CutTo cuts INT32 values to the 8 or 16 bits of t, as pyarrow 26 does: a value of a damaged file may have more.
func (o *Builder) CutTo(t schema.Type) {
	for i := 0; i+4 <= len(o.Data); i += 4 {
		v := int32(binary.LittleEndian.Uint32(o.Data[i:]))
		switch {
		case t.Bits == 8 && t.Unsigned:
			v = int32(uint8(v))
		case t.Bits == 8:
			v = int32(int8(v))
		case t.Unsigned:
			v = int32(uint16(v))
		default:
			v = int32(int16(v))
		}
		binary.LittleEndian.PutUint32(o.Data[i:], uint32(v))
	}
}

// Array returns the values as an Arrow array that owns the memory. asText: BYTE_ARRAY is text.
func (o *Builder) Array(asText bool) arrow.Array {
	data := func(t arrow.DataType) *array.Data {
		return array.NewData(t, o.n, []*memory.Buffer{nil, memory.NewBufferBytes(o.Data)}, nil, 0, 0)
	}
	switch o.Kind {
	case encoding.Boolean:
		return array.NewBooleanData(data(arrow.FixedWidthTypes.Boolean))
	case encoding.Int32:
		return array.NewInt32Data(data(arrow.PrimitiveTypes.Int32))
	case encoding.Int64:
		return array.NewInt64Data(data(arrow.PrimitiveTypes.Int64))
	case encoding.Float:
		return array.NewFloat32Data(data(arrow.PrimitiveTypes.Float32))
	case encoding.Double:
		return array.NewFloat64Data(data(arrow.PrimitiveTypes.Float64))
	case encoding.Int96, encoding.FixedLenByteArray:
		return array.NewFixedSizeBinaryData(data(&arrow.FixedSizeBinaryType{ByteWidth: o.Width}))
	}
	o.grow(0, 0)
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(o.Offsets))
	buffers := []*memory.Buffer{nil, offsets, memory.NewBufferBytes(o.Data)}
	if asText {
		return array.NewStringData(array.NewData(arrow.BinaryTypes.String, o.n, buffers, nil, 0, 0))
	}
	return array.NewBinaryData(array.NewData(arrow.BinaryTypes.Binary, o.n, buffers, nil, 0, 0))
}
