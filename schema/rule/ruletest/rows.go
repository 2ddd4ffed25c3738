package ruletest

import (
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/jsontext"
	"github.com/rlprep/rlprep/schema/rule"
)

// A table is one file of an example: its footer and its rows.
type table struct {
	file *rule.File
	rows []schema.Value // structs of the file's columns
}

// tables builds the files of an example.
func tables(e rule.Example) ([]*table, error) {
	var out []*table
	for i, text := range append(append([]string(nil), e.Files...), e.Val...) {
		t, err := newTable(i, text, e.Schema)
		if err != nil {
			return nil, fmt.Errorf("file %d: %w", i, err)
		}
		t.file.Name = fmt.Sprintf("train-%05d.parquet", i)
		if i >= len(e.Files) {
			t.file.Name, t.file.Val = fmt.Sprintf("val-%05d.parquet", i-len(e.Files)), true
		}
		out = append(out, t)
	}
	if e.Edit != nil {
		files := make([]*rule.File, len(out))
		for i, t := range out {
			files[i] = t.file
		}
		e.Edit(files)
	}
	return out, nil
}

func newTable(index int, text, declared string) (t *table, err error) {
	var rows []schema.Value
	var fields []schema.Field
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		v, err := jsontext.Decode([]byte(line))
		var typ schema.Type
		if err == nil {
			typ, err = jsontext.TypeOf(v)
		}
		if err == nil {
			fields, err = schema.JSONTypes.Fields("", fields, typ.Fields)
		}
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", len(rows), err)
		}
		rows = append(rows, v)
	}
	s := (&schema.Schema{Fields: fields}).Clone()
	if err := declare(s, index, declared); err != nil {
		return nil, err
	}
	f := &rule.File{Index: index, Format: "parquet", Schema: s, Rows: int64(len(rows)), Bytes: int64(len(text))}
	if len(rows) > 0 {
		f.RowGroups = []int64{f.Rows}
	}
	t = &table{file: f}
	row := schema.StructOf(s.Fields...)
	for _, v := range rows {
		t.rows = append(t.rows, value(v, &row))
	}
	return t, nil
}

// value is v as type t holds it. Unlike jsontext.DecodeAs it refuses nothing: an example declares types that its text does not have.
func value(v schema.Value, t *schema.Type) schema.Value {
	if v.IsNull() || v.IsMissing() || t.Kind == schema.Null {
		return schema.NullValue
	}
	switch t.Kind {
	case schema.Struct:
		fields := make([]schema.Value, len(t.Fields))
		for i := range t.Fields {
			fields[i] = value(v.Field(t.Fields[i].Name), &t.Fields[i].Type)
		}
		return schema.StructValue(t, fields)
	case schema.List:
		elems := make([]schema.Value, v.Len())
		for i := range elems {
			elems[i] = value(v.Elem(i), &t.Fields[0].Type)
		}
		return schema.ListValue(elems)
	case schema.Float:
		return schema.FloatValue(v.Float())
	case schema.Int:
		return schema.IntValue(v.Int())
	case schema.Bool:
		return schema.BoolValue(v.Bool())
	}
	return schema.OpaqueValue(t.Kind, v.Text())
}

// A row is one row of a table, seen through the reads of a rule.
type row struct {
	table *table
	n     int64
	at    []schema.Value
}

// At implements schema.Row.
func (r *row) At(i int) schema.Value { return r.at[i] }

// Number implements schema.Row.
func (r *row) Number() int64 { return r.n }

// Pos implements schema.Row.
func (r *row) Pos() schema.Pos {
	p := schema.FilePos(r.table.file.Name)
	p.Row, p.RowGroup = r.n, 0
	return p
}

func (t *table) row(n int, reads []schema.Path) *row {
	r := &row{table: t, n: int64(n), at: make([]schema.Value, len(reads))}
	for i, p := range reads {
		if _, ok := t.file.Schema.Lookup(p); ok {
			r.at[i] = walk(t.rows[n], p.Steps(), 0)
		}
	}
	return r
}

func walk(v schema.Value, steps []string, depth int) schema.Value {
	for len(steps) > 0 {
		if steps[0] == schema.Elem {
			elems := make([]schema.Value, v.Len())
			for i := range elems {
				e := v.Elem(i)
				if e.IsNull() {
					e = schema.NullAt(depth)
				}
				elems[i] = e
				if !e.IsNull() {
					elems[i] = walk(e, steps[1:], depth+1)
				}
			}
			return schema.ListValue(elems)
		}
		if v = v.Field(steps[0]); v.IsNull() {
			return schema.NullAt(depth)
		}
		steps = steps[1:]
		depth++
	}
	return v
}

// chunk is what a footer would know of a read in rows [from, to).
func (t *table) chunk(p schema.Path, from, to int) rule.ColumnFacts {
	f, ok := t.file.Schema.Lookup(p)
	if !ok {
		return rule.ColumnFacts{Missing: true}
	}
	if f.Type.Kind == schema.List || f.Type.Kind == schema.Struct || f.Type.Kind == schema.Map {
		return rule.ColumnFacts{Nulls: -1}
	}
	var c rule.ColumnFacts
	seen := map[string]bool{}
	var add func(v schema.Value)
	add = func(v schema.Value) {
		switch {
		case v.IsNull():
			c.Nulls++
		case v.Kind() == schema.List && v.Len() == 0:
			c.Nulls++
		case v.Kind() == schema.List:
			for i := range v.Len() {
				add(v.Elem(i))
			}
		default:
			if k := string(v.AppendJSON(nil)); !seen[k] {
				seen[k] = true
				c.Dict = append(c.Dict, v)
			}
		}
	}
	for n := from; n < to; n++ {
		add(t.row(n, []schema.Path{p}).At(0))
	}
	return c
}
