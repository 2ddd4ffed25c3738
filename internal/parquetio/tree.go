package parquetio

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rlprep/rlprep/internal/parquetio/arrowschema"
	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/schema"
)

// A sourceElement is what a schema.Field that was read keeps of its file: where its schema element stands, so that it is written
// as it was.
type sourceElement struct {
	file  *File
	elem  int32 // its schema element
	form  form
	kind  schema.Type  // as it was read
	arrow *arrow.Field // of the file's ARROW:schema, where it fits
}

// A form is how a field stands in schema elements.
type form uint8

const (
	formPlain    form = iota // one element; of a struct, its fields follow
	formList3                // a group, a repeated group, the list's element
	formList2                // a group, then the list's element, repeated
	formRepeated             // the list's element, repeated, and no group around it
	formMap                  // a group, a repeated group, key and value
)

// The repetitions.
const (
	required = 0
	optional = 1
	repeated = 2
)

// The converted types that older writers annotate with.
const (
	convertedUTF8     = 0
	convertedMap      = 1
	convertedMapEntry = 2
	convertedList     = 3
	convertedEnum     = 4
	convertedDecimal  = 5
	convertedDate     = 6
	convertedMillis   = 7 // time of day
	convertedMicros   = 8
	convertedTSMillis = 9
	convertedTSMicros = 10
	convertedUint8    = 11 // to uint64, then int8 to int64
	convertedInt64    = 18
	convertedJSON     = 19
	convertedBSON     = 20
	convertedInterval = 21
)

// maxDepth bounds the depth of schemas; definition levels must fit a byte.
const maxDepth = 100

func sourceElementOf(f schema.Field) *sourceElement {
	o, _ := f.SourceElement.(*sourceElement)
	return o
}

// buildTree checks that the schema elements form a tree and makes the schema of it.
func (f *File) buildTree() error {
	els := f.meta.elements
	next, err := f.closeElement(0, nil, nil)
	if err != nil {
		return fmt.Errorf("footer: schema: %w", err)
	}
	if next != len(els) {
		return fmt.Errorf("footer: schema: %d of %d elements are part of no column", len(els)-next, len(els))
	}
	if err := els[0].checkAnnotation(false); err != nil {
		return fmt.Errorf("footer: schema: its root %w", err)
	}
	if err := f.checkNested(0, nil, false); err != nil {
		return fmt.Errorf("footer: schema: %w", err)
	}
	f.schema = &schema.Schema{Fields: f.fields(0)}
	return nil
}

