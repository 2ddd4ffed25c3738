// Package arrowschema reads and writes the value of the metadata ARROW:schema: what Arrow says of the types of a Parquet file's columns.
package arrowschema

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rlprep/rlprep/schema"
)

// Key is the key of the metadata.
const Key = "ARROW:schema"

// UUID is the name of the type of the logical type UUID, as pyarrow prints it.
const UUID = "extension<arrow.uuid>"

// Message returns the IPC message in a value of ARROW:schema, with the length before it, after checking that a schema can be read
// from it.
func Message(value string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		if b, err = base64.RawStdEncoding.DecodeString(value); err != nil {
			return nil, fmt.Errorf("decode %s: %w", Key, err)
		}
	}
	head := 4
	if len(b) >= 8 && binary.LittleEndian.Uint32(b) == 0xffffffff { // since Arrow 0.15
		head = 8
	}
	if len(b) < head {
		return nil, fmt.Errorf("decode %s: %w", Key, errFlatbuffer)
	}
	n := int64(binary.LittleEndian.Uint32(b[head-4:]))
	if n > int64(len(b)-head) {
		return nil, fmt.Errorf("decode %s: %w", Key, errFlatbuffer)
	}
	if err := checkSchemaMessage(b[head : head+int(n)]); err != nil {
		return nil, fmt.Errorf("decode %s: %w", Key, err)
	}
	return b[:head+int(n)], nil
}

// Decode decodes the value of ARROW:schema: base64 of an IPC message that holds a schema.
func Decode(value string) (s *arrow.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("decode %s: %v", Key, p)
		}
	}()
	msg, err := Message(value)
	if err != nil {
		return nil, err
	}
	r, err := ipc.NewReader(bytes.NewReader(msg))
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", Key, err)
	}
	defer r.Release()
	return r.Schema(), nil
}

// Encode is the reverse of Decode.
func Encode(s *arrow.Schema) (value string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encode %s: %v", Key, p)
		}
	}()
	p := ipc.GetSchemaPayload(s, memory.DefaultAllocator)
	defer p.Release()
	var b bytes.Buffer
	if _, err := p.WritePayload(&b); err != nil {
		return "", fmt.Errorf("encode %s: %w", Key, err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// LeafType returns the Arrow type of a leaf, nil where there is none.
func LeafType(t schema.Type) arrow.DataType {
	if t.Dictionary {
		t.Dictionary = false
		if v := LeafType(t); v != nil {
			return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: v}
		}
		return nil
	}
	switch t.Kind {
	case schema.Null:
		return arrow.Null
	case schema.Bool:
		return arrow.FixedWidthTypes.Boolean
	case schema.Int:
		return ints[intKey{t.Bits, t.Unsigned}]
	case schema.Float:
		return map[int]arrow.DataType{16: arrow.FixedWidthTypes.Float16, 32: arrow.PrimitiveTypes.Float32, 64: arrow.PrimitiveTypes.Float64}[t.Bits]
	case schema.Text:
		return [...]arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView, nil}[t.Layout]
	case schema.Binary:
		if t.Layout == schema.Fixed {
			return &arrow.FixedSizeBinaryType{ByteWidth: t.Size}
		}
		return [...]arrow.DataType{arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView}[t.Layout]
	case schema.Time:
		return timeType(t.Name)
	case schema.Decimal:
		return decimalType(t.Name)
	case schema.Other:
		if t.Name == UUID {
			return &arrow.FixedSizeBinaryType{ByteWidth: 16}
		}
	}
	return nil
}

type intKey struct {
	bits     int
	unsigned bool
}

var ints = map[intKey]arrow.DataType{
	{8, false}: arrow.PrimitiveTypes.Int8, {16, false}: arrow.PrimitiveTypes.Int16,
	{32, false}: arrow.PrimitiveTypes.Int32, {64, false}: arrow.PrimitiveTypes.Int64,
	{8, true}: arrow.PrimitiveTypes.Uint8, {16, true}: arrow.PrimitiveTypes.Uint16,
	{32, true}: arrow.PrimitiveTypes.Uint32, {64, true}: arrow.PrimitiveTypes.Uint64,
}

// timeType reads the name of a Time type as pyarrow prints it: "timestamp[us, tz=UTC]".
func timeType(name string) arrow.DataType {
	base, rest, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	unitName, zone, _ := strings.Cut(rest, ", tz=")
	units := map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}
	unit, ok := units[unitName]
	switch {
	case name == "date32[day]":
		return arrow.FixedWidthTypes.Date32
	case !ok:
		return nil
	case base == "timestamp":
		return &arrow.TimestampType{Unit: unit, TimeZone: zone}
	case base == "duration":
		return &arrow.DurationType{Unit: unit}
	case base == "time32":
		return &arrow.Time32Type{Unit: unit}
	case base == "time64":
		return &arrow.Time64Type{Unit: unit}
	}
	return nil
}

func decimalType(name string) arrow.DataType {
	var width, precision, scale int32
	if n, _ := fmt.Sscanf(name, "decimal%d(%d, %d)", &width, &precision, &scale); n != 3 {
		return nil
	}
	switch width {
	case 32:
		return &arrow.Decimal32Type{Precision: precision, Scale: scale}
	case 64:
		return &arrow.Decimal64Type{Precision: precision, Scale: scale}
	case 256:
		return &arrow.Decimal256Type{Precision: precision, Scale: scale}
	}
	return &arrow.Decimal128Type{Precision: precision, Scale: scale}
}
