package parquetio

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
)

// Arrow refuses a file whose schema has an annotation that contradicts itself, or a converted type on values of another type. So does every
// loader that is built on it. These files are refused here too, by the rules of Arrow 26 (parquet/schema.cc, parquet/types.cc,
// parquet/arrow/schema.cc; executed on pyarrow 26.0.1). A logical type that does not fit its values is another matter: Arrow then reads
// the values by their physical type, and so does annotatedType.

// maxDecimalDigits is the greatest precision of a decimal that Arrow has a type for.
const maxDecimalDigits = 76

// checkAnnotation returns an error for an annotation that Arrow refuses.
func (e *element) checkAnnotation(isLeaf bool) error {
	if e.logical.id != 0 {
		if err := e.logical.check(); err != nil {
			return err
		}
		if isLeaf {
			return e.checkLogicalLeaf()
		}
		return e.checkGroup()
	}
	if isLeaf {
		return e.checkConverted()
	}
	return e.checkGroup()
}

// check returns an error where the parameters of a logical type are incomplete or out of range.
func (l logicalType) check() error {
	const both = 1<<1 | 1<<2
	switch l.id {
	case logicalDecimal:
		if l.has != both {
			return errors.New("is annotated DECIMAL without a precision or a scale")
		}
		return checkDecimal(l.precision, l.scale)
	case logicalTime, logicalTimestamp:
		if l.has != both || l.unit < 1 || l.unit > 3 {
			return errors.New("is annotated TIME or TIMESTAMP, but not with a unit of milliseconds, microseconds or nanoseconds and whether it is UTC")
		}
	case logicalInteger:
		if l.has != both || l.bits != 8 && l.bits != 16 && l.bits != 32 && l.bits != 64 {
			return errors.New("is annotated INTEGER, but not with 8, 16, 32 or 64 bits and whether it is signed")
		}
	}
	return nil
}

func checkDecimal(precision, scale int32) error {
	if precision < 1 {
		return fmt.Errorf("is annotated DECIMAL with a precision of %d: it must be at least 1", precision)
	}
	if scale < 0 || scale > precision {
		return fmt.Errorf("is annotated DECIMAL with a scale of %d: it must be between 0 and the precision, %d", scale, precision)
	}
	return nil
}

// checkLogicalLeaf returns an error for a leaf whose logical type fits its values and which Arrow has no type for.
func (e *element) checkLogicalLeaf() error {
	p, l := encoding.Physical(e.physical), e.logical
	switch {
	case l.id == logicalDecimal && l.precision > maxDecimalDigits && (p == encoding.ByteArray || p == encoding.FixedLenByteArray) && l.precision <= e.decimalDigits():
		return fmt.Errorf("is annotated DECIMAL with a precision of %d: the most that readers know is %d", l.precision, maxDecimalDigits)
	case l.id == logicalTimestamp && p == encoding.FixedLenByteArray && e.length == 12:
		return errors.New("is annotated TIMESTAMP and has values of 12 bytes, which rlprep cannot read")
	}
	return nil
}

// decimalDigits returns how many decimal digits every value of the element's physical type can hold.
func (e *element) decimalDigits() int32 {
	switch encoding.Physical(e.physical) {
	case encoding.Int32:
		return 9
	case encoding.Int64:
		return 18
	case encoding.ByteArray:
		return math.MaxInt32
	case encoding.FixedLenByteArray:
		return int32(math.Floor((8*float64(e.length) - 1) * math.Log10(2)))
	}
	return 0
}

// convertedNames are the converted types by number.
var convertedNames = [...]string{"UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE", "TIME_MILLIS", "TIME_MICROS", "TIMESTAMP_MILLIS",
	"TIMESTAMP_MICROS", "UINT_8", "UINT_16", "UINT_32", "UINT_64", "INT_8", "INT_16", "INT_32", "INT_64", "JSON", "BSON", "INTERVAL"}

// convertedName names a converted type for a message.
func convertedName(c int32) string {
	if c >= 0 && int(c) < len(convertedNames) {
		return convertedNames[c]
	}
	return fmt.Sprintf("with the unknown converted type %d", c)
}

