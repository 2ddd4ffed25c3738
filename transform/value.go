package transform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
)

// ParseValue reads a constant as a user writes it: text as it stands, or with its type before it as "str:", "int:",
// "float:", "bool:", "json:" or "null:TYPE". A "json:" object becomes a struct with fields in the order written; a list needs
// elements of one type. Integers are int64, numbers with a point double.
func ParseValue(s string) (schema.Value, schema.Type, error) {
	prefix, rest, ok := strings.Cut(s, ":")
	if !ok {
		prefix = ""
	}
	switch prefix {
	case "str":
		s = rest
	case "int":
		i, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			return fault("%q is no integer of 64 bits", rest)
		}
		return schema.IntValue(i), schema.Int64Type, nil
	case "float":
		f, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			return fault("%q is no number", rest)
		}
		return schema.FloatValue(f), schema.FloatType, nil
	case "bool":
		if rest != "true" && rest != "false" {
			return fault("%q is no bool (true, false)", rest)
		}
		return schema.BoolValue(rest == "true"), schema.BoolType, nil
	case "json":
		return parseJSON(rest)
	case "null":
		t, err := ParseType(rest)
		if err != nil {
			return schema.Value{}, schema.Type{}, err
		}
		return schema.NullValue, t, nil
	}
	if !utf8.ValidString(s) {
		return fault("%q is not valid UTF-8", s)
	}
	return schema.TextValue(s), schema.StringType, nil
}

func fault(format string, args ...any) (schema.Value, schema.Type, error) {
	return schema.Value{}, schema.Type{}, fmt.Errorf(format, args...)
}

// ValueOf makes a constant of an argument: a string is read by ParseValue; numbers, booleans, lists and mappings (whose
// fields are sorted by name where it is a Go map, which has no order) are taken as they are.
func ValueOf(v any) (schema.Value, schema.Type, error) {
	switch x := v.(type) {
	case string:
		return ParseValue(x)
	case bool:
		return schema.BoolValue(x), schema.BoolType, nil
	case json.Number:
		return number(x.String())
	case float64:
		return schema.FloatValue(x), schema.FloatType, nil
	case int, int64, uint64:
		i, err := argInt(x)
		return schema.IntValue(i), schema.Int64Type, err
	case []any:
		elems := make([]schema.Value, len(x))
		types := make([]schema.Type, len(x))
		for i, e := range x {
			var err error
			if elems[i], types[i], err = ValueOf(e); err != nil {
				return schema.Value{}, schema.Type{}, err
			}
		}
		return listOf(elems, types)
	case map[string]any, Object:
		return structOfMap(x)
	case nil:
		return fault("null has no type: write null:string, or another type")
	}
	return fault("%s is no value", jsonKind(v))
}

func structOfMap(v any) (schema.Value, schema.Type, error) {
	m, _ := mapping(v)
	values, fields := make([]schema.Value, len(m)), make([]schema.Field, len(m))
	for i, x := range m {
		v, t, err := ValueOf(x.Value)
		if err != nil {
			return fault("%s: %w", x.Name, err)
		}
		values[i], fields[i] = v, schema.NewField(x.Name, t)
	}
	return structOf(values, fields)
}

func structOf(values []schema.Value, fields []schema.Field) (schema.Value, schema.Type, error) {
	if len(fields) == 0 {
		return fault("{} has no field, and no Parquet writer takes an empty struct")
	}
	t := schema.StructOf(fields...)
	return schema.StructValue(&t, values), t, nil
}

// listOf makes a list whose elements are of one type; among numbers one double makes all of them doubles.
func listOf(elems []schema.Value, types []schema.Type) (schema.Value, schema.Type, error) {
	if len(elems) == 0 {
		return fault("[] has no element to take a type from")
	}
	numbers, double := true, false
	for _, t := range types {
		numbers = numbers && (t.Kind == schema.Int || t.Kind == schema.Float)
		double = double || t.Kind == schema.Float
	}
	for i, t := range types {
		switch {
		case numbers && double:
			elems[i], types[i] = schema.FloatValue(elems[i].Float()), schema.FloatType
		case !t.Equal(types[0]):
			return fault("elements of a list are %s and %s", types[0], t)
		}
	}
	return schema.ListValue(elems), schema.ListOf(types[0]), nil
}

// parseJSON reads one JSON value and takes its type from it.
func parseJSON(s string) (schema.Value, schema.Type, error) {
	if !utf8.ValidString(s) {
		return fault("%q is not valid UTF-8", schema.Cut(s, 40))
	}
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	v, t, err := decodeJSON(d)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends too early")
		}
		return fault("read JSON %q: %w", schema.Cut(s, 40), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fault("read JSON %q: something follows the value", schema.Cut(s, 40))
	}
	if made := string(v.AppendJSON(nil)); strings.ContainsRune(made, utf8.RuneError) && !strings.ContainsRune(s, utf8.RuneError) &&
		!strings.Contains(strings.ToLower(s), `\ufffd`) {
		return fault("read JSON %q: it has one half of a surrogate pair", schema.Cut(s, 40))
	}
	return v, t, nil
}

