// Package schema is the data model: what a column is called, what type it has, what a value and a row are, and where in
// the files a value stands. It knows no file format and no trainer.
//
// Terms: a column is what stands at the top level of a file; a leaf is a column or a part of one that holds plain values;
// a Path names either. Missing (there is no such column) and Null (the column is there, the value is not) are two things,
// because trainers treat them as two.
package schema

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind is the kind of a Type and of a Value.
type Kind uint8

// The kinds. Missing is only the kind of a Value; Null as the kind of a Type is Arrow's null type.
const (
	Missing Kind = iota
	Null
	Bool
	Int   // any width, signed or not
	Float // half, single, double
	Text
	Binary
	List
	Struct
	Map
	Time    // date, time, timestamp, duration: Type.Name says which
	Decimal // Type.Name says which
	Other   // a type that is carried but not understood: Type.Name says which
)

var kindNames = [...]string{"missing", "null", "bool", "int", "float", "string", "binary", "list", "struct", "map", "time", "decimal", "other"}

// String returns the name that messages use, "string" for Text.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Layout distinguishes Arrow types that hold the same values in different layouts: string, large_string, string_view.
type Layout uint8

// The layouts of text, binary and lists.
const (
	Plain Layout = iota
	Large
	View
	Fixed // fixed_size_binary, fixed_size_list: Type.Size
)

// A Type is an Arrow data type, as a reader of the file would see it (with the types of the ARROW:schema metadata where the
// file has them and they fit).
type Type struct {
	Kind       Kind
	Bits       int    // Int: 8 to 64; Float: 16, 32, 64
	Unsigned   bool   // Int
	Layout     Layout // Text, Binary, List
	Size       int    // Fixed: bytes or elements
	Dictionary bool   // Arrow dictionary of this type (pandas categorical)
	Name       string
	Fields     []Field // Struct: its fields; List: the element; Map: key and value
}

// The types that recipes use.
var (
	StringType = Type{Kind: Text}
	Int64Type  = Type{Kind: Int, Bits: 64}
	BoolType   = Type{Kind: Bool}
	FloatType  = Type{Kind: Float, Bits: 64}
)

// ListOf returns list<element: t>, elements nullable.
func ListOf(t Type) Type {
	return Type{Kind: List, Fields: []Field{{Name: "element", Type: t, Nullable: true}}}
}

// StructOf returns the struct of these fields.
func StructOf(fields ...Field) Type { return Type{Kind: Struct, Fields: fields} }

// A Field is a column of a schema or a field of a struct.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	// SourceElement is what the file format keeps of the field that was read (internal/parquetio: its schema element), so that
	// an untouched column is written as it was. It is nil for a new field and is no part of equality.
	SourceElement any
}

// NewField returns a nullable field.
func NewField(name string, t Type) Field { return Field{Name: name, Type: t, Nullable: true} }

// A Schema is the columns of a file, in order.
type Schema struct{ Fields []Field }

// String returns the type as pyarrow prints it: "list<element: struct<role: string, content: string>>".
func (t Type) String() string {
	s := t.base()
	if t.Dictionary {
		return "dictionary<values=" + s + ", indices=int32, ordered=0>"
	}
	return s
}

func (t Type) base() string {
	prefix := [...]string{"", "large_", "", ""}[t.Layout]
	suffix := [...]string{"", "", "_view", ""}[t.Layout]
	switch t.Kind {
	case Int:
		if t.Unsigned {
			return fmt.Sprintf("uint%d", t.Bits)
		}
		return fmt.Sprintf("int%d", t.Bits)
	case Float:
		return map[int]string{16: "halffloat", 32: "float"}[t.Bits] + map[bool]string{true: "double"}[t.Bits == 64]
	case Text:
		return prefix + "string" + suffix
	case Binary:
		if t.Layout == Fixed {
			return fmt.Sprintf("fixed_size_binary[%d]", t.Size)
		}
		return prefix + "binary" + suffix
	case List:
		inner := ""
		if len(t.Fields) == 1 {
			inner = t.Fields[0].String()
		}
		if t.Layout == Fixed {
			return fmt.Sprintf("fixed_size_list<%s>[%d]", inner, t.Size)
		}
		return prefix + "list" + suffix + "<" + inner + ">"
	case Struct:
		return "struct<" + joinFields(t.Fields) + ">"
	case Map:
		if len(t.Fields) == 2 {
			return "map<" + t.Fields[0].Type.String() + ", " + t.Fields[1].Type.String() + ">"
		}
	case Time, Decimal, Other:
		return t.Name
	}
	return t.Kind.String()
}

func joinFields(fields []Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.String()
	}
	return strings.Join(parts, ", ")
}

// String returns "name: type", with " not null" where the field is required, as pyarrow does.
func (f Field) String() string {
	s := f.Name + ": " + f.Type.String()
	if !f.Nullable {
		s += " not null"
	}
	return s
}

