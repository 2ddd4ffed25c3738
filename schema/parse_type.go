package schema

import (
	"errors"
	"fmt"
	"strings"
)

// plainTypes are the types without parts, by the names that pyarrow prints and those that people write.
var plainTypes = map[string]Type{
	"null":   {Kind: Null},
	"string": StringType, "str": StringType, "large_string": {Kind: Text, Layout: Large}, "string_view": {Kind: Text, Layout: View},
	"binary": {Kind: Binary}, "large_binary": {Kind: Binary, Layout: Large}, UnknownName: {Kind: Binary, Name: UnknownName},
	"bool": BoolType,
	"int8": {Kind: Int, Bits: 8}, "int16": {Kind: Int, Bits: 16}, "int32": {Kind: Int, Bits: 32}, "int64": Int64Type, "int": Int64Type,
	"uint8": {Kind: Int, Bits: 8, Unsigned: true}, "uint16": {Kind: Int, Bits: 16, Unsigned: true},
	"uint32": {Kind: Int, Bits: 32, Unsigned: true}, "uint64": {Kind: Int, Bits: 64, Unsigned: true},
	"halffloat": {Kind: Float, Bits: 16}, "float": {Kind: Float, Bits: 32}, "float32": {Kind: Float, Bits: 32},
	"double": FloatType, "float64": FloatType,
}

// ParseType reads a type as pyarrow prints it: "string", "int64", "list<element: string>" (or "list<string>"),
// "struct<role: string, content: string>", "map<string, int64>", "timestamp[us, tz=UTC]". It does not read types of fixed size. An unknown
// name is an *UnknownTypeError.
func ParseType(s string) (Type, error) {
	t, rest, err := parseType(s)
	if err == nil && strings.TrimSpace(rest) != "" {
		err = fmt.Errorf("%q follows it", strings.TrimSpace(rest))
	}
	if err != nil {
		return Type{}, fmt.Errorf("read type %q: %w", Cut(s, 60), err)
	}
	return t, nil
}

// An UnknownTypeError is a name that is no type's, or none of a type that can be used.
type UnknownTypeError struct{ Name string }

// Error names the type that was probably meant, or those that can be made.
func (e *UnknownTypeError) Error() string {
	names := []string{"string", "large_string", "binary", "bool", "int32", "int64", "float", "double", "list", "struct"}
	if n := Nearest(e.Name, names); n != "" && n != e.Name {
		return fmt.Sprintf("unknown type %q; did you mean %q?", e.Name, n)
	}
	return fmt.Sprintf("unknown type %q (%s)", e.Name, strings.Join(names, ", "))
}

func parseType(s string) (t Type, rest string, err error) {
	s = strings.TrimLeft(s, " ")
	if name, rest, ok := namedType(s); ok {
		return name, rest, nil
	}
	end := strings.IndexAny(s, "<>, ")
	if end < 0 {
		end = len(s)
	}
	name, rest := s[:end], s[end:]
	if t, ok := plainTypes[name]; ok {
		return t, rest, nil
	}
	if !strings.HasPrefix(rest, "<") {
		return Type{}, "", &UnknownTypeError{name}
	}
	switch name {
	case "struct":
		t.Fields, rest, err = parseFields(rest[1:], true)
		return StructOf(t.Fields...), rest, err
	case "list", "large_list", "map":
		t.Fields, rest, err = parseFields(rest[1:], false)
	case "dictionary": // whatever its indices are
		end := strings.Index(rest, ", indices=")
		if err = fmt.Errorf("a dictionary is written %s", Type{Kind: Text, Dictionary: true}); end < 0 || !strings.HasPrefix(rest, "<values=") {
			return Type{}, "", err
		}
		t, _, err = parseType(rest[len("<values="):end])
		t.Dictionary = true
		_, rest, _ = strings.Cut(rest, ">")
		return t, rest, err
	default:
		return Type{}, "", &UnknownTypeError{name}
	}
	switch {
	case err != nil:
		return Type{}, "", err
	case name == "map" && len(t.Fields) == 2:
		t.Fields[0].Name, t.Fields[1].Name = "key", "value"
		return Type{Kind: Map, Fields: t.Fields}, rest, nil
	case name == "map":
		return Type{}, "", errors.New("a map has two types, of its keys and of its values")
	case len(t.Fields) != 1:
		return Type{}, "", errors.New("a list has one element type")
	}
	out := ListOf(t.Fields[0].Type)
	if name == "large_list" {
		out.Layout = Large
	}
	return out, rest, nil
}

// namedType reads a type that is carried by its name: a date, a time, an extension.
func namedType(s string) (t Type, rest string, ok bool) {
	for _, n := range []struct {
		prefix, end string
		kind        Kind
	}{
		{"timestamp[", "]", Time}, {"time32[", "]", Time}, {"time64[", "]", Time}, {"duration[", "]", Time}, {"date32[", "]", Time}, {"date64[", "]", Time},
		{"decimal128(", ")", Decimal}, {"decimal256(", ")", Decimal}, {"extension<", ">", Other},
	} {
		if end := strings.Index(s, n.end); strings.HasPrefix(s, n.prefix) && end > 0 {
			return Type{Kind: n.kind, Name: s[:end+1]}, s[end+1:], true
		}
	}
	return Type{}, "", false
}

// parseFields reads "name: type, …>"; a name may be left out where fields need none.
func parseFields(s string, named bool) (fields []Field, rest string, err error) {
	for {
		s = strings.TrimLeft(s, " ")
		end := strings.IndexAny(s, ":<>,")
		name := ""
		if end >= 0 && s[end] == ':' {
			name, s = strings.TrimSpace(s[:end]), s[end+1:]
		} else if named {
			return nil, "", errors.New("a field of a struct is written name: type")
		}
		t, after, err := parseType(s)
		if err != nil {
			return nil, "", err
		}
		fields = append(fields, NewField(name, t))
		s = strings.TrimLeft(after, " ")
		switch {
		case strings.HasPrefix(s, ","):
			s = s[1:]
		case strings.HasPrefix(s, ">"):
			return fields, s[1:], nil
		default:
			return nil, "", errors.New("no > at its end")
		}
	}
}
