package parquetio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rlprep/rlprep/internal/parquetio/arrowschema"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/schema"
)

// ArrowFault returns why no reader can make a schema of the metadata ARROW:schema: then Arrow, and so every loader that is built on it,
// refuses the file (executed on pyarrow 26 and Polars 2.1). It is nil where there is none, and for types that only this tool does not know.
func (f *File) ArrowFault() (err error) {
	defer page.Recover(&err, f.name+": "+arrowschema.Key)
	i := slices.IndexFunc(f.meta.keyValues, func(kv KeyValue) bool { return kv.Key == arrowschema.Key })
	if i < 0 {
		return nil
	}
	_, err = arrowschema.Message(f.meta.keyValues[i].Value)
	return err
}

// applyArrowSchema gives the columns the types of ARROW:schema, where it fits. Arrow's own reader ignores it when the number
// of columns differs, and else applies it by position; here the names must be the same too, so that what another tool
// forgot to update describes nothing.
func (f *File) applyArrowSchema() {
	i := slices.IndexFunc(f.meta.keyValues, func(kv KeyValue) bool { return kv.Key == arrowschema.Key })
	if i < 0 {
		return
	}
	s, err := arrowschema.Decode(f.meta.keyValues[i].Value)
	if err != nil || s.NumFields() != len(f.schema.Fields) {
		return // it only says how Arrow held the data; the columns are all there without it
	}
	for i := range f.schema.Fields {
		if s.Field(i).Name != f.schema.Fields[i].Name {
			return
		}
	}
	f.arrow = s
	for i := range f.schema.Fields {
		applyArrow(&f.schema.Fields[i], s.Field(i))
	}
}

// applyArrow gives f the type of a where a can have been written as f (Arrow C++, reader_internal.cc and schema.cc,
// ApplyOriginalMetadata).
func applyArrow(f *schema.Field, a arrow.Field) {
	o := sourceElementOf(*f)
	if o == nil {
		return
	}
	t := &f.Type
	var fits bool
	switch at := a.Type.(type) {
	case *arrow.StructType:
		fits = applyArrowFields(t, schema.Struct, at.Fields())
	case *arrow.MapType:
		fits = applyArrowFields(t, schema.Map, []arrow.Field{at.KeyField(), at.ItemField()})
	case *arrow.FixedSizeListType:
		if fits = applyArrowFields(t, schema.List, []arrow.Field{at.ElemField()}); fits {
			t.Layout, t.Size = schema.Fixed, int(at.Len())
		}
	case arrow.ListLikeType:
		if fits = applyArrowFields(t, schema.List, []arrow.Field{at.ElemField()}); fits {
			t.Layout = listForm(at.ID())
		}
	default:
		fits = applyArrowLeaf(t, a.Type)
	}
	if fits {
		o.arrow = &a
	}
	o.kind = f.Type
}

func listForm(id arrow.Type) schema.Layout {
	switch id {
	case arrow.LARGE_LIST:
		return schema.Large
	case arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		return schema.View
	}
	return schema.Plain
}

// applyArrowFields applies the fields of a nested type. The names of elements, keys and values are no part of the shape.
func applyArrowFields(t *schema.Type, kind schema.Kind, fields []arrow.Field) bool {
	if t.Kind != kind || len(t.Fields) != len(fields) {
		return false
	}
	for i := range fields {
		if kind == schema.Struct && t.Fields[i].Name != fields[i].Name {
			return false
		}
	}
	for i := range fields {
		applyArrow(&t.Fields[i], fields[i])
	}
	return true
}

