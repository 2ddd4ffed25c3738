package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/schema"
)

var (
	errValuesShort = errors.New("values are cut off")
	errNoSuchEntry = errors.New("a value points beyond the dictionary")
)

// A pageDict is the dictionary of a chunk, decoded.
type pageDict struct {
	n     int
	data  []byte   // fixed width: the values, one after the other; else PLAIN
	ends  []uint32 // text: of each value in data; it begins 4 bytes after the end before
	width int
	most  int // bytes of the longest value
}

// value returns entry i of a dictionary of text.
func (d *pageDict) value(i uint32) []byte {
	from := uint32(4)
	if i > 0 {
		from += d.ends[i-1]
	}
	return d.data[from:d.ends[i]]
}

// newPageDict takes the body of a dictionary page, which it keeps.
func newPageDict(body []byte, n, width int) (*pageDict, error) {
	d := &pageDict{n: n, data: body, width: width, most: width}
	if width > 0 {
		if n*width > len(body) {
			return nil, errValuesShort
		}
		return d, nil
	}
	if n > len(body)/4 {
		return nil, errValuesShort
	}
	d.ends = make([]uint32, n)
	at := 0
	for i := range n {
		if len(body)-at < 4 {
			return nil, errValuesShort
		}
		size := binary.LittleEndian.Uint32(body[at:])
		if uint64(size) > uint64(len(body)-at-4) {
			return nil, errValuesShort
		}
		at += 4 + int(size)
		d.most = max(d.most, int(size))
		d.ends[i] = uint32(at)
	}
	return d, nil
}

// pageValues are the values of a page that were not read yet. One of the forms below is set.
type pageValues struct {
	left int

	plain   []byte // text, PLAIN: length and bytes of each
	offsets []int32
	data    []byte          // with offsets: text; without: values of width bytes
	bits    []byte          // booleans, from bit at on
	at      int             // bit
	runs    encoding.Hybrid // booleans in RLE, numbers in the dictionary
	dict    *pageDict       // of the chunk
	form    valueForm
	width   int
	most    int64 // bytes of a value
}

type valueForm uint8

const (
	formPlainText valueForm = iota
	formOffsets
	formFixed
	formBits
	formRuns
	formDict
)

// open sets v to the n values that b holds in that encoding. width is 0 for text, and for booleans with isBool.
func (v *pageValues) open(b []byte, n, width int, isBool bool, enc int32, dict *pageDict, most int64) error {
	*v = pageValues{left: n, width: width, dict: dict, most: most}
	if n == 0 {
		v.form = formFixed
		return nil
	}
	switch {
	case enc == encoding.RLEDictionary || enc == encoding.PlainDictionary:
		return v.openDict(b)
	case isBool:
		return v.openBools(b, enc)
	case width == 0:
		return v.openText(b, enc)
	}
	return v.openFixed(b, enc)
}

func unknownEncoding(e int32, what string) error {
	return fmt.Errorf("%s in encoding %d, which rlprep cannot read: rewrite the file (pyarrow.parquet)", what, e)
}

func (v *pageValues) openDict(b []byte) error {
	switch {
	case v.dict == nil:
		return fmt.Errorf("values point into a dictionary, but the column has no dictionary")
	case len(b) == 0 || b[0] > 32:
		return errValuesShort
	}
	v.form, v.runs = formDict, encoding.NewHybrid(b[1:], int(b[0]))
	return nil
}

func (v *pageValues) openBools(b []byte, enc int32) error {
	switch enc {
	case encoding.Plain:
		if v.left > 8*len(b) {
			return errValuesShort
		}
		v.form, v.bits = formBits, b
		return nil
	case encoding.RLE:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return errValuesShort
		}
		v.form, v.runs = formRuns, encoding.NewHybrid(b[4:4+binary.LittleEndian.Uint32(b)], 1)
		return nil
	}
	return unknownEncoding(enc, "booleans")
}

func (v *pageValues) openText(b []byte, enc int32) (err error) {
	v.form = formOffsets
	switch enc {
	case encoding.Plain:
		if v.left > len(b)/4 {
			return errValuesShort
		}
		v.form, v.plain = formPlainText, b
	case encoding.DeltaLength:
		v.offsets, v.data, err = encoding.DecodeDeltaLength(b, v.left)
	case encoding.DeltaByteArray:
		v.offsets, v.data, err = encoding.DecodeDeltaByteArray(b, v.left, maxGrown)
	default:
		err = unknownEncoding(enc, "text or bytes")
	}
	if err == nil && int64(len(v.data)) > v.most {
		for i, end := range v.offsets[1:] {
			if n := int64(end - v.offsets[i]); n > v.most {
				return tooLong(n, v.most)
			}
		}
	}
	return err
}

