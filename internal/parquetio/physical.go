package parquetio

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/rlprep/rlprep/internal/parquetio/arrowschema"
	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

// A physicalLeaf is how a leaf of a schema stands in a Parquet file.
type physicalLeaf struct {
	Physical       encoding.Physical
	Length         int      // encoding.FixedLenByteArray: bytes of a value
	Names          []string // path_in_schema
	MaxDef, MaxRep uint8
	Order          sortOrder
	groups         []groupLevel // around it, in a file that was read
}

// A sortOrder is how the values of a leaf are ordered in statistics (parquet-format, ColumnOrder).
type sortOrder uint8

const (
	sortNone     sortOrder = iota // not defined: no statistics may be written
	sortSigned                    // numbers; big-endian two's complement of decimals in bytes
	sortUnsigned                  // unsigned numbers; bytes
)

// A physicalTree is the schema elements of a schema, encoded.
type physicalTree struct {
	elements []byte // list<SchemaElement>, header included
	leaves   []physicalLeaf
	paths    [][]byte // path_in_schema of each leaf, encoded
}

// physicalSchema makes the schema elements of s. A field that was read is written as in its file, with its name,
// repetition and number of children as they are now; others in the form that current pyarrow writes. base lends the root.
func physicalSchema(s *schema.Schema, base *File) (*physicalTree, error) {
	w := elementWriter{ids: map[int32]bool{}}
	w.root(len(s.Fields), base)
	for _, f := range s.Fields {
		if err := w.field(f, nil, 0, 0, false); err != nil {
			return nil, err
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	p := &physicalTree{leaves: w.leaves, elements: append(thrift.AppendList(nil, thrift.Struct, w.n), w.b...)}
	leaves := s.Leaves()
	if len(leaves) != len(p.leaves) {
		return nil, fmt.Errorf("schema has %d leaves, but %d were written", len(leaves), len(p.leaves))
	}
	for i, l := range leaves {
		pl := &p.leaves[i]
		if l.MaxDef != pl.MaxDef || l.MaxRep != pl.MaxRep {
			return nil, fmt.Errorf("column %s: levels %d/%d, but %d/%d were written", l.Path, l.MaxDef, l.MaxRep, pl.MaxDef, pl.MaxRep)
		}
		pl.Order = orderOf(l.Type, pl.Physical)
		path := thrift.AppendList(nil, thrift.Binary, len(pl.Names))
		for _, n := range pl.Names {
			path = thrift.AppendBytes(path, n)
		}
		p.paths = append(p.paths, path)
	}
	return p, nil
}

// An elementWriter appends schema elements in file order.
type elementWriter struct {
	b      []byte
	n      int
	leaves []physicalLeaf
	ids    map[int32]bool // field ids written: one that comes twice, by a copied column, would name two columns
	err    error          // of an element that was read and cannot be written again
}

func (w *elementWriter) root(children int, base *File) {
	if base != nil {
		w.copied(base, 0, "", -1, children)
		return
	}
	w.fresh("schema", -1, children, freshElement{})
}

// copied appends element i of a file. rep < 0 keeps its repetition and name; children < 0: it is a leaf.
func (w *elementWriter) copied(f *File, i int32, name string, rep, children int) {
	e := &f.meta.elements[i]
	var edits []thrift.Edit
	if rep >= 0 {
		edits = append(edits, thrift.Edit{ID: 3, Type: thrift.I32, Num: int64(rep)}, thrift.Edit{ID: 4, Type: thrift.Binary, Raw: []byte(name)})
	}
	if children >= 0 {
		edits = append(edits, thrift.Edit{ID: 5, Type: thrift.I32, Num: int64(children)})
	}
	if e.fieldID >= 0 {
		if w.ids[e.fieldID] {
			edits = append(edits, thrift.Edit{ID: 9})
		}
		w.ids[e.fieldID] = true
	}
	b, err := thrift.Rewrite(w.b, e.raw.Of(f.footer), edits)
	if err != nil && w.err == nil {
		w.err = formatErrorf(f.name, "footer: schema element %d: %w", i, err)
	}
	w.b = b
	w.n++
}

// A freshElement is what an element that was not read says beside name, repetition and children.
type freshElement struct {
	leaf      bool
	physical  encoding.Physical
	length    int
	converted int32 // with annotated
	annotated bool
	scale     int // of decimals
	precision int
	logical   []byte // the LogicalType union, encoded
}

func (w *elementWriter) fresh(name string, rep, children int, e freshElement) {
	var s thrift.StructWriter
	b := w.b
	if e.leaf {
		b = s.Int(b, 1, thrift.I32, int64(e.physical))
	}
	if e.length > 0 {
		b = s.Int(b, 2, thrift.I32, int64(e.length))
	}
	if rep >= 0 {
		b = s.Int(b, 3, thrift.I32, int64(rep))
	}
	b = thrift.AppendBytes(s.Field(b, 4, thrift.Binary), name)
	if !e.leaf {
		b = s.Int(b, 5, thrift.I32, int64(children))
	}
	if e.annotated {
		b = s.Int(b, 6, thrift.I32, int64(e.converted))
	}
	if e.precision > 0 {
		b = s.Int(b, 7, thrift.I32, int64(e.scale))
		b = s.Int(b, 8, thrift.I32, int64(e.precision))
	}
	if e.logical != nil {
		b = append(s.Field(b, 10, thrift.Struct), e.logical...)
	}
	w.b = s.Stop(b)
	w.n++
}

// field appends f and all below it. inList: f is the element of a list that has no level of its own, so f is repeated.
func (w *elementWriter) field(f schema.Field, names []string, def, rep uint8, inList bool) error {
	names = append(names[:len(names):len(names)], f.Name)
	if len(names) > maxDepth {
		return fmt.Errorf("column %s: nested more than %d deep", strings.Join(names[:3], "."), maxDepth)
	}
	o := sourceElementOf(f)
	if o != nil && !o.fits(f) {
		o = nil
	}
	if o != nil && o.form == formRepeated { // the element is the column
		e := f.Type.Fields[0]
		e.Name = f.Name
		return w.field(e, names[:len(names)-1], def, rep, true)
	}
	repetition := required
	switch {
	case inList:
		repetition, def, rep = repeated, def+1, rep+1
	case f.Nullable:
		repetition, def = optional, def+1
	}
	switch f.Type.Kind {
	case schema.Struct:
		return w.structField(f, o, names, def, rep, repetition)
	case schema.List:
		return w.listField(f, o, names, def, rep, repetition)
	case schema.Map:
		return w.mapField(f, o, names, def, rep, repetition)
	}
	return w.leafField(f, o, names, def, rep, repetition)
}

// group appends a group, as it was read where o says so.
func (w *elementWriter) group(o *sourceElement, name string, repetition, children int, e freshElement) {
	if o != nil {
		w.copied(o.file, o.elem, name, repetition, children)
		return
	}
	w.fresh(name, repetition, children, e)
}

func (w *elementWriter) structField(f schema.Field, o *sourceElement, names []string, def, rep uint8, repetition int) error {
	if len(f.Type.Fields) == 0 {
		return fmt.Errorf("column %s: a struct without fields cannot be written as Parquet", strings.Join(names, "."))
	}
	w.group(o, f.Name, repetition, len(f.Type.Fields), freshElement{})
	for _, c := range f.Type.Fields {
		if err := w.field(c, names, def, rep, false); err != nil {
			return err
		}
	}
	return nil
}

func (w *elementWriter) listField(f schema.Field, o *sourceElement, names []string, def, rep uint8, repetition int) error {
	if len(f.Type.Fields) != 1 {
		return fmt.Errorf("column %s: a list must have one element", strings.Join(names, "."))
	}
	e := f.Type.Fields[0]
	w.group(o, f.Name, repetition, 1, freshElement{annotated: true, converted: convertedList, logical: logicalUnion(logicalList)})
	if o != nil && o.form == formList2 {
		e.Name = legacyElement(f.Name, e)
		return w.field(e, names, def, rep, true)
	}
	mid := "list"
	if o != nil {
		if was := o.file.meta.elements[o.elem+1].name; !marksElement(f.Name, was) {
			mid = was
		}
		w.copied(o.file, o.elem+1, mid, repeated, 1)
	} else {
		w.fresh(mid, repeated, 1, freshElement{})
		if e.Name == "" {
			e.Name = "element"
		}
	}
	return w.field(e, append(names, mid), def+1, rep+1, false)
}

// marksElement reports whether a repeated group of that name, with one field, is the element of the list itself and no level around the
// element (parquet-format, LogicalTypes.md, backward compatibility rules). The name of the list is part of the rule, so renaming the list
// may change what the group is.
func marksElement(list, group string) bool { return group == "array" || group == list+"_tuple" }

// legacyElement returns the name for the repeated group e that is the element of a list of two levels: its own, unless readers would take
// it for a level.
func legacyElement(list string, e schema.Field) string {
	if e.Type.Kind != schema.Struct || len(e.Type.Fields) != 1 || marksElement(list, e.Name) {
		return e.Name
	}
	if o := sourceElementOf(e.Type.Fields[0]); o != nil && o.form == formRepeated {
		return e.Name // a group with a repeated field is always the element
	}
	if o := sourceElementOf(e); o != nil && o.file.meta.elements[o.elem].logical.id == logicalVariant {
		return e.Name // and so is a variant
	}
	return list + "_tuple"
}

func (w *elementWriter) mapField(f schema.Field, o *sourceElement, names []string, def, rep uint8, repetition int) error {
	if len(f.Type.Fields) != 2 {
		return fmt.Errorf("column %s: a map must have a key and a value", strings.Join(names, "."))
	}
	w.group(o, f.Name, repetition, 1, freshElement{annotated: true, converted: convertedMap, logical: logicalUnion(logicalMap)})
	mid := "key_value"
	if o != nil {
		mid = o.file.meta.elements[o.elem+1].name
		w.copied(o.file, o.elem+1, mid, repeated, 2)
	} else {
		w.fresh(mid, repeated, 2, freshElement{})
	}
	for _, c := range f.Type.Fields {
		if err := w.field(c, append(names, mid), def+1, rep+1, false); err != nil {
			return err
		}
	}
	return nil
}

func (w *elementWriter) leafField(f schema.Field, o *sourceElement, names []string, def, rep uint8, repetition int) error {
	leaf := physicalLeaf{Names: names, MaxDef: def, MaxRep: rep}
	if o != nil {
		e := &o.file.meta.elements[o.elem]
		leaf.Physical, leaf.Length = encoding.Physical(e.physical), max(0, int(e.length))
		w.copied(o.file, o.elem, f.Name, repetition, -1)
	} else {
		e, err := freshLeaf(f.Type)
		if err != nil {
			return fmt.Errorf("column %s: %w", strings.Join(names, "."), err)
		}
		leaf.Physical, leaf.Length = e.physical, e.length
		w.fresh(f.Name, repetition, 0, e)
	}
	w.leaves = append(w.leaves, leaf)
	return nil
}

// fits reports whether f, which was read as o says, still has the shape of its schema elements.
func (o *sourceElement) fits(f schema.Field) bool {
	if o.kind.Kind != f.Type.Kind {
		return false
	}
	switch f.Type.Kind {
	case schema.Struct:
		return true
	case schema.Map:
		return len(f.Type.Fields) == 2
	case schema.List:
		if len(f.Type.Fields) != 1 || o.form == formList3 {
			return len(f.Type.Fields) == 1
		}
		e := f.Type.Fields[0]
		eo := sourceElementOf(e)
		same := eo != nil && eo.file == o.file && !e.Nullable && eo.fits(e)
		if o.form == formRepeated {
			return same && !f.Nullable && eo.elem == o.elem
		}
		return same && eo.elem == o.elem+1
	}
	return sameStorage(o.kind, f.Type)
}

// sameStorage reports whether plain values of the two types stand in Parquet in the same way: forms and dictionaries are
// Arrow's alone.
func sameStorage(a, b schema.Type) bool {
	if a.Layout != schema.Fixed && b.Layout != schema.Fixed {
		a.Layout, b.Layout = schema.Plain, schema.Plain
	}
	a.Dictionary, b.Dictionary = false, false
	if a.Kind == schema.Time {
		a.Name, b.Name = storedTime(a.Name), storedTime(b.Name)
	}
	return a.Equal(b)
}

// storedTime cuts a time zone, which Parquet does not store: only whether there is one.
func storedTime(name string) string {
	unit, _, zoned := strings.Cut(name, ", tz=")
	if zoned {
		return unit + ", tz]"
	}
	return name
}

var errCarried = &FormatError{Err: errors.New("values of this type can be carried, but not made")}

// freshLeaf returns how values of type t are written where no file says how.
func freshLeaf(t schema.Type) (freshElement, error) {
	e := freshElement{leaf: true}
	switch t.Kind {
	case schema.Null:
		e.physical, e.logical = encoding.Int32, logicalUnion(logicalUnknown)
	case schema.Bool:
		e.physical = encoding.Boolean
	case schema.Int:
		return freshInt(t)
	case schema.Float:
		switch t.Bits {
		case 16:
			e.physical, e.length, e.logical = encoding.FixedLenByteArray, 2, logicalUnion(logicalFloat16)
		case 32:
			e.physical = encoding.Float
		default:
			e.physical = encoding.Double
		}
	case schema.Text:
		e.physical, e.annotated, e.converted, e.logical = encoding.ByteArray, true, convertedUTF8, logicalUnion(logicalString)
		if t.Name == "json" {
			e.converted, e.logical = convertedJSON, logicalUnion(logicalJSON)
		}
	case schema.Binary:
		e.physical = encoding.ByteArray
		if t.Layout == schema.Fixed {
			e.physical, e.length = encoding.FixedLenByteArray, t.Size
		}
		switch t.Name {
		case "enum":
			e.annotated, e.converted, e.logical = true, convertedEnum, logicalUnion(logicalEnum)
		case "bson":
			e.annotated, e.converted, e.logical = true, convertedBSON, logicalUnion(logicalBSON)
		case "interval":
			e.annotated, e.converted = true, convertedInterval
		}
	case schema.Time:
		return freshTime(t)
	case schema.Decimal:
		return freshDecimal(t)
	default:
		if t.Name != arrowschema.UUID {
			return e, fmt.Errorf("%s: %w", t, errCarried)
		}
		e.physical, e.length, e.logical = encoding.FixedLenByteArray, 16, logicalUnion(logicalUUID)
	}
	return e, nil
}

func freshInt(t schema.Type) (freshElement, error) {
	e := freshElement{leaf: true, physical: encoding.Int32}
	if t.Bits == 64 {
		e.physical = encoding.Int64
	}
	if !t.Unsigned && t.Bits >= 32 {
		return e, nil // as pyarrow: the physical type says it all
	}
	log := bits.Len(uint(t.Bits)) - 4 // 8 bits: 0, 64 bits: 3
	if t.Bits != 8<<max(log, 0) || log > 3 {
		return e, fmt.Errorf("%s: no such integer type", t)
	}
	e.annotated, e.converted = true, int32(convertedUint8+log)
	if !t.Unsigned {
		e.converted += 4
	}
	var w, sub thrift.StructWriter
	e.logical = sub.Field(w.Field(nil, logicalInteger, thrift.Struct), 1, thrift.I8)
	e.logical = sub.Bool(append(e.logical, byte(t.Bits)), 2, !t.Unsigned)
	e.logical = w.Stop(sub.Stop(e.logical))
	return e, nil
}

func freshTime(t schema.Type) (freshElement, error) {
	e := freshElement{leaf: true, physical: encoding.Int64}
	base, unit, ok := strings.Cut(strings.TrimSuffix(t.Name, "]"), "[")
	unit, _, utc := strings.Cut(unit, ", tz=")
	id, number := int16(logicalTimestamp), int16(strings.Index("ms us ns", unit)/3+1)
	switch {
	case t.Name == "date32[day]":
		e.physical, e.annotated, e.converted, e.logical = encoding.Int32, true, convertedDate, logicalUnion(logicalDate)
		return e, nil
	case !ok || len(unit) != 2 || !strings.Contains("ms us ns", unit):
		return e, fmt.Errorf("%s: %w", t, errCarried)
	case base == "time32" && unit == "ms":
		e.physical, id, utc = encoding.Int32, logicalTime, true
	case base == "time64" && unit != "ms":
		id, utc = logicalTime, true
	case base != "timestamp":
		return e, fmt.Errorf("%s: %w", t, errCarried)
	}
	var w, sub, u thrift.StructWriter
	b := w.Field(nil, id, thrift.Struct)
	b = sub.Bool(b, 1, utc)
	b = sub.Field(b, 2, thrift.Struct)
	b = append(u.Field(b, number, thrift.Struct), thrift.Stop)
	e.logical = w.Stop(sub.Stop(u.Stop(b)))
	return e, nil
}

func freshDecimal(t schema.Type) (freshElement, error) {
	e := freshElement{leaf: true, physical: encoding.FixedLenByteArray, annotated: true, converted: convertedDecimal}
	var width int
	if n, _ := fmt.Sscanf(t.Name, "decimal%d(%d, %d)", &width, &e.precision, &e.scale); n != 3 || e.precision < 1 || e.precision > 76 {
		return e, fmt.Errorf("%s: %w", t, errCarried)
	}
	// The fewest bytes that hold a signed number of that many digits.
	e.length = int(math.Ceil((math.Log2(10)*float64(e.precision) + 1) / 8))
	var w, sub thrift.StructWriter
	b := sub.Int(w.Field(nil, logicalDecimal, thrift.Struct), 1, thrift.I32, int64(e.scale))
	b = sub.Int(b, 2, thrift.I32, int64(e.precision))
	e.logical = w.Stop(sub.Stop(b))
	return e, nil
}

// logicalUnion encodes a LogicalType whose member has no fields.
func logicalUnion(id int16) []byte {
	var w thrift.StructWriter
	return w.Stop(append(w.Field(nil, id, thrift.Struct), thrift.Stop))
}

// orderOf returns how values of type t, stored as p, are ordered in statistics.
func orderOf(t schema.Type, p encoding.Physical) sortOrder {
	switch {
	case p == encoding.Int96 || t.Kind == schema.Null || t.Name == schema.UnknownName:
		return sortNone
	case t.Kind == schema.Binary && !page.Ordered(t):
		return sortNone
	case t.Kind == schema.Other && t.Name != arrowschema.UUID:
		return sortNone
	case t.Kind == schema.Decimal:
		return sortSigned
	case p == encoding.ByteArray || p == encoding.FixedLenByteArray && t.Kind != schema.Float:
		return sortUnsigned
	case t.Kind == schema.Int && t.Unsigned:
		return sortUnsigned
	}
	return sortSigned
}

// compare compares two values in PLAIN encoding without length.
func (l *physicalLeaf) compare(a, b []byte) int {
	switch l.Physical {
	case encoding.Int32:
		x, y := binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b)
		if l.Order == sortUnsigned {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(int32(x), int32(y))
	case encoding.Int64:
		x, y := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		if l.Order == sortUnsigned {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(int64(x), int64(y))
	case encoding.Float:
		return cmp.Compare(math.Float32frombits(binary.LittleEndian.Uint32(a)), math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case encoding.Double:
		return cmp.Compare(math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return bytes.Compare(a, b)
}

// ordered reports whether compare can tell the order of the leaf's values.
func (l *physicalLeaf) ordered() bool {
	bytesOrder := l.Physical == encoding.ByteArray || l.Physical == encoding.FixedLenByteArray
	return l.Order != sortNone && (!bytesOrder || l.Order == sortUnsigned)
}

// width returns the bytes of a value in statistics, 0 where it varies.
func (l *physicalLeaf) width() int {
	return [...]int{1, 4, 8, 12, 4, 8, 0, l.Length}[l.Physical]
}
