package fixes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// ReadJSON reads the objects or lists out of a text column, if every row's have the same keys: a key that a row lacks would be a null
// in its struct, which is another thing to who reads it.
func ReadJSON(title string) rule.Fix { return rule.Fix{Title: title, Plan: readJSON} }

func readJSON(ctx context.Context, r rule.FixRequest) (string, error) {
	switch t := typeAt(r, r.File(), r.Path()); t.Kind {
	case schema.Missing:
		return "", nil
	case schema.Text:
	default:
		return string(r.Path()) + " is " + t.String(), nil
	}
	typ, why := schema.Type{Kind: schema.Null}, ""
	err := r.Scan(ctx, r.File(), []schema.Path{r.Path()}, func(row schema.Row) {
		v := row.At(0)
		if why != "" || v.Kind() != schema.Text {
			return
		}
		t, err := typeOfJSON(v.Text())
		if err == nil {
			typ, err = sameKeys(typ, t)
		}
		if err != nil {
			why = fmt.Sprintf("%s: %v", row.Pos().At(r.Path()), err)
		}
	})
	if why != "" || err != nil {
		return why, err
	}
	if typ.Kind != schema.Struct && typ.Kind != schema.List {
		return "it holds no JSON objects", nil
	}
	return addIfFits(r, r.Path(), transform.JSON{From: r.Path(), Type: typ}), nil
}

// typeOfJSON returns the type of an object or a list in JSON.
func typeOfJSON(text string) (schema.Type, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	t, err := nextType(d)
	if err != nil {
		return t, fmt.Errorf("no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return t, errors.New("no JSON: there is more behind it")
	}
	if t.Kind != schema.Struct && t.Kind != schema.List && t.Kind != schema.Null {
		return t, fmt.Errorf("JSON of a %s, neither object nor list", t)
	}
	return t, nil
}

// nextType returns the type of the next value.
func nextType(d *json.Decoder) (schema.Type, error) {
	tok, err := d.Token()
	if err != nil {
		return schema.Type{}, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '{' {
			return objectType(d)
		}
		return listType(d)
	case string:
		return schema.StringType, nil
	case bool:
		return schema.BoolType, nil
	case json.Number:
		if _, err := strconv.ParseInt(tok.String(), 10, 64); err == nil {
			return schema.Int64Type, nil
		}
		if !strings.ContainsAny(tok.String(), ".eE") {
			return schema.Type{}, fmt.Errorf("%s does not fit 64 bits", tok)
		}
		return schema.FloatType, nil
	}
	return schema.Type{Kind: schema.Null}, nil
}

func objectType(d *json.Decoder) (schema.Type, error) {
	out := schema.StructOf()
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return out, err
		}
		key, _ := tok.(string)
		if _, i := out.Field(key); i >= 0 {
			return out, fmt.Errorf("key %q is repeated", key)
		}
		t, err := nextType(d)
		if err != nil {
			return out, err
		}
		out.Fields = append(out.Fields, schema.NewField(key, t))
	}
	if len(out.Fields) == 0 {
		return out, errors.New("an object without keys, which no column can hold")
	}
	_, err := d.Token()
	return out, err
}

func listType(d *json.Decoder) (schema.Type, error) {
	elem := schema.Type{Kind: schema.Null}
	for d.More() {
		t, err := nextType(d)
		if err == nil {
			elem, err = sameKeys(elem, t)
		}
		if err != nil {
			return elem, err
		}
	}
	_, err := d.Token()
	return schema.ListOf(elem), err
}

// sameKeys returns the type of values of both: structs have the same keys, null gives way.
func sameKeys(a, b schema.Type) (schema.Type, error) {
	switch {
	case a.Kind == schema.Null:
		return b, nil
	case b.Kind == schema.Null:
		return a, nil
	case a.Kind == schema.List && b.Kind == schema.List:
		t, err := sameKeys(a.Fields[0].Type, b.Fields[0].Type)
		return schema.ListOf(t), err
	case a.Kind != schema.Struct || b.Kind != schema.Struct:
		if a.Kind != b.Kind {
			return a, fmt.Errorf("%s here, %s before", b, a)
		}
		return a, nil
	}
	out := schema.StructOf(slices.Clone(a.Fields)...)
	for i, f := range out.Fields {
		g, k := b.Field(f.Name)
		if k < 0 {
			return a, fmt.Errorf("no key %q here, as before", f.Name)
		}
		t, err := sameKeys(f.Type, g.Type)
		if err != nil {
			return a, fmt.Errorf("key %q: %w", f.Name, err)
		}
		out.Fields[i].Type = t
	}
	for _, g := range b.Fields {
		if _, k := a.Field(g.Name); k < 0 {
			return a, fmt.Errorf("a key %q here, and none before", g.Name)
		}
	}
	return out, nil
}