// applyArrowLeaf reports whether a leaf of type a is stored as t, and makes t the type that Arrow restores.
func applyArrowLeaf(t *schema.Type, a arrow.DataType) bool {
	bytesLike := t.Layout == schema.Plain && (t.Kind == schema.Text || t.Kind == schema.Binary)
	text := t.Kind == schema.Text
	switch at := a.(type) {
	case *arrow.DictionaryType:
		t.Dictionary = bytesLike
		inner := *t
		return applyArrowLeaf(&inner, at.ValueType)
	case *arrow.StringType:
		return text
	case *arrow.BinaryType:
		return bytesLike && !text
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		if bytesLike && text == (a.ID() == arrow.LARGE_STRING) {
			t.Layout = schema.Large
		}
		return t.Layout == schema.Large
	case *arrow.StringViewType, *arrow.BinaryViewType:
		if bytesLike && text == (a.ID() == arrow.STRING_VIEW) {
			t.Layout = schema.View
		}
		return t.Layout == schema.View
	case *arrow.TimestampType:
		return applyTimestamp(t, at)
	case *arrow.DurationType:
		if t.Kind != schema.Int || t.Bits != 64 {
			return false
		}
		*t = schema.Type{Kind: schema.Time, Name: "duration[" + at.Unit.String() + "]"}
		return true
	case arrow.DecimalType:
		digits := fmt.Sprintf("(%d, %d)", at.GetPrecision(), at.GetScale())
		if t.Kind != schema.Decimal || !strings.HasSuffix(t.Name, digits) {
			return false
		}
		t.Name = fmt.Sprintf("decimal%d%s", at.BitWidth(), digits)
		return true
	}
	return arrowschema.LeafType(*t) != nil && arrow.TypeEqual(arrowschema.LeafType(*t), a)
}

// applyTimestamp takes the time zone over, which Parquet stores only as "UTC or none".
func applyTimestamp(t *schema.Type, at *arrow.TimestampType) bool {
	unit, _, zoned := strings.Cut(strings.TrimSuffix(t.Name, "]"), ", tz=")
	if t.Kind != schema.Time || !strings.HasPrefix(unit, "timestamp[") || zoned != (at.TimeZone != "") {
		return false
	}
	if zoned {
		t.Name = unit + ", tz=" + at.TimeZone + "]"
	}
	return unit == "timestamp["+at.Unit.String()
}

// arrowField returns f as Arrow has it: as ARROW:schema of its file said where f is what was read there, else as its type
// says. It returns false for a type that Arrow's Go library has no word for.
func arrowField(f schema.Field) (arrow.Field, bool) {
	out := arrow.Field{Name: f.Name, Nullable: f.Nullable}
	o := sourceElementOf(f)
	known := o != nil && o.arrow != nil && o.kind.Kind == f.Type.Kind
	if known {
		out.Metadata = o.arrow.Metadata
	}
	switch f.Type.Kind {
	case schema.Struct, schema.List, schema.Map:
		out.Type = arrowNested(f.Type)
	default:
		if known && o.kind.Equal(f.Type) {
			out.Type = o.arrow.Type
		} else {
			out.Type = arrowschema.LeafType(f.Type)
		}
	}
	return out, out.Type != nil
}

func arrowNested(t schema.Type) arrow.DataType {
	fields := make([]arrow.Field, len(t.Fields))
	for i, c := range t.Fields {
		var ok bool
		if fields[i], ok = arrowField(c); !ok {
			return nil
		}
		if o := sourceElementOf(c); t.Kind != schema.Struct && o != nil && o.arrow != nil {
			fields[i].Name = o.arrow.Name // Arrow names elements on its own: "item" where Parquet has "element"
		}
	}
	switch {
	case t.Kind == schema.Struct:
		return arrow.StructOf(fields...)
	case t.Kind == schema.Map && len(fields) == 2:
		fields[0].Nullable = false
		return arrow.MapOfFields(fields[0], fields[1])
	case t.Kind != schema.List || len(fields) != 1:
		return nil
	case t.Layout == schema.Large:
		return arrow.LargeListOfField(fields[0])
	case t.Layout == schema.View:
		return arrow.ListViewOfField(fields[0])
	case t.Layout == schema.Fixed:
		return arrow.FixedSizeListOfField(int32(t.Size), fields[0])
	}
	return arrow.ListOfField(fields[0])
}

// newArrowSchema returns the value of ARROW:schema for the columns s of a file whose own footer has these other entries, and
// false where it cannot be told: then the file is better off without.
func newArrowSchema(s *schema.Schema, base *arrow.Schema, keyValues []KeyValue) (string, bool) {
	fields := make([]arrow.Field, len(s.Fields))
	for i, f := range s.Fields {
		var ok bool
		if fields[i], ok = arrowField(f); !ok {
			return "", false
		}
	}
	var keys, values []string
	for _, k := range base.Metadata().Keys() { // the same entries stand in there, and pyarrow shows both merged
		if i := slices.IndexFunc(keyValues, func(kv KeyValue) bool { return kv.Key == k }); i >= 0 {
			keys, values = append(keys, k), append(values, keyValues[i].Value)
		}
	}
	md := arrow.NewMetadata(keys, values)
	value, err := arrowschema.Encode(arrow.NewSchema(fields, &md))
	return value, err == nil
}