// decodeJSON reads the next value of d, token by token: maps would lose the order of fields.
func decodeJSON(d *json.Decoder) (schema.Value, schema.Type, error) {
	tok, err := d.Token()
	if err != nil {
		return schema.Value{}, schema.Type{}, err
	}
	switch x := tok.(type) {
	case string:
		return schema.TextValue(x), schema.StringType, nil
	case bool:
		return schema.BoolValue(x), schema.BoolType, nil
	case json.Number:
		return number(x.String())
	case json.Delim:
		if x == '[' {
			return decodeList(d)
		}
		return decodeStruct(d)
	}
	return fault("null has no type: write null:string, or another type")
}

func number(s string) (schema.Value, schema.Type, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return schema.IntValue(i), schema.Int64Type, nil
	}
	if !strings.ContainsAny(s, ".eE") {
		return fault("%s is no integer of 64 bits", s)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fault("%s is no double", s)
	}
	return schema.FloatValue(f), schema.FloatType, nil
}

func decodeList(d *json.Decoder) (schema.Value, schema.Type, error) {
	var elems []schema.Value
	var types []schema.Type
	for d.More() {
		v, t, err := decodeJSON(d)
		if err != nil {
			return schema.Value{}, schema.Type{}, err
		}
		elems, types = append(elems, v), append(types, t)
	}
	if _, err := d.Token(); err != nil {
		return schema.Value{}, schema.Type{}, err
	}
	return listOf(elems, types)
}

func decodeStruct(d *json.Decoder) (schema.Value, schema.Type, error) {
	var values []schema.Value
	var fields []schema.Field
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return schema.Value{}, schema.Type{}, err
		}
		name, _ := tok.(string)
		if slices.ContainsFunc(fields, func(f schema.Field) bool { return f.Name == name }) {
			return fault("key %q stands twice", name)
		}
		v, t, err := decodeJSON(d)
		if err != nil {
			return schema.Value{}, schema.Type{}, err
		}
		values, fields = append(values, v), append(fields, schema.NewField(name, t))
	}
	if _, err := d.Token(); err != nil {
		return schema.Value{}, schema.Type{}, err
	}
	return structOf(values, fields)
}

// plainTypes are the types without parts, by the names that pyarrow prints and those that people write.
var plainTypes = map[string]schema.Type{
	"string": schema.StringType, "str": schema.StringType,
	"large_string": {Kind: schema.Text, Form: schema.Large},
	"binary":       {Kind: schema.Binary},
	"bool":         schema.BoolType,
	"int8":         {Kind: schema.Int, Bits: 8}, "int16": {Kind: schema.Int, Bits: 16},
	"int32": {Kind: schema.Int, Bits: 32}, "int64": schema.Int64Type, "int": schema.Int64Type,
	"uint8": {Kind: schema.Int, Bits: 8, Unsigned: true}, "uint16": {Kind: schema.Int, Bits: 16, Unsigned: true},
	"uint32": {Kind: schema.Int, Bits: 32, Unsigned: true}, "uint64": {Kind: schema.Int, Bits: 64, Unsigned: true},
	"float": {Kind: schema.Float, Bits: 32}, "float32": {Kind: schema.Float, Bits: 32},
	"double": schema.FloatType, "float64": schema.FloatType,
}

// ParseType reads a type as pyarrow prints it: "string", "int64", "list<element: string>" (or "list<string>"),
// "struct<role: string, content: string>".
func ParseType(s string) (schema.Type, error) {
	t, rest, err := parseType(s)
	if err == nil && strings.TrimSpace(rest) != "" {
		err = fmt.Errorf("%q follows it", strings.TrimSpace(rest))
	}
	if err != nil {
		return schema.Type{}, fmt.Errorf("read type %q: %w", schema.Cut(s, 60), err)
	}
	return t, nil
}

func parseType(s string) (t schema.Type, rest string, err error) {
	s = strings.TrimLeft(s, " ")
	end := strings.IndexAny(s, "<>, ")
	if end < 0 {
		end = len(s)
	}
	name, rest := s[:end], s[end:]
	if t, ok := plainTypes[name]; ok {
		return t, rest, nil
	}
	if (name != "list" && name != "struct") || !strings.HasPrefix(rest, "<") {
		return schema.Type{}, "", unknownType(name)
	}
	fields, rest, err := parseFields(rest[1:], name == "list")
	switch {
	case err != nil:
		return schema.Type{}, "", err
	case name == "struct":
		return schema.StructOf(fields...), rest, nil
	case len(fields) != 1:
		return schema.Type{}, "", errors.New("a list has one element type")
	}
	return schema.ListOf(fields[0].Type), rest, nil
}

func unknownType(name string) error {
	names := []string{"string", "large_string", "binary", "bool", "int32", "int64", "float", "double", "list", "struct"}
	if n := schema.Nearest(name, names); n != "" && n != name {
		return fmt.Errorf("unknown type %q; did you mean %q?", name, n)
	}
	return fmt.Errorf("unknown type %q (%s)", name, strings.Join(names, ", "))
}

// parseFields reads "name: type, …>"; of a list the name may be left out.
func parseFields(s string, list bool) (fields []schema.Field, rest string, err error) {
	for {
		s = strings.TrimLeft(s, " ")
		end := strings.IndexAny(s, ":<>,")
		name := ""
		if end >= 0 && s[end] == ':' {
			name, s = strings.TrimSpace(s[:end]), s[end+1:]
		} else if !list {
			return nil, "", errors.New("a field of a struct is written name: type")
		}
		t, after, err := parseType(s)
		if err != nil {
			return nil, "", err
		}
		fields = append(fields, schema.NewField(name, t))
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
