// Package diff compares two tables as a reader sees them: columns, types, metadata, and rows value by value.
package diff

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// A Table is one side: the rows of some files, one after the other.
type Table struct {
	Schema   *schema.Schema
	Metadata map[string]string
	Rows     int64
	// Open reads the values at paths, row by row, from the first. Where a file lacks one, it reads as Missing.
	Open func(ctx context.Context, paths []schema.Path) (Cursor, error)
}

// A Cursor stands on a row. Values are valid until the next call of Next.
type Cursor interface {
	Next(ctx context.Context) (bool, error)
	At(i int) schema.Value
	Close() error
}

// Options are what is compared, and how much of it is reported.
type Options struct {
	Key    schema.Path // rows that have the same value there are compared; "": rows at the same place
	Values int         // how many values that differ are reported; the others are counted
	Strict bool        // notes are differences too
}

// A Kind says what differs.
type Kind string

// The kinds of differences.
const (
	Column   Kind = "column"   // a column or field that one side lacks
	Order    Kind = "order"    // of columns, or of the fields of a struct
	Type     Kind = "type"     // of a column or field
	Nullable Kind = "nullable" // a note
	Meta     Kind = "metadata"
	Count    Kind = "rows"
	Row      Kind = "row"   // by key: one that the other side lacks, or has twice
	Value    Kind = "value" // a cell
)

// A Difference is one thing that differs. Old and New are values as text, cut; "" where that side has none.
type Difference struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path,omitempty"` // "extra_info.index", "prompt[1].content", a key of the metadata
	Row  int64  `json:"row"`            // in OLD, from 0 (by key in NEW where OLD has none); -1: none
	Key  string `json:"key,omitempty"`  // the row's value of Options.Key
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
	Note bool   `json:"note"` // it does not count
}

// A Result is what a comparison came to.
type Result struct {
	Differences []Difference `json:"differences"`
	Rows        int64        `json:"rows"`         // that were compared
	RowsDiffer  int64        `json:"rows_differ"`  // of these
	CellsDiffer int64        `json:"cells_differ"` // in these, told or not
}

// Same reports whether nothing but notes was found.
func (r *Result) Same() bool {
	return !slices.ContainsFunc(r.Differences, func(d Difference) bool { return !d.Note }) && r.RowsDiffer == 0
}

// noted are keys of the footer's metadata that say how a writer saw the columns, not what is in them.
var noted = []string{"ARROW:schema", "huggingface", "pandas", "content_defined_chunking"}

// A comparison is one at work.
type comparison struct {
	old, new *Table
	opt      Options
	res      Result
	common   []schema.Path // columns of both sides
	shapes   []schema.Type // of these: what both sides have of them
	key      int           // of Options.Key, behind common; -1: none
}

// Tables compares two tables.
func Tables(ctx context.Context, old, new *Table, opt Options) (*Result, error) {
	c := &comparison{old: old, new: new, opt: opt, key: -1, res: Result{Differences: []Difference{}}}
	c.columns()
	c.metadata()
	if old.Rows != new.Rows {
		c.add(Difference{Kind: Count, Row: -1, Old: fmt.Sprint(old.Rows), New: fmt.Sprint(new.Rows)})
	}
	if opt.Key == "" {
		return &c.res, c.byPlace(ctx)
	}
	for _, t := range []*Table{old, new} {
		if f, ok := t.Schema.Lookup(opt.Key); !ok {
			return nil, fmt.Errorf("key %s: no such column (columns: %s)", opt.Key, strings.Join(t.Schema.Names(), ", "))
		} else if f.Type.Kind == schema.List || f.Type.Kind == schema.Struct || f.Type.Kind == schema.Map {
			return nil, fmt.Errorf("key %s: a %s cannot be one: name a column of plain values", opt.Key, f.Type.Kind)
		}
	}
	c.key = len(c.common)
	return &c.res, c.byKey(ctx)
}

func (c *comparison) add(d Difference) {
	d.Note = d.Note && !c.opt.Strict
	c.res.Differences = append(c.res.Differences, d)
}

