package parquetio

import (
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

// A leafElement is a schema element of one column.
type leafElement struct {
	physical  encoding.Physical
	length    int
	converted int32 // less 1, so that 0 is none
	scale     int
	precision int
	logical   []byte
}

func (e leafElement) encode() []byte {
	var w thrift.StructWriter
	b := w.Int(nil, 1, thrift.I32, int64(e.physical))
	if e.length > 0 {
		b = w.Int(b, 2, thrift.I32, int64(e.length))
	}
	b = w.Int(b, 3, thrift.I32, optional)
	b = thrift.AppendBytes(w.Field(b, 4, thrift.Binary), "c")
	if e.converted > 0 {
		b = w.Int(b, 6, thrift.I32, int64(e.converted-1))
	}
	if e.precision != 0 {
		b = w.Int(b, 7, thrift.I32, int64(e.scale))
		b = w.Int(b, 8, thrift.I32, int64(e.precision))
	}
	if e.logical != nil {
		b = append(w.Field(b, 10, thrift.Struct), e.logical...)
	}
	return w.Stop(b)
}

// logicalOf encodes a LogicalType union whose member has these fields.
func logicalOf(id int16, fields func(w *thrift.StructWriter, b []byte) []byte) []byte {
	var w, sub thrift.StructWriter
	return w.Stop(sub.Stop(fields(&sub, w.Field(nil, id, thrift.Struct))))
}

func logicalDecimalOf(precision, scale int64) []byte {
	return logicalOf(logicalDecimal, func(w *thrift.StructWriter, b []byte) []byte {
		return w.Int(w.Int(b, 1, thrift.I32, scale), 2, thrift.I32, precision)
	})
}

func logicalTimeOf(id, unit int16) []byte {
	return logicalOf(id, func(w *thrift.StructWriter, b []byte) []byte {
		var u thrift.StructWriter
		return u.Stop(append(u.Field(w.Field(w.Bool(b, 1, true), 2, thrift.Struct), unit, thrift.Struct), thrift.Stop))
	})
}

func logicalIntegerOf(bits byte) []byte {
	return logicalOf(logicalInteger, func(w *thrift.StructWriter, b []byte) []byte {
		return w.Bool(append(w.Field(b, 1, thrift.I8), bits), 2, true)
	})
}

// What pyarrow 26.0.1 reads the column as, or how the message about it begins. testdata/conformance/annotations.py compares 4,000 of these.
func TestAnnotations(t *testing.T) {
	fixed := func(n int, logical []byte) leafElement {
		return leafElement{physical: encoding.FixedLenByteArray, length: n, logical: logical}
	}
	for _, c := range []struct {
		name string
		leaf leafElement
		want string // a type, or what the message says after the column
	}{
		{"decimal", leafElement{physical: encoding.Int32, logical: logicalDecimalOf(9, 2)}, "decimal128(9, 2)"},
		{"decimal of too many digits for INT32", leafElement{physical: encoding.Int32, logical: logicalDecimalOf(10, 2)}, "int32"},
		{"decimal of too many digits for INT64", leafElement{physical: encoding.Int64, logical: logicalDecimalOf(19, 2)}, "int64"},
		{"decimal of too many digits for 4 bytes", fixed(4, logicalDecimalOf(10, 2)), "fixed_size_binary[4]"},
		{"decimal of 16 bytes", fixed(16, logicalDecimalOf(38, 2)), "decimal128(38, 2)"},
		{"decimal of 77 digits", leafElement{physical: encoding.ByteArray, logical: logicalDecimalOf(77, 2)}, "is annotated DECIMAL with a precision of 77"},
		{"decimal of no digit", leafElement{physical: encoding.Int32, logical: logicalDecimalOf(0, 0)}, "is annotated DECIMAL with a precision of 0"},
		{"decimal of a scale beyond", leafElement{physical: encoding.Float, logical: logicalDecimalOf(4, 5)}, "is annotated DECIMAL with a scale of 5"},
		{"decimal of a negative scale", leafElement{physical: encoding.Int32, logical: logicalDecimalOf(4, -1)}, "is annotated DECIMAL with a scale of -1"},
		{"decimal without parameters", leafElement{physical: encoding.Int32, logical: logicalUnion(logicalDecimal)}, "is annotated DECIMAL without"},
		{"time", leafElement{physical: encoding.Int64, logical: logicalTimeOf(logicalTime, 2)}, "time64[us]"},
		{"time of another width", leafElement{physical: encoding.Int32, logical: logicalTimeOf(logicalTime, 2)}, "int32"},
		{"timestamp in INT32", leafElement{physical: encoding.Int32, logical: logicalTimeOf(logicalTimestamp, 1)}, "int32"},
		{"timestamp in 12 bytes", fixed(12, logicalTimeOf(logicalTimestamp, 1)), "is annotated TIMESTAMP and has values of 12 bytes"},
		{"timestamp of an unknown unit", leafElement{physical: encoding.Int64, logical: logicalTimeOf(logicalTimestamp, 4)}, "is annotated TIME or TIMESTAMP, but not with a unit"},
		{"time without parameters", leafElement{physical: encoding.Int64, logical: logicalUnion(logicalTime)}, "is annotated TIME or TIMESTAMP, but not with a unit"},
		{"integer", leafElement{physical: encoding.Int32, logical: logicalIntegerOf(16)}, "int16"},
		{"integer of another width", leafElement{physical: encoding.Int32, logical: logicalIntegerOf(64)}, "int32"},
		{"integer of 7 bits", leafElement{physical: encoding.Int32, logical: logicalIntegerOf(7)}, "is annotated INTEGER, but not with 8, 16, 32 or 64 bits"},
		{"UUID of 12 bytes", fixed(12, logicalUnion(logicalUUID)), "fixed_size_binary[12]"},
		{"FLOAT16 of 4 bytes", fixed(4, logicalUnion(logicalFloat16)), "fixed_size_binary[4]"},
		{"old timestamp", leafElement{physical: encoding.Int64, converted: 1 + convertedTSMicros}, "timestamp[us, tz=UTC]"},
		{"old text of numbers", leafElement{physical: encoding.Int64, converted: 1 + convertedUTF8}, "is annotated UTF8, but its values are INT64, not BYTE_ARRAY"},
		{"old date of 8 bytes", leafElement{physical: encoding.Int64, converted: 1 + convertedDate}, "is annotated DATE, but its values are INT64, not INT32"},
		{"old integer of 8 bytes", leafElement{physical: encoding.Int32, converted: 1 + convertedInt64}, "is annotated INT_64, but its values are INT32, not INT64"},
		{"old decimal", leafElement{physical: encoding.Int32, converted: 1 + convertedDecimal, precision: 38, scale: 2}, "decimal128(38, 2)"},
		{"old decimal of floats", leafElement{physical: encoding.Float, converted: 1 + convertedDecimal, precision: 4}, "is annotated DECIMAL, but its values are FLOAT"},
		{"old decimal without parameters", leafElement{physical: encoding.Int32, converted: 1 + convertedDecimal}, "is annotated DECIMAL with a precision of 0"},
		{"old decimal of 77 digits", leafElement{physical: encoding.Int32, converted: 1 + convertedDecimal, precision: 77}, "is annotated DECIMAL with a precision of 77"},
		{"old interval of 16 bytes", leafElement{physical: encoding.FixedLenByteArray, length: 16, converted: 1 + convertedInterval}, "is annotated INTERVAL, but"},
		{"old list of numbers", leafElement{physical: encoding.Int32, converted: 1 + convertedList}, "is annotated LIST, which values cannot be"},
		{"unknown converted type", leafElement{physical: encoding.Int32, converted: 1 + 22}, "is annotated with the unknown converted type 22"},
		{"converted type beside a logical one", leafElement{physical: encoding.Int32, converted: 1 + 22, logical: logicalIntegerOf(8)}, "int8"},
	} {
		f, err := fileOf(t, [][]byte{el(t, "r - 1"), c.leaf.encode()})
		switch {
		case strings.HasPrefix(c.want, "is annotated"):
			if want := `footer: schema: column "c" ` + c.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", c.name, err, want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		default:
			if got := f.Schema().Fields[0].Type.String(); got != c.want {
				t.Errorf("%s: got %s, want %s", c.name, got, c.want)
			}
		}
	}
}

func TestGroupAnnotations(t *testing.T) {
	kv := []string{"key required int32", "value optional int32"}
	for _, c := range []struct {
		want     string
		elements []string
	}{
		{"is a group and is annotated UTF8", []string{"g optional 1 UTF8", "a optional int32"}},
		{"is annotated LIST and has 2 fields", []string{"g optional 2 LIST", "a optional int32", "b optional int32"}},
		{"is annotated LIST, but its field is not repeated", []string{"g optional 1 LIST", "a optional int32"}},
		{"is annotated LIST and is repeated itself", []string{"g repeated 1 LIST", "a repeated int32"}},
		{"is annotated MAP and has 2 fields", append([]string{"g optional 2 MAP"}, kv...)},
		{"is annotated MAP, but its field is not repeated", append([]string{"g optional 1 MAP", "e optional 2"}, kv...)},
		{"is annotated MAP and is repeated itself", append([]string{"g repeated 1 MAP", "e repeated 2"}, kv...)},
		{"is annotated MAP, but its field is no group", []string{"g optional 1 MAP", "e repeated int32"}},
		{"is annotated MAP, but its entries have 3 fields", append([]string{"g optional 1 MAP", "e repeated 3", "x optional int32"}, kv...)},
		{"is annotated MAP, but its keys are not required", []string{"g optional 1 MAP", "e repeated 2", "k optional int32", "v optional int32"}},
	} {
		_, err := treeOf(t, append([]string{"r - 1"}, c.elements...)...)
		if want := `column "g" ` + c.want; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := treeOf(t, "r - 1", "g optional 1 LIST", "m repeated 1 MAP", "x optional int32"); err == nil || !strings.Contains(err.Error(), `column "g.m" is annotated MAP, but`) {
		t.Errorf("a map in a list: %v", err)
	}
	if _, err := treeOf(t, "r - 1", "g optional 1 LIST", "m repeated 1 LIST", "list repeated 1", "x optional int32"); err == nil || !strings.Contains(err.Error(), `column "g.m" is annotated LIST and is repeated`) {
		t.Errorf("a list of three levels that is the element of one of two: %v", err)
	}
	if _, err := treeOf(t, append([]string{"r - 1", "g optional 1 LIST", "m repeated 1 MAP", "e repeated 2"}, kv...)...); err != nil {
		t.Errorf("a map that is a list's element: %v", err)
	}
}

func TestVariantBesideList(t *testing.T) {
	e := element{converted: convertedList, logical: logicalType{id: logicalVariant}}
	if err := e.checkGroup(); err == nil || !strings.Contains(err.Error(), "is annotated VARIANT and LIST, which contradict each other") {
		t.Errorf("a group that is both: %v", err)
	}
	if err := (&element{converted: -1, logical: logicalType{id: logicalVariant}}).checkGroup(); err != nil {
		t.Errorf("a variant: %v", err)
	}
}