func (v *pageValues) openFixed(b []byte, enc int32) (err error) {
	v.form = formFixed
	switch {
	case enc == encoding.Plain:
		v.data = b
	case enc == encoding.Delta && (v.width == 4 || v.width == 8):
		v.data, _, err = encoding.DecodeDelta(make([]byte, 0, min(v.left, 8*len(b)+1024)*v.width), b, v.left, v.width)
	case enc == encoding.ByteStreamSplit:
		v.data, err = encoding.DecodeByteStreamSplit(b, v.left, v.width)
	case enc == encoding.DeltaByteArray:
		return v.openDeltaFixed(b)
	default:
		err = unknownEncoding(enc, "values")
	}
	if err == nil && v.left*v.width > len(v.data) {
		err = errValuesShort
	}
	return err
}

// openDeltaFixed reads FIXED_LEN_BYTE_ARRAY in DELTA_BYTE_ARRAY.
func (v *pageValues) openDeltaFixed(b []byte) error {
	offsets, data, err := encoding.DecodeDeltaByteArray(b, v.left, maxGrown)
	if err != nil {
		return err
	}
	for i, o := range offsets {
		if int(o) != i*v.width {
			return fmt.Errorf("value %d: not of %d bytes", i, v.width)
		}
	}
	v.data = data
	return nil
}

// typical returns about how many bytes a value has, for those of a dictionary at most.
func (v *pageValues) typical() int {
	switch v.form {
	case formPlainText:
		return len(v.plain)/max(v.left, 1) + 1
	case formOffsets:
		return len(v.data)/max(v.left, 1) + 1
	case formDict:
		return v.dict.most + 1 // all may be the one that is huge
	}
	return max(v.width, 1)
}

// read moves the next n values to out, which is nil to skip them.
func (v *pageValues) read(n int, out *valueBuilder, shared *pageBuffers) error {
	switch {
	case n > v.left:
		return errValuesShort
	case n == 0:
		return nil
	}
	v.left -= n
	if out != nil {
		out.n += n
	}
	switch v.form {
	case formPlainText:
		return v.readPlain(n, out)
	case formOffsets:
		if out != nil {
			out.copyText(v.data, v.offsets[:n+1])
		}
		v.offsets = v.offsets[n:]
	case formFixed:
		if out != nil {
			out.data = append(slices.Grow(out.data, max(n, min(out.expect-out.n+n, sliceBytes/v.width))*v.width), v.data[:n*v.width]...)
		}
		v.data = v.data[n*v.width:]
	case formBits:
		if out != nil {
			out.copyBits(v.bits, v.at, n)
		}
		v.at += n
	default:
		return v.readNumbers(n, out, shared)
	}
	return nil
}

// readPlain reads text in PLAIN encoding: first lengths, so that memory is allocated once, then bytes.
func (v *pageValues) readPlain(n int, out *valueBuilder) error {
	b, size := v.plain, 0
	for range n {
		if len(b) < 4 {
			return errValuesShort
		}
		k := binary.LittleEndian.Uint32(b)
		if uint64(k) > uint64(len(b)-4) {
			return errValuesShort
		}
		if int64(k) > v.most {
			return tooLong(int64(k), v.most)
		}
		b = b[4+k:]
		size += int(k)
	}
	from := v.plain
	v.plain = b
	if out == nil {
		return nil
	}
	out.grow(n, size)
	data, offsets := out.data, out.offsets
	for range n {
		k := binary.LittleEndian.Uint32(from)
		data = append(data, from[4:4+k]...)
		offsets = append(offsets, int32(len(data)))
		from = from[4+k:]
	}
	out.data, out.offsets = data, offsets
	return nil
}

// readNumbers reads values that are runs of small numbers: entries of the dictionary, or booleans.
func (v *pageValues) readNumbers(n int, out *valueBuilder, shared *pageBuffers) error {
	shared.numbers = sized32(shared.numbers, 1024)
	for n > 0 {
		numbers := shared.numbers[:min(n, len(shared.numbers))]
		n -= len(numbers)
		if err := encoding.ReadHybrid(&v.runs, numbers); err != nil {
			return err
		}
		if v.form == formRuns {
			if out != nil {
				out.appendBits(numbers)
			}
			continue
		}
		if int(slices.Max(numbers)) >= v.dict.n {
			return errNoSuchEntry
		}
		if out != nil {
			out.entries(v.dict, numbers)
		}
	}
	return nil
}

func sized32(b []uint32, n int) []uint32 {
	if cap(b) < n {
		return make([]uint32, n)
	}
	return b[:n]
}

