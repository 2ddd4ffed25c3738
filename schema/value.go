package schema

import (
	"math"
	"slices"
	"strings"
	"unsafe"
)

// A Value is one value of a row: plain, a list, or a struct. It is a view: text, lists and structs point into the batch (or
// the scratch of a transform) that they came from and die with it; Clone keeps one. The zero Value is Missing.
//
// It is handed around by value, several times a row, so it is kept small: text and elements share their fields.
type Value struct {
	data unsafe.Pointer // the first byte of the text, or the first element
	num  uint64         // a number; the length of the text; the number of elements
	typ  *Type          // Struct: for the names; Int: aboveInt64 for a number that is
	kind Kind
}

// aboveInt64 marks an integer whose num is above math.MaxInt64. It is no field of its own: the compiler holds a struct in registers only as long
// as it has four fields at most, and a fifth one costs lint 20 % of its time.
var aboveInt64 = new(Type)

// NullValue is the null. NullAt makes one that says how deep the path was there.
var NullValue = Value{kind: Null}

// NullAt returns a null found depth steps down its path: for "extra_info.index", 0 means that extra_info itself is null.
func NullAt(depth int) Value { return Value{kind: Null, num: uint64(depth)} }

// BoolValue returns a plain value, as do IntValue, FloatValue, TextValue and BinaryValue, which do not copy text and bytes.
func BoolValue(b bool) Value {
	if b {
		return Value{kind: Bool, num: 1}
	}
	return Value{kind: Bool}
}

// IntValue makes an integer.
func IntValue(i int64) Value { return Value{kind: Int, num: uint64(i)} }

// UintValue makes an integer of an unsigned type.
func UintValue(u uint64) Value {
	if u > math.MaxInt64 {
		return Value{kind: Int, num: u, typ: aboveInt64}
	}
	return Value{kind: Int, num: u}
}

// FloatValue makes a floating-point number.
func FloatValue(f float64) Value { return Value{kind: Float, num: math.Float64bits(f)} }

// TextValue makes a string; s is not copied.
func TextValue(s string) Value { return OpaqueValue(Text, s) }

// BinaryValue makes a byte string; it is held as a string, not copied.
func BinaryValue(s string) Value { return OpaqueValue(Binary, s) }

// ListValue makes a list; elems is not copied.
func ListValue(elems []Value) Value {
	return Value{kind: List, data: unsafe.Pointer(unsafe.SliceData(elems)), num: uint64(len(elems))}
}

// StructValue makes a struct of type t with one value a field, in the order of t.Fields; neither is copied.
func StructValue(t *Type, fields []Value) Value {
	return Value{kind: Struct, data: unsafe.Pointer(unsafe.SliceData(fields)), num: uint64(len(fields)), typ: t}
}

// OpaqueValue makes a value of a type that is carried but not understood, shown as text.
func OpaqueValue(k Kind, text string) Value {
	return Value{kind: k, data: unsafe.Pointer(unsafe.StringData(text)), num: uint64(len(text))}
}

// elems are the elements of a list or the fields of a struct, nil for every other kind.
func (v Value) elems() []Value {
	if v.kind != List && v.kind != Struct {
		return nil
	}
	return unsafe.Slice((*Value)(v.data), int(v.num))
}

// Kind returns the kind; Missing for the zero Value.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is Null.
func (v Value) IsNull() bool { return v.kind == Null }

// IsMissing reports whether there is no such column.
func (v Value) IsMissing() bool { return v.kind == Missing }

// Depth is, for a Null, how many steps of its path are not null.
func (v Value) Depth() int {
	if v.kind != Null {
		return 0
	}
	return int(v.num)
}

// Bool returns the boolean, false for every other kind.
func (v Value) Bool() bool { return v.kind == Bool && v.num != 0 }

// Int returns the integer, 0 for every other kind. Of one for which Big is true it returns the same 64 bits, which are negative.
func (v Value) Int() int64 {
	if v.kind != Int {
		return 0
	}
	return int64(v.num)
}

// Big reports whether v is an integer above math.MaxInt64, which an unsigned column of 64 bits can hold.
func (v Value) Big() bool { return v.typ == aboveInt64 }

// Uint returns the integer as an unsigned one, 0 for every other kind. A negative integer gives its 64 bits.
func (v Value) Uint() uint64 { return uint64(v.Int()) }

// Float returns the number, also of an integer; 0 for every other kind.
func (v Value) Float() float64 {
	switch v.kind {
	case Int:
		if v.Big() {
			return float64(v.num)
		}
		return float64(int64(v.num))
	case Float:
		return math.Float64frombits(v.num)
	}
	return 0
}

// Text returns the text of Text, Binary and of the kinds that are not understood; "" for others.
func (v Value) Text() string {
	switch v.kind {
	case Missing, Null, Bool, Int, Float, List, Struct:
		return ""
	}
	return unsafe.String((*byte)(v.data), int(v.num))
}

// Len returns the number of elements of a list or fields of a struct.
func (v Value) Len() int { return len(v.elems()) }

// Elem returns element i of a list, or field i of a struct.
func (v Value) Elem(i int) Value { return v.elems()[i] }

// Type returns the type of a struct, nil for every other kind.
func (v Value) Type() *Type {
	if v.kind != Struct {
		return nil
	}
	return v.typ
}

// Field returns the field of that name of a struct; Missing where there is none, and of every other kind.
func (v Value) Field(name string) Value {
	if v.kind != Struct || v.typ == nil {
		return Value{}
	}
	if _, i := v.typ.Field(name); i >= 0 && i < v.Len() {
		return v.Elem(i)
	}
	return Value{}
}

// Clone returns a copy that stays valid.
func (v Value) Clone() Value {
	switch v.kind {
	case Missing, Null, Bool, Int, Float:
		return v
	case List, Struct:
		elems := slices.Clone(v.elems())
		for i, e := range elems {
			elems[i] = e.Clone()
		}
		v.data = unsafe.Pointer(unsafe.SliceData(elems))
		return v
	}
	return OpaqueValue(v.kind, strings.Clone(v.Text()))
}

// Equal reports whether v and w are of the same kind and hold the same value. NaN equals itself; names of struct fields
// count, their order does not.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case Missing, Null:
		return true
	case Bool, Int, Float:
		return v.num == w.num && v.typ == w.typ
	case List:
		return slices.EqualFunc(v.elems(), w.elems(), Value.Equal)
	case Struct:
		if v.Len() != w.Len() {
			return false
		}
		for i, f := range v.typ.Fields {
			if !v.Elem(i).Equal(w.Field(f.Name)) {
				return false
			}
		}
		return true
	}
	return v.Text() == w.Text()
}