// columns compares the schemas.
func (c *comparison) columns() {
	for _, f := range c.old.Schema.Fields {
		if g, i := c.new.Schema.Column(f.Name); i >= 0 {
			c.common = append(c.common, schema.Path("").Field(f.Name))
			c.shapes = append(c.shapes, shape(f.Type, g.Type))
		}
	}
	c.fields("", c.old.Schema.Fields, c.new.Schema.Fields)
}

// shape is the type of what both types have: their common fields, in the order of their names.
func shape(a, b schema.Type) schema.Type {
	if a.Kind != b.Kind {
		return schema.Type{}
	}
	out := schema.Type{Kind: a.Kind}
	for i, f := range a.Fields {
		if a.Kind == schema.Struct {
			i = slices.IndexFunc(b.Fields, func(g schema.Field) bool { return g.Name == f.Name })
		}
		if i >= 0 && i < len(b.Fields) {
			out.Fields = append(out.Fields, schema.Field{Name: f.Name, Type: shape(f.Type, b.Fields[i].Type)})
		}
	}
	if a.Kind == schema.Struct {
		slices.SortFunc(out.Fields, func(f, g schema.Field) int { return strings.Compare(f.Name, g.Name) })
	}
	return out
}

// fields compares the fields of a struct, or the columns.
func (c *comparison) fields(at schema.Path, a, b []schema.Field) {
	var namesA, namesB []string
	for _, f := range a {
		i := slices.IndexFunc(b, func(g schema.Field) bool { return g.Name == f.Name })
		if i < 0 {
			c.add(Difference{Kind: Column, Path: string(at.Field(f.Name)), Row: -1, Old: f.Type.String()})
			continue
		}
		namesA = append(namesA, f.Name)
		c.field(at.Field(f.Name), f, b[i])
	}
	for _, g := range b {
		if !slices.ContainsFunc(a, func(f schema.Field) bool { return f.Name == g.Name }) {
			c.add(Difference{Kind: Column, Path: string(at.Field(g.Name)), Row: -1, New: g.Type.String()})
			continue
		}
		namesB = append(namesB, g.Name)
	}
	if !slices.Equal(namesA, namesB) {
		c.add(Difference{Kind: Order, Path: string(at), Row: -1, Old: strings.Join(namesA, ", "), New: strings.Join(namesB, ", ")})
	}
}

func (c *comparison) field(at schema.Path, a, b schema.Field) {
	if a.Nullable != b.Nullable {
		said := map[bool]string{true: "nullable", false: "not null"}
		c.add(Difference{Kind: Nullable, Path: string(at), Row: -1, Old: said[a.Nullable], New: said[b.Nullable], Note: true})
	}
	x, y := a.Type, b.Type
	if x.Kind == y.Kind && slices.Contains([]schema.Kind{schema.Struct, schema.List, schema.Map}, x.Kind) {
		if x.Layout != y.Layout || x.Size != y.Size {
			c.add(Difference{Kind: Type, Path: string(at), Row: -1, Old: x.String(), New: y.String(), Note: x.Layout != schema.Fixed && y.Layout != schema.Fixed})
		}
		if x.Kind == schema.Struct {
			c.fields(at, x.Fields, y.Fields)
			return
		}
		for i := range min(len(x.Fields), len(y.Fields)) { // what the element is called does not count
			to := at.Elem()
			if x.Kind == schema.Map {
				to = to.Field(x.Fields[i].Name)
			}
			c.field(to, x.Fields[i], y.Fields[i])
		}
		return
	}
	if x.Equal(y) {
		return
	}
	// string and large_string, plain and dictionary hold the same values; only ARROW:schema tells them apart.
	c.add(Difference{Kind: Type, Path: string(at), Row: -1, Old: x.String(), New: y.String(), Note: plain(x).Equal(plain(y))})
}

func plain(t schema.Type) schema.Type {
	t.Dictionary = false
	if t.Layout == schema.Large || t.Layout == schema.View {
		t.Layout = schema.Plain
	}
	return t
}

// metadata compares the key-value metadata of the footers.
func (c *comparison) metadata() {
	all := maps.Clone(c.old.Metadata)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, c.new.Metadata)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		a, inA := c.old.Metadata[k]
		b, inB := c.new.Metadata[k]
		if a == b && inA == inB {
			continue
		}
		d := Difference{Kind: Meta, Path: k, Row: -1, Note: slices.Contains(noted, k)}
		x, y := apart(schema.TextValue(a), schema.TextValue(b))
		if inA {
			d.Old = x
		}
		if inB {
			d.New = y
		}
		c.add(d)
	}
}

