package starmap

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/schema"
)

// sampleRows is how many rows of a split say what its columns are: as many as HF datasets' writer takes before it freezes the types.
const sampleRows = 1000

// A shape is what is known of the type of a value in all rows so far. It is no schema.Merge: it is made from Starlark's values, and remembers
// the row of each kind, which the message about another row names.
type shape struct {
	name   string
	kind   schema.Kind // Missing: nothing but None so far
	row    int64       // in which the kind was seen first
	passed bool        // in some row it is the source's own value
	fields []*shape
	elem   *shape
}

// A conflict is a value whose kind differs from that in another row.
type conflict struct {
	path     schema.Path
	here     string
	there    string
	firstRow int64
}

func (e *conflict) Error() string {
	return fmt.Sprintf("key %s: %s here, %s in row %d", e.path, e.here, e.there, e.firstRow)
}

// observe takes a value into account. left is how many more values the row may hold: lists that hold one another twice have very many.
func (s *shape) observe(v starlark.Value, at schema.Path, row int64, depth int, left *int) error {
	if depth > pystar.MaxDepth {
		return pystar.ErrDeep
	}
	if *left--; *left < 0 {
		return pystar.ErrTooMuch
	}
	var kind schema.Kind
	switch x := v.(type) {
	case starlark.NoneType:
		return nil
	case starlark.String:
		kind = schema.Text
	case starlark.Bytes:
		kind = schema.Binary
	case starlark.Bool:
		kind = schema.Bool
	case starlark.Int:
		kind = schema.Int
		if _, ok := x.Int64(); !ok {
			return fmt.Errorf("key %s: %s does not fit int64", at, pystar.Cut(x.String(), 40))
		}
	case starlark.Float:
		kind = schema.Float
	case *starlark.List, starlark.Tuple:
		kind = schema.List
	case *starlark.Dict:
		kind = schema.Struct
	default:
		return fmt.Errorf("key %s: %s cannot be written", at, pystar.KindName(v))
	}
	switch {
	case s.kind == schema.Missing:
		s.kind, s.row = kind, row
	case s.kind == schema.Int && kind == schema.Float:
		s.kind = schema.Float
	case s.kind == schema.Float && kind == schema.Int:
	case s.kind != kind:
		return &conflict{at, describe(v), s.typ().String(), s.row}
	}
	switch x := v.(type) {
	case *starlark.Dict:
		return s.observeDict(x, at, row, depth, left)
	case starlark.Indexable:
		if kind != schema.List {
			break
		}
		if s.elem == nil {
			s.elem = &shape{}
		}
		for i := range x.Len() {
			if err := s.elem.observe(x.Index(i), at.Elem(), row, depth+1, left); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shape) observeDict(x *starlark.Dict, at schema.Path, row int64, depth int, left *int) error {
	for _, kv := range x.Items() {
		name, ok := kv[0].(starlark.String)
		if !ok {
			return fmt.Errorf("key %s: a dict with the key %s, expected text", at, pystar.Cut(kv[0].String(), 40))
		}
		f := s.field(string(name))
		if f == nil {
			f = &shape{name: string(name)}
			s.fields = append(s.fields, f)
		}
		if err := f.observe(kv[1], at.Field(f.name), row, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) field(name string) *shape {
	for _, f := range s.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// typ is the type of what was seen; Arrow's null type where that was None alone.
func (s *shape) typ() schema.Type {
	switch s.kind {
	case schema.Int:
		return schema.Int64Type
	case schema.Float:
		return schema.FloatType
	case schema.List:
		if s.elem == nil {
			return schema.ListOf(schema.Type{Kind: schema.Null})
		}
		return schema.ListOf(s.elem.typ())
	case schema.Struct:
		t := schema.Type{Kind: schema.Struct}
		for _, f := range s.fields {
			t.Fields = append(t.Fields, schema.NewField(f.name, f.typ()))
		}
		return t
	case schema.Missing:
		return schema.Type{Kind: schema.Null}
	}
	return schema.Type{Kind: s.kind}
}

// writable returns an error for a type that no Parquet file can hold.
func (s *shape) writable(at schema.Path) error {
	if s.kind == schema.Struct && len(s.fields) == 0 {
		return fmt.Errorf("key %s: a dict without keys, and no Parquet writer takes an empty struct: leave it out, or give it a key", at)
	}
	for _, f := range s.fields {
		if err := f.writable(at.Field(f.name)); err != nil {
			return err
		}
	}
	if s.elem != nil {
		return s.elem.writable(at.Elem())
	}
	return nil
}

// fits reports whether what was seen can be written as t: HF datasets gives a column that is set again its old type where it can.
func (s *shape) fits(t schema.Type) bool {
	switch {
	case s.kind == schema.Missing:
		return true
	case s.kind == schema.Int && t.Kind == schema.Float:
		return true
	case s.kind != t.Kind:
		return false
	case s.kind == schema.List:
		return s.elem == nil || s.elem.fits(t.Fields[0].Type)
	}
	for _, f := range s.fields {
		g, i := t.Field(f.name)
		if i < 0 || !f.fits(g.Type) {
			return false
		}
	}
	return true
}
