package transform

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/jsontext"
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
	v, err := jsontext.DecodeStrict([]byte(s))
	var t schema.Type
	if err == nil {
		v, t, err = constant(v)
	}
	if err != nil {
		return fault("read JSON %q: %w", schema.Cut(s, 40), err)
	}
	return v, t, nil
}

// constant is a decoded value as a constant: every part of it has a type.
func constant(v schema.Value) (schema.Value, schema.Type, error) {
	switch v.Kind() {
	case schema.List:
		elems, types := make([]schema.Value, v.Len()), make([]schema.Type, v.Len())
		for i := range elems {
			var err error
			if elems[i], types[i], err = constant(v.Elem(i)); err != nil {
				return schema.Value{}, schema.Type{}, err
			}
		}
		return listOf(elems, types)
	case schema.Struct:
		values, fields := make([]schema.Value, v.Len()), make([]schema.Field, v.Len())
		for i, f := range v.Type().Fields {
			e, t, err := constant(v.Elem(i))
			if err != nil {
				return schema.Value{}, schema.Type{}, err
			}
			values[i], fields[i] = e, schema.NewField(f.Name, t)
		}
		return structOf(values, fields)
	case schema.Null:
		return fault("null has no type: write null:string, or another type")
	}
	t, err := jsontext.TypeOf(v)
	return v, t, err
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

// ParseType reads a type that a step can make, as pyarrow prints it: see schema.ParseType. Types that are only carried, such as timestamps,
// are unknown to it.
func ParseType(s string) (schema.Type, error) {
	t, err := schema.ParseType(s)
	if err == nil {
		err = makeable(&t)
	}
	var unknown *schema.UnknownTypeError
	if errors.As(err, &unknown) {
		err = fmt.Errorf("read type %q: %w", schema.Cut(s, 60), unknown)
	}
	if err != nil {
		return schema.Type{}, err
	}
	return t, nil
}

// makeable returns an error for a type that no step can make.
func makeable(t *schema.Type) error {
	ok := t.Name == "" && !t.Dictionary
	switch t.Kind {
	case schema.Text:
		ok = ok && t.Layout != schema.View
	case schema.Binary, schema.List:
		ok = ok && t.Layout == schema.Plain
	case schema.Float:
		ok = ok && t.Bits >= 32
	case schema.Bool, schema.Int, schema.Struct, schema.Null:
	default:
		ok = false
	}
	if !ok {
		name, _, _ := strings.Cut(t.String(), "<")
		return &schema.UnknownTypeError{Name: name}
	}
	for i := range t.Fields {
		if err := makeable(&t.Fields[i].Type); err != nil {
			return err
		}
	}
	return nil
}
