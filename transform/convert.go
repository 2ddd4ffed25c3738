package transform

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
)

// castable returns an error where no value of from can become one of to, or where fields would be lost.
func castable(at schema.Path, from, to schema.Type) error {
	scalar := func(k schema.Kind) bool {
		return slices.Contains([]schema.Kind{schema.Text, schema.Int, schema.Float, schema.Bool, schema.Binary, schema.Null}, k)
	}
	switch {
	case from.Kind == schema.Null:
		return nil
	case mixedScalars(from) && slices.Contains([]schema.Kind{schema.Text, schema.Int, schema.Float, schema.Bool}, to.Kind):
		return nil
	case from.Kind == schema.List && to.Kind == schema.List:
		return castable(at.Elem(), from.Fields[0].Type, to.Fields[0].Type)
	case from.Kind == schema.Struct && to.Kind == schema.Struct:
		for _, f := range from.Fields {
			t, i := to.Field(f.Name)
			if i < 0 {
				return fmt.Errorf("column %q is %s: its field %q would be lost in %s", at, from, f.Name, to)
			}
			if err := castable(at.Field(f.Name), f.Type, t.Type); err != nil {
				return err
			}
		}
		return nil
	case to.Kind == schema.Text && (from.Kind == schema.List || from.Kind == schema.Struct):
		return fmt.Errorf("column %q is %s: step json writes it as text", at, from)
	case from.Kind == schema.Text && (to.Kind == schema.List || to.Kind == schema.Struct):
		return fmt.Errorf("column %q is string: step json reads %s out of it", at, to)
	case !scalar(from.Kind) || !scalar(to.Kind), from.Kind != schema.Text && to.Kind == schema.Binary, to.Kind == schema.Null,
		from.Kind == schema.Binary && to.Kind != schema.Text && to.Kind != schema.Binary, to.Kind == schema.Bool && from.Kind == schema.Float:
		return fmt.Errorf("column %q is %s, which does not become %s", at, from, to)
	}
	return nil
}

var (
	errNoNumber = errors.New("is no such number")
	errRange    = errors.New("does not fit")
	errFraction = errors.New("has a fraction")
	errUTF8     = errors.New("is not UTF-8")
)

// convert returns v as a value of type to, which castable has said it may become.
func convert(v schema.Value, to *schema.Type) (schema.Value, error) {
	if v.IsNull() || v.IsMissing() {
		return schema.NullValue, nil
	}
	switch to.Kind {
	case schema.Text:
		return toText(v)
	case schema.Binary:
		return schema.BinaryValue(v.Text()), nil
	case schema.Int:
		return toInt(v, to)
	case schema.Float:
		return toFloat(v)
	case schema.Bool:
		return toBool(v)
	case schema.List:
		elems := make([]schema.Value, v.Len())
		for i := range elems {
			var err error
			if elems[i], err = convert(v.Elem(i), &to.Fields[0].Type); err != nil {
				return v, err
			}
		}
		return schema.ListValue(elems), nil
	case schema.Struct:
		elems := make([]schema.Value, len(to.Fields))
		for i, f := range to.Fields {
			var err error
			if elems[i], err = convert(v.Field(f.Name), &to.Fields[i].Type); err != nil {
				return v, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		return schema.StructValue(to, elems), nil
	}
	return v, errRange
}

// mixedScalars reports whether t is the type of a JSON column whose values are of several types, none of them a list or a struct.
func mixedScalars(t schema.Type) bool {
	names, ok := strings.CutPrefix(t.Name, "mixed<")
	return t.Kind == schema.Other && ok && !strings.Contains(names, "list") && !strings.Contains(names, "struct")
}

// fromMixed returns the value that the JSON text of a value of mixed types is. A number that is to be text keeps its spelling.
func fromMixed(v schema.Value, to *schema.Type) (schema.Value, error) {
	text := v.Text()
	var plain any
	if err := json.Unmarshal([]byte(text), &plain); err != nil {
		return v, err
	}
	switch x := plain.(type) {
	case nil:
		return schema.NullValue, nil
	case string:
		return schema.TextValue(x), nil
	case bool:
		return schema.BoolValue(x), nil
	case float64:
		if i, err := strconv.ParseInt(text, 10, 64); err == nil && to.Kind != schema.Text {
			return schema.IntValue(i), nil
		}
		if to.Kind == schema.Text {
			return schema.TextValue(text), nil
		}
		return schema.FloatValue(x), nil
	}
	return v, errNoNumber
}

func toText(v schema.Value) (schema.Value, error) {
	switch v.Kind() {
	case schema.Text:
		return v, nil
	case schema.Binary:
		if !utf8.ValidString(v.Text()) {
			return v, errUTF8
		}
		return schema.TextValue(v.Text()), nil
	}
	return schema.TextValue(string(v.AppendJSON(nil))), nil
}

func toInt(v schema.Value, to *schema.Type) (schema.Value, error) {
	i := v.Int()
	if v.Big() {
		if to.Unsigned && to.Bits == 64 {
			return v, nil
		}
		return v, errRange
	}
	switch v.Kind() {
	case schema.Bool:
		if v.Bool() {
			i = 1
		}
	case schema.Float:
		f := v.Float()
		if f != math.Trunc(f) {
			return v, errFraction
		}
		if math.Abs(f) >= 1<<63 {
			return v, errRange
		}
		i = int64(f)
	case schema.Text:
		var err error
		if i, err = strconv.ParseInt(v.Text(), 10, 64); errors.Is(err, strconv.ErrRange) {
			return v, errRange
		} else if err != nil {
			return v, errNoNumber
		}
	}
	if !to.HoldsInt(i) {
		return v, errRange
	}
	return schema.IntValue(i), nil
}

func toFloat(v schema.Value) (schema.Value, error) {
	switch v.Kind() {
	case schema.Int:
		if f := v.Float(); f >= 1<<63 || int64(f) != v.Int() {
			return v, errRange
		}
	case schema.Bool:
		if v.Bool() {
			return schema.FloatValue(1), nil
		}
		return schema.FloatValue(0), nil
	case schema.Text:
		f, err := strconv.ParseFloat(v.Text(), 64)
		if err != nil {
			return v, errNoNumber
		}
		return schema.FloatValue(f), nil
	}
	return schema.FloatValue(v.Float()), nil
}

func toBool(v schema.Value) (schema.Value, error) {
	switch {
	case v.Kind() == schema.Bool:
		return v, nil
	case v.Kind() == schema.Text && v.Text() == "true", v.Kind() == schema.Int && v.Int() == 1:
		return schema.BoolValue(true), nil
	case v.Kind() == schema.Text && v.Text() == "false", v.Kind() == schema.Int && v.Int() == 0:
		return schema.BoolValue(false), nil
	}
	return v, errors.New("is neither true nor false")
}