// closeElement sets end of element i and all below it, checks them, and collects the leaves. It returns the index after.
func (f *File) closeElement(i int, names []string, around []groupLevel) (int, error) {
	els, depth := f.meta.elements, len(around)
	var def, rep uint8
	if depth > 0 {
		def, rep = around[depth-1].def, around[depth-1].rep
	}
	if i >= len(els) {
		return 0, fmt.Errorf("cut off after %d elements", len(els))
	}
	if depth > maxDepth {
		return 0, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	e := &els[i]
	if i > 0 {
		names = append(names[:len(names):len(names)], e.name)
		switch e.rep {
		case required:
		case optional:
			def++
		case repeated:
			def, rep = def+1, rep+1
		default:
			return 0, fmt.Errorf("column %q has no repetition", strings.Join(names, "."))
		}
		if err := e.checkShape(); err != nil {
			return 0, fmt.Errorf("column %q %w", strings.Join(names, "."), err)
		}
		if err := e.checkAnnotation(e.isLeaf()); err != nil {
			return 0, fmt.Errorf("column %q %w", strings.Join(names, "."), err)
		}
	}
	next := i + 1
	if e.isLeaf() && i > 0 {
		e.end = int32(next)
		f.physical = append(f.physical, physicalLeaf{Physical: encoding.Physical(e.physical), Length: max(0, int(e.length)), Names: names,
			MaxDef: def, MaxRep: rep, groups: around})
		return next, nil
	}
	around = append(around[:depth:depth], groupLevel{int32(i), def, rep})
	for range max(0, e.children) {
		var err error
		if next, err = f.closeElement(next, names, around); err != nil {
			return 0, err
		}
	}
	e.end = int32(next)
	return next, nil
}

func (e *element) isLeaf() bool { return e.children <= 0 }

func (e *element) checkShape() error {
	switch {
	case !e.isLeaf() && e.physical >= 0:
		return fmt.Errorf("has both a type and fields")
	case e.isLeaf() && e.physical < 0:
		return fmt.Errorf("has neither a type nor fields")
	case e.isLeaf() && e.physical > int32(encoding.FixedLenByteArray):
		return fmt.Errorf("has the unknown type %d", e.physical)
	case e.physical == int32(encoding.FixedLenByteArray) && e.length <= 0:
		return fmt.Errorf("has values of a fixed length that is not said")
	}
	return nil
}

// fields returns the fields below element i.
func (f *File) fields(i int) []schema.Field {
	e := &f.meta.elements[i]
	out := make([]schema.Field, 0, max(0, e.children))
	for at := i + 1; at < int(e.end); at = int(f.meta.elements[at].end) {
		out = append(out, f.field(at, false))
	}
	return out
}

// field returns the field of element i. inList: its repetition has been spent on the list around it.
func (f *File) field(i int, inList bool) schema.Field {
	e := &f.meta.elements[i]
	o := &sourceElement{file: f, elem: int32(i)}
	out := schema.Field{Name: e.name, Nullable: e.rep == optional && !inList, SourceElement: o}
	switch {
	case e.rep == repeated && !inList:
		o.form = formRepeated
		out.Type = schema.Type{Kind: schema.List, Fields: []schema.Field{f.field(i, true)}}
	case e.isLeaf():
		out.Type = e.leafType()
	default:
		out.Type, o.form = f.groupType(i)
	}
	o.kind = out.Type
	return out
}

// groupType distinguishes lists and maps from structs, by the rules of the format for files of all ages
// (parquet-format, LogicalTypes.md, "Nested Types").
func (f *File) groupType(i int) (schema.Type, form) {
	els := f.meta.elements
	e := &els[i]
	plain := func() (schema.Type, form) { return schema.Type{Kind: schema.Struct, Fields: f.fields(i)}, formPlain }
	if e.children != 1 || !e.isNested() || els[i+1].rep != repeated {
		return plain()
	}
	mid := &els[i+1]
	if e.isMap() && !mid.isLeaf() && mid.children == 2 && els[i+2].rep != repeated {
		return schema.Type{Kind: schema.Map, Fields: f.fields(i + 1)}, formMap
	}
	if e.isMap() && (mid.isLeaf() || mid.children != 1) {
		return plain()
	}
	if f.hasMiddle(i) {
		return schema.Type{Kind: schema.List, Fields: []schema.Field{f.field(i+2, false)}}, formList3
	}
	return schema.Type{Kind: schema.List, Fields: []schema.Field{f.field(i+1, true)}}, formList2
}

// hasMiddle reports whether the field of a list at element i is a level between the list and its element, and not the element itself.
func (f *File) hasMiddle(i int) bool {
	e, mid := &f.meta.elements[i], &f.meta.elements[i+1]
	return !mid.isLeaf() && mid.children == 1 && !mid.isNested() && mid.logical.id != logicalVariant && f.meta.elements[i+2].rep != repeated && !marksElement(e.name, mid.name)
}

func (e *element) isMap() bool {
	return e.logical.id == logicalMap || e.logical.id == 0 && (e.converted == convertedMap || e.converted == convertedMapEntry)
}

func (e *element) isNested() bool {
	return e.isMap() || e.logical.id == logicalList || e.logical.id == 0 && e.converted == convertedList
}

// leafType returns the Arrow type that pyarrow shows for the element.
func (e *element) leafType() schema.Type {
	if t, ok := e.annotatedType(); ok {
		return t
	}
	return e.plainType()
}

func (e *element) plainType() schema.Type {
	switch encoding.Physical(e.physical) {
	case encoding.Boolean:
		return schema.Type{Kind: schema.Bool}
	case encoding.Int32:
		return schema.Type{Kind: schema.Int, Bits: 32}
	case encoding.Int64:
		return schema.Type{Kind: schema.Int, Bits: 64}
	case encoding.Int96:
		return schema.Type{Kind: schema.Time, Name: "timestamp[ns]"}
	case encoding.Float:
		return schema.Type{Kind: schema.Float, Bits: 32}
	case encoding.Double:
		return schema.Type{Kind: schema.Float, Bits: 64}
	case encoding.FixedLenByteArray:
		return schema.Type{Kind: schema.Binary, Layout: schema.Fixed, Size: int(e.length)}
	}
	return schema.Type{Kind: schema.Binary}
}

// annotatedType reads the logical type, or the converted type where there is none. ok is false where there is no annotation
// or it does not fit the physical type, which readers then go by.
func (e *element) annotatedType() (t schema.Type, ok bool) {
	p := encoding.Physical(e.physical)
	l := e.logicalOrConverted()
	switch l.id {
	case logicalString:
		return schema.Type{Kind: schema.Text}, p == encoding.ByteArray
	case logicalJSON: // datasets 5 decodes these into dicts, older ones do not: rules must be able to tell
		return schema.Type{Kind: schema.Text, Name: "json"}, p == encoding.ByteArray
	case logicalEnum:
		return schema.Type{Kind: schema.Binary, Name: "enum"}, p == encoding.ByteArray
	case logicalBSON:
		return schema.Type{Kind: schema.Binary, Name: "bson"}, p == encoding.ByteArray
	case logicalDecimal:
		return e.decimalType(l), e.logical.id == 0 || l.precision <= e.decimalDigits()
	case logicalDate:
		return schema.Type{Kind: schema.Time, Name: "date32[day]"}, p == encoding.Int32
	case logicalTime:
		return l.timeType(), p == encoding.Int32 && l.unit == 1 || p == encoding.Int64 && l.unit > 1
	case logicalTimestamp:
		return l.timeType(), p == encoding.Int64
	case logicalInteger:
		return schema.Type{Kind: schema.Int, Bits: int(l.bits), Unsigned: !l.signed},
			p == encoding.Int64 && l.bits == 64 || p == encoding.Int32 && (l.bits == 8 || l.bits == 16 || l.bits == 32)
	case logicalUnknown:
		return schema.Type{Kind: schema.Null}, true
	case logicalUUID:
		return schema.Type{Kind: schema.Other, Name: arrowschema.UUID}, p == encoding.FixedLenByteArray && e.length == 16
	case logicalFloat16:
		return schema.Type{Kind: schema.Float, Bits: 16}, p == encoding.FixedLenByteArray && e.length == 2
	case logicalInterval:
		return e.foreignType("interval"), p == encoding.FixedLenByteArray && e.length == 12
	case logicalGeometry:
		return e.foreignType("geometry"), p == encoding.ByteArray
	case logicalGeography:
		return e.foreignType("geography"), p == encoding.ByteArray
	case 0, logicalUndefined, logicalList, logicalMap: // none, or one of groups
		return t, false
	}
	return e.foreignType(fmt.Sprintf("logical type %d", l.id)), true
}

// foreignType is the plain type of values whose annotation Arrow has no type for: it then reads them as they are stored (executed on pyarrow
// 26). Bytes are known by the annotation, for which no order of values is known here.
func (e *element) foreignType(name string) schema.Type {
	t := e.plainType()
	if t.Kind == schema.Binary {
		t.Name = name
	}
	return t
}

// keepUnknown gives the leaves that are annotated UNKNOWN, which Arrow reads as null, the type of their values where they have some:
// parquet-java writes INTERVAL so. They are called schema.UnknownName then: what is read is what is stored, and a rule tells what
// loaders make of it.
func (f *File) keepUnknown() {
	leaf := 0
	var walk func(fields []schema.Field)
	walk = func(fields []schema.Field) {
		for i := range fields {
			t := &fields[i].Type
			switch t.Kind {
			case schema.Struct, schema.List, schema.Map:
				walk(t.Fields)
				sourceElementOf(fields[i]).kind = *t
				continue
			case schema.Null:
				if o := sourceElementOf(fields[i]); f.hasValues(leaf) {
					*t = f.meta.elements[o.elem].plainType()
					t.Name = schema.UnknownName
					o.kind = *t
				}
			}
			leaf++
		}
	}
	walk(f.schema.Fields)
}

// hasValues reports whether the footer says that a leaf has values, or does not say it of one that is not stored as writers of nulls store it.
func (f *File) hasValues(leaf int) bool {
	for rg := range f.groups {
		c := f.chunk(rg, leaf)
		if c.nulls >= 0 && c.nulls < c.values || c.nulls < 0 && c.values > 0 && f.physical[leaf].Physical != encoding.Int32 {
			return true
		}
	}
	return false
}

const (
	// logicalInterval stands for the converted type INTERVAL, which never got a logical type.
	logicalInterval = -1
	// logicalUndefined is a LogicalType union without a member. Arrow then takes the plain values, whatever the converted type says
	// (executed on pyarrow 26: a column of text is read as binary).
	logicalUndefined = -2
)

// logicalOrConverted returns the logical type, made of the converted type where there is no logical one.
func (e *element) logicalOrConverted() logicalType {
	if e.logical.id != 0 {
		return e.logical
	}
	switch c := e.converted; {
	case c == convertedUTF8:
		return logicalType{id: logicalString}
	case c == convertedEnum:
		return logicalType{id: logicalEnum}
	case c == convertedDecimal:
		precision, scale := e.convertedDigits()
		return logicalType{id: logicalDecimal, scale: scale, precision: precision}
	case c == convertedDate:
		return logicalType{id: logicalDate}
	case c == convertedMillis || c == convertedMicros:
		return logicalType{id: logicalTime, unit: int16(c-convertedMillis) + 1}
	case c == convertedTSMillis || c == convertedTSMicros:
		return logicalType{id: logicalTimestamp, unit: int16(c-convertedTSMillis) + 1, utc: true}
	case c >= convertedUint8 && c <= convertedInt64:
		n := c - convertedUint8
		return logicalType{id: logicalInteger, bits: 8 << (n % 4), signed: n >= 4}
	case c == convertedJSON:
		return logicalType{id: logicalJSON}
	case c == convertedBSON:
		return logicalType{id: logicalBSON}
	case c == convertedInterval:
		return logicalType{id: logicalInterval}
	}
	return logicalType{}
}

func (e *element) decimalType(l logicalType) schema.Type {
	width := 128
	if l.precision > 38 {
		width = 256
	}
	return schema.Type{Kind: schema.Decimal, Name: fmt.Sprintf("decimal%d(%d, %d)", width, l.precision, l.scale)}
}

func (l logicalType) timeType() schema.Type {
	unit := [...]string{"", "ms", "us", "ns"}[max(0, min(l.unit, 3))]
	switch {
	case l.id == logicalTime && l.unit == 1:
		return schema.Type{Kind: schema.Time, Name: "time32[ms]"}
	case l.id == logicalTime:
		return schema.Type{Kind: schema.Time, Name: "time64[" + unit + "]"}
	case l.utc:
		return schema.Type{Kind: schema.Time, Name: "timestamp[" + unit + ", tz=UTC]"}
	}
	return schema.Type{Kind: schema.Time, Name: "timestamp[" + unit + "]"}
}