// checkConverted returns an error for a leaf without a logical type whose converted type does not fit its values.
func (e *element) checkConverted() error {
	var want encoding.Physical
	switch c := e.converted; c {
	case -1:
		return nil
	case convertedUTF8, convertedEnum, convertedJSON, convertedBSON:
		want = encoding.ByteArray
	case convertedDate, convertedMillis, convertedUint8, convertedUint8 + 1, convertedUint8 + 2, convertedInt64 - 3, convertedInt64 - 2, convertedInt64 - 1:
		want = encoding.Int32
	case convertedMicros, convertedTSMillis, convertedTSMicros, convertedUint8 + 3, convertedInt64:
		want = encoding.Int64
	case convertedDecimal:
		if e.decimalDigits() == 0 {
			return fmt.Errorf("is annotated DECIMAL, but its values are %s", encoding.Physical(e.physical))
		}
		if max(0, e.precision) > maxDecimalDigits {
			return fmt.Errorf("is annotated DECIMAL with a precision of %d: the most that readers know is %d", e.precision, maxDecimalDigits)
		}
		return checkDecimal(e.convertedDigits())
	case convertedInterval:
		if encoding.Physical(e.physical) == encoding.FixedLenByteArray && e.length == 12 {
			return nil
		}
		return errors.New("is annotated INTERVAL, but its values are not FIXED_LEN_BYTE_ARRAY of 12 bytes")
	default:
		return fmt.Errorf("is annotated %s, which values cannot be", convertedName(c))
	}
	if p := encoding.Physical(e.physical); p != want {
		return fmt.Errorf("is annotated %s, but its values are %s, not %s", convertedName(e.converted), p, want)
	}
	return nil
}

// convertedDigits returns the precision and the scale of a DECIMAL by its converted type; what is absent is 0.
func (e *element) convertedDigits() (precision, scale int32) {
	if precision = e.precision; precision == absentNumber {
		precision = 0
	}
	if scale = e.scale; scale == absentNumber {
		scale = 0
	}
	return precision, scale
}

// checkGroup returns an error for a group with an annotation of values.
func (e *element) checkGroup() error {
	switch e.logical.id {
	case logicalMap, logicalList:
		return nil
	case logicalVariant:
		if e.converted < 0 {
			return nil
		}
		return fmt.Errorf("is annotated VARIANT and %s, which contradict each other", convertedName(e.converted))
	case 0:
		if c := e.converted; c < 0 || c == convertedMap || c == convertedMapEntry || c == convertedList {
			return nil
		}
		return fmt.Errorf("is a group and is annotated %s, which groups cannot be", convertedName(e.converted))
	}
	return errors.New("is a group and has a logical type that groups cannot have")
}

// checkNested returns an error for a list or map below element i whose groups are not those of a list or map. spent: the repetition of i
// is that of a list around it.
func (f *File) checkNested(i int, names []string, spent bool) error {
	e := &f.meta.elements[i]
	var err error
	switch {
	case e.isLeaf():
		return nil
	case i > 0 && e.isMap():
		err = f.checkMapShape(i, spent)
	case i > 0 && e.isNested():
		err = f.checkListShape(i, spent)
	default:
		return f.checkBelow(i, names)
	}
	if err != nil {
		return fmt.Errorf("column %q %w", strings.Join(names, "."), err)
	}
	mid := &f.meta.elements[i+1]
	names = append(names[:len(names):len(names)], mid.name)
	if mid.children == 1 && mid.isNested() {
		return f.checkNested(i+1, names, !e.isMap())
	}
	return f.checkBelow(i+1, names)
}

func (f *File) checkBelow(i int, names []string) error {
	els := f.meta.elements
	for at := i + 1; at < int(els[i].end); at = int(els[at].end) {
		if err := f.checkNested(at, append(names[:len(names):len(names)], els[at].name), false); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) checkListShape(i int, spent bool) error {
	e, mid := &f.meta.elements[i], &f.meta.elements[i+1]
	switch {
	case e.children != 1:
		return fmt.Errorf("is annotated LIST and has %d fields: it must have one", e.children)
	case mid.rep != repeated:
		return errors.New("is annotated LIST, but its field is not repeated")
	case e.rep == repeated && (!spent || f.hasMiddle(i)):
		return errors.New("is annotated LIST and is repeated itself")
	}
	return nil
}

func (f *File) checkMapShape(i int, spent bool) error {
	e, mid := &f.meta.elements[i], &f.meta.elements[i+1]
	switch {
	case e.children != 1:
		return fmt.Errorf("is annotated MAP and has %d fields: it must have one", e.children)
	case mid.rep != repeated:
		return errors.New("is annotated MAP, but its field is not repeated")
	case e.rep == repeated && !spent:
		return errors.New("is annotated MAP and is repeated itself")
	case mid.isLeaf():
		return errors.New("is annotated MAP, but its field is no group of keys and values")
	case mid.children > 2:
		return fmt.Errorf("is annotated MAP, but its entries have %d fields: they must have a key and a value", mid.children)
	case mid.children == 1 && e.rep == repeated && f.hasMiddle(i):
		return errors.New("is annotated MAP, has keys alone, and is repeated itself")
	case f.meta.elements[i+2].rep != required:
		return errors.New("is annotated MAP, but its keys are not required")
	}
	return nil
}