// byPlace compares row after row.
func (c *comparison) byPlace(ctx context.Context) error {
	a, b, err := c.open(ctx, c.common)
	if err != nil {
		return err
	}
	defer a.Close()
	defer b.Close()
	for row := int64(0); ; row++ {
		okA, err := a.Next(ctx)
		if err != nil {
			return err
		}
		okB, err := b.Next(ctx)
		if err != nil || !okA || !okB {
			return err
		}
		c.row(row, "", a, b)
	}
}

func (c *comparison) open(ctx context.Context, paths []schema.Path) (a, b Cursor, err error) {
	if a, err = c.old.Open(ctx, paths); err != nil {
		return nil, nil, err
	}
	if b, err = c.new.Open(ctx, paths); err != nil {
		a.Close()
		return nil, nil, err
	}
	return a, b, nil
}

// row compares two rows.
func (c *comparison) row(row int64, key string, a, b Cursor) {
	c.res.Rows++
	cells := c.res.CellsDiffer
	for i, p := range c.common {
		c.value(row, key, p, a.At(i), b.At(i))
	}
	if c.res.CellsDiffer > cells {
		c.res.RowsDiffer++
	}
}

// value compares two values, down to the parts that differ.
func (c *comparison) value(row int64, key string, at schema.Path, a, b schema.Value) {
	switch {
	case same(a, b):
		return
	case a.Kind() == schema.Struct && b.Kind() == schema.Struct:
		for _, f := range a.Type().Fields {
			if v := b.Field(f.Name); !v.IsMissing() { // a field that one side lacks is reported once, of the schema
				c.value(row, key, at.Field(f.Name), a.Field(f.Name), v)
			}
		}
		return
	case a.Kind() == schema.List && b.Kind() == schema.List && a.Len() == b.Len():
		for i := range a.Len() {
			c.value(row, key, schema.Path(fmt.Sprintf("%s[%d]", at, i)), a.Elem(i), b.Elem(i))
		}
		return
	}
	if c.res.CellsDiffer++; c.res.CellsDiffer <= int64(c.opt.Values) {
		d := Difference{Kind: Value, Path: string(at), Row: row, Key: key}
		d.Old, d.New = apart(a, b)
		c.add(d)
	}
}

// same reports whether two values are, whatever their types and the order of fields: 1 is 1.0, and a field that only one struct
// has is no matter of values.
func same(a, b schema.Value) bool {
	number := func(v schema.Value) bool { return v.Kind() == schema.Int || v.Kind() == schema.Float }
	switch {
	case a.Kind() == schema.Struct && b.Kind() == schema.Struct:
		for _, f := range a.Type().Fields {
			if v := b.Field(f.Name); !v.IsMissing() && !same(a.Field(f.Name), v) {
				return false
			}
		}
		return true
	case a.Kind() == schema.List && b.Kind() == schema.List:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Elem(i), b.Elem(i)) {
				return false
			}
		}
		return true
	case number(a) && number(b) && a.Kind() != b.Kind():
		return a.Float() == b.Float()
	}
	return a.Equal(b)
}

// shown is how many bytes of a value are.
const shown = 80

// apart writes two values that differ; of long texts what is around the first difference.
func apart(a, b schema.Value) (string, string) {
	if a.Kind() == schema.Text && b.Kind() == schema.Text {
		x, y := a.Text(), b.Text()
		n := 0
		for n < len(x) && n < len(y) && x[n] == y[n] {
			n++
		}
		if from := n - shown/2; from > 0 && max(len(x), len(y)) > shown {
			for from > 0 && x[from]&0xc0 == 0x80 { // not within a character
				from--
			}
			return "…" + schema.TextValue(x[from:]).Excerpt(shown), "…" + schema.TextValue(y[from:]).Excerpt(shown)
		}
	}
	return text(a), text(b)
}

func text(v schema.Value) string {
	switch {
	case v.IsMissing():
		return "nothing"
	case v.Kind() == schema.Binary:
		return "b" + v.Excerpt(shown) // else it would look like the text of the same bytes
	}
	return v.Excerpt(shown)
}