// Equal reports whether the types are the same to a reader that aligns files strictly, nullability aside. The name of a
// list's element is not compared: no loader minds it.
func (t Type) Equal(u Type) bool {
	if t.Kind != u.Kind || t.Bits != u.Bits || t.Unsigned != u.Unsigned || t.Layout != u.Layout || t.Size != u.Size ||
		t.Dictionary != u.Dictionary || t.Name != u.Name || len(t.Fields) != len(u.Fields) {
		return false
	}
	return slices.EqualFunc(t.Fields, u.Fields, func(a, b Field) bool {
		return (t.Kind != Struct || a.Name == b.Name) && a.Type.Equal(b.Type)
	})
}

// UnknownName is the name of a type whose values are stored and which Arrow, and every loader that is built on it, reads as null.
const UnknownName = "unknown"

// OnlyNull reports whether t is null, or a list of what is only null, as HF datasets tells it (features.py, _is_null_feature, datasets 5.2).
func (t Type) OnlyNull() bool {
	return t.Kind == Null || t.Kind == List && len(t.Fields) == 1 && t.Fields[0].Type.OnlyNull()
}

// WiderInt returns the integer that holds all values of the integers a and b; false where none of 64 bits does.
func WiderInt(a, b Type) (Type, bool) {
	if a.Unsigned == b.Unsigned {
		return Type{Kind: Int, Bits: max(a.Bits, b.Bits), Unsigned: a.Unsigned}, true
	}
	signed, unsigned := a, b
	if a.Unsigned {
		signed, unsigned = b, a
	}
	bits := max(signed.Bits, 2*unsigned.Bits)
	return Type{Kind: Int, Bits: bits}, bits <= 64
}

// HoldsInt reports whether an integer type holds i.
func (t *Type) HoldsInt(i int64) bool {
	switch {
	case t.Unsigned:
		return i >= 0 && (t.Bits == 64 || i>>t.Bits == 0)
	case t.Bits == 64:
		return true
	}
	top := i >> (t.Bits - 1)
	return top == 0 || top == -1
}

// Field returns the struct field of that name and its position, or -1.
func (t Type) Field(name string) (Field, int) { return find(t.Fields, name) }

func find(fields []Field, name string) (Field, int) {
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, -1
	}
	return fields[i], i
}

// Column returns the top-level column of that name and its position, or -1.
func (s *Schema) Column(name string) (Field, int) { return find(s.Fields, name) }

// Names returns the names of the columns, in order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	return names
}

// Lookup returns the field at p and whether there is one. At a path that ends in "[]" it is the list's element.
func (s *Schema) Lookup(p Path) (Field, bool) {
	fields := s.Fields
	var f Field
	for i, step := range p.Steps() {
		if step == Elem {
			if (f.Type.Kind != List && f.Type.Kind != Map) || i == 0 {
				return Field{}, false
			}
			if f.Type.Kind == Map {
				f = Field{Name: "entries", Type: StructOf(f.Type.Fields...)}
			} else {
				f = f.Type.Fields[0]
			}
		} else {
			var at int
			if f, at = find(fields, step); at < 0 {
				return Field{}, false
			}
		}
		fields = nil
		if f.Type.Kind == Struct {
			fields = f.Type.Fields
		}
	}
	return f, p != ""
}

// Clone returns a deep copy, so that the fields of the copy can be changed.
func (s *Schema) Clone() *Schema { return &Schema{Fields: cloneFields(s.Fields)} }

func cloneFields(fields []Field) []Field {
	out := slices.Clone(fields)
	for i := range out {
		out[i].Type.Fields = cloneFields(out[i].Type.Fields)
	}
	return out
}

// A Leaf is a part of a schema that holds plain values, with the Dremel levels at which it does.
type Leaf struct {
	Path     Path
	Type     Type
	MaxDef   uint8 // definition level of a value that is not null
	MaxRep   uint8 // lists passed on the way
	Nullable bool  // the leaf itself; its parents may be nullable where it is not
}

// Leaves returns the leaves in file order. A field adds one definition level when it is nullable, a list or map one
// definition and one repetition level.
func (s *Schema) Leaves() []Leaf {
	var out []Leaf
	var walk func(p Path, f Field, def, rep uint8)
	walk = func(p Path, f Field, def, rep uint8) {
		if f.Nullable {
			def++
		}
		switch f.Type.Kind {
		case Struct:
			for _, c := range f.Type.Fields {
				walk(p.Field(c.Name), c, def, rep)
			}
		case List:
			for _, c := range f.Type.Fields {
				walk(p.Elem(), c, def+1, rep+1)
			}
		case Map:
			for _, c := range f.Type.Fields {
				walk(p.Elem().Field(c.Name), c, def+1, rep+1)
			}
		default:
			out = append(out, Leaf{Path: p, Type: f.Type, MaxDef: def, MaxRep: rep, Nullable: f.Nullable})
		}
	}
	for _, f := range s.Fields {
		walk(Path("").Field(f.Name), f, 0, 0)
	}
	return out
}

// Nearest returns the name that name was probably meant to be, or "" when none is near.
func Nearest(name string, names []string) string {
	best, at := 3, ""
	if len(name) <= 3 {
		best = 2
	}
	for _, n := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(n), best); d < best {
			best, at = d, n
		}
	}
	return at
}

// distance is Levenshtein's, given up at limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		prev := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := prev
			if a[i-1] != b[j-1] {
				cost = min(prev, row[j], row[j-1]) + 1
			}
			prev, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}
