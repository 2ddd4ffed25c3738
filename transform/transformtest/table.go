// Package transformtest runs transforms over rows in memory, the slow and plain way: each row a value, each Put carried out
// as transform's comments say, Retype and MapText of copies included; a Bulk is held to its Func. It is what the examples of verbs and recipes are run with, and what the engine, which moves
// column chunks about, is compared with.
package transformtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/jsontext"
)

// A Table is rows in memory. Rows are structs of Schema's fields; Numbers are their numbers within the split.
type Table struct {
	Schema  *schema.Schema
	Rows    []schema.Value
	Numbers []int64
}

// Read reads JSON Lines. Without fields the columns are those that occur, in order, with types that fit all rows; with
// fields, a value of another type is an error.
func Read(r io.Reader, fields []schema.Field) (*Table, error) {
	var raw []schema.Value
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<26)
	for line := 1; in.Scan(); line++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		v, err := decode(in.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		raw = append(raw, v)
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if fields == nil {
		for i, v := range raw {
			t, err := jsontext.TypeOf(v)
			if err == nil {
				fields, err = schema.JSONTypes.Fields("", fields, t.Fields)
			}
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", i, err)
			}
		}
	}
	out := &Table{Schema: &schema.Schema{Fields: fields}}
	t := schema.StructOf(fields...)
	for i, v := range raw {
		row, err := fit(v, &t)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		out.Rows, out.Numbers = append(out.Rows, row), append(out.Numbers, int64(i))
	}
	return out, nil
}

// Parse is Read of a text.
func Parse(text string, fields []schema.Field) (*Table, error) {
	return Read(strings.NewReader(text), fields)
}

// Lines returns the rows as compact JSON, one string a row.
func (t *Table) Lines() []string {
	out := make([]string, len(t.Rows))
	for i, r := range t.Rows {
		out[i] = string(r.AppendJSON(nil))
	}
	return out
}

// decode reads one object: a struct with its keys in order.
func decode(line []byte) (schema.Value, error) {
	v, err := jsontext.Decode(line)
	if err == nil && v.Kind() != schema.Struct {
		err = fmt.Errorf("%s, expected an object", v.Kind())
	}
	return v, err
}

// fit returns v as a value of type t: fields in t's order, null where v has none.
func fit(v schema.Value, t *schema.Type) (schema.Value, error) {
	switch {
	case v.IsNull() || v.IsMissing():
		return schema.NullValue, nil
	case t.Kind == schema.Float && v.Kind() == schema.Int:
		return schema.FloatValue(v.Float()), nil
	case v.Kind() != t.Kind:
		return v, fmt.Errorf("%s, expected %s", v.Kind(), t)
	}
	switch t.Kind {
	case schema.List:
		elems := make([]schema.Value, v.Len())
		for i := range elems {
			var err error
			if elems[i], err = fit(v.Elem(i), &t.Fields[0].Type); err != nil {
				return v, err
			}
		}
		return schema.ListValue(elems), nil
	case schema.Struct:
		elems := make([]schema.Value, len(t.Fields))
		for i := range t.Fields {
			var err error
			if elems[i], err = fit(v.Field(t.Fields[i].Name), &t.Fields[i].Type); err != nil {
				return v, fmt.Errorf("%s: %w", t.Fields[i].Name, err)
			}
		}
		return schema.StructValue(t, elems), nil
	}
	return v, nil
}

// A Row is one row as a Func sees it: the values of Reads, and nothing else.
type Row struct {
	Values []schema.Value
	Num    int64
}

// At returns the value of Reads[i]; it panics for any other i, as a Func must not look there.
func (r *Row) At(i int) schema.Value { return r.Values[i] }

// Number returns the row's number within its split.
func (r *Row) Number() int64 { return r.Num }

// Pos returns a position in a file called "in.jsonl".
func (r *Row) Pos() schema.Pos {
	p := schema.FilePos("in.jsonl")
	p.Row, p.Line = r.Num, r.Num+1
	return p
}

// View returns row i of t as a Func with these reads sees it.
func (t *Table) View(i int, reads []schema.Path) *Row {
	row := &Row{Num: t.Numbers[i]}
	for _, p := range reads {
		row.Values = append(row.Values, at(t.Rows[i], p.Steps(), 0))
	}
	return row
}

// at follows steps from v.
func at(v schema.Value, steps []string, depth int) schema.Value {
	switch {
	case len(steps) == 0 && v.IsNull():
		return schema.NullAt(max(0, depth-1))
	case len(steps) == 0 || v.IsMissing():
		return v
	case v.IsNull():
		return schema.NullAt(depth - 1)
	case steps[0] != schema.Elem:
		return at(v.Field(steps[0]), steps[1:], depth+1)
	}
	elems := make([]schema.Value, v.Len())
	for i := range elems {
		elems[i] = at(v.Elem(i), steps[1:], depth+1)
	}
	return schema.ListValue(elems)
}