// A valueBuilder gathers the values of one vector in memory of its own.
type valueBuilder struct {
	kind    physicalType
	width   int // fixed
	n       int
	expect  int // values that will come, as far as one can tell: memory is asked for once
	data    []byte
	offsets []int32
	bits    int // booleans so far
}

// grow makes room for n values of text of size bytes, and for those that are expected after them when they are like these.
func (o *valueBuilder) grow(n, size int) {
	if len(o.offsets) == 0 {
		o.offsets = append(slices.Grow(o.offsets, max(n, o.expect)+1), 0)
	}
	if left := o.expect - (len(o.offsets) - 1); left > n && n > 0 && cap(o.data)-len(o.data) < size {
		size = min(size/n*left+size/8, max(size, sliceBytes))
	}
	o.data = slices.Grow(o.data, size)
	o.offsets = slices.Grow(o.offsets, n)
}

// copyText adds the text that lies in data between offsets.
func (o *valueBuilder) copyText(data []byte, offsets []int32) {
	from, to := offsets[0], offsets[len(offsets)-1]
	o.grow(len(offsets)-1, int(to-from))
	shift := int32(len(o.data)) - from
	o.data = append(o.data, data[from:to]...)
	for _, end := range offsets[1:] {
		o.offsets = append(o.offsets, end+shift)
	}
}

// entries adds entries of a dictionary.
func (o *valueBuilder) entries(d *pageDict, numbers []uint32) {
	if d.width > 0 {
		o.data = slices.Grow(o.data, max(len(numbers), min(o.expect-len(o.data)/d.width, sliceBytes/d.width))*d.width)
		for _, i := range numbers {
			o.data = append(o.data, d.data[int(i)*d.width:][:d.width]...)
		}
		return
	}
	size := 0
	for _, i := range numbers {
		size += len(d.value(i))
	}
	o.grow(len(numbers), size)
	for _, i := range numbers {
		o.data = append(o.data, d.value(i)...)
		o.offsets = append(o.offsets, int32(len(o.data)))
	}
}

// copyBits adds n bits from bit at of b on.
func (o *valueBuilder) copyBits(b []byte, at, n int) {
	for i := at; i < at+n; i++ {
		o.bit(b[i>>3] >> (i & 7) & 1)
	}
}

func (o *valueBuilder) appendBits(numbers []uint32) {
	for _, v := range numbers {
		o.bit(byte(v))
	}
}

func (o *valueBuilder) bit(v byte) {
	if o.bits&7 == 0 {
		o.data = append(o.data, 0)
	}
	o.data[len(o.data)-1] |= v << (o.bits & 7)
	o.bits++
}

// cutTo cuts INT32 values to the 8 or 16 bits of t, as pyarrow 26 does: a value of a damaged file may have more.
func (o *valueBuilder) cutTo(t schema.Type) {
	for i := 0; i+4 <= len(o.data); i += 4 {
		v := int32(binary.LittleEndian.Uint32(o.data[i:]))
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
		binary.LittleEndian.PutUint32(o.data[i:], uint32(v))
	}
}

// array returns the values as an Arrow array that owns the memory. asText: BYTE_ARRAY is text.
func (o *valueBuilder) array(asText bool) arrow.Array {
	data := func(t arrow.DataType) *array.Data {
		return array.NewData(t, o.n, []*memory.Buffer{nil, memory.NewBufferBytes(o.data)}, nil, 0, 0)
	}
	switch o.kind {
	case typeBoolean:
		return array.NewBooleanData(data(arrow.FixedWidthTypes.Boolean))
	case typeInt32:
		return array.NewInt32Data(data(arrow.PrimitiveTypes.Int32))
	case typeInt64:
		return array.NewInt64Data(data(arrow.PrimitiveTypes.Int64))
	case typeFloat:
		return array.NewFloat32Data(data(arrow.PrimitiveTypes.Float32))
	case typeDouble:
		return array.NewFloat64Data(data(arrow.PrimitiveTypes.Float64))
	case typeInt96, typeFixed:
		return array.NewFixedSizeBinaryData(data(&arrow.FixedSizeBinaryType{ByteWidth: o.width}))
	}
	o.grow(0, 0)
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(o.offsets))
	buffers := []*memory.Buffer{nil, offsets, memory.NewBufferBytes(o.data)}
	if asText {
		return array.NewStringData(array.NewData(arrow.BinaryTypes.String, o.n, buffers, nil, 0, 0))
	}
	return array.NewBinaryData(array.NewData(arrow.BinaryTypes.Binary, o.n, buffers, nil, 0, 0))
}
