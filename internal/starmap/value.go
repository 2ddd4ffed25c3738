package starmap

import (
	"errors"
	"fmt"
	"math"

	"go.starlark.net/starlark"

	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/schema"
)

// readable returns an error for a type whose values a function cannot see.
func readable(at schema.Path, t schema.Type) error {
	switch t.Kind {
	case schema.Struct, schema.List:
		for _, f := range t.Fields {
			if err := readable(at, f.Type); err != nil {
				return err
			}
		}
	case schema.Map, schema.Time, schema.Decimal, schema.Other:
		return fmt.Errorf("column %q is %s, which a function cannot read: leave it untouched, or cast it first", at, t)
	}
	return nil
}

// fromRow makes a value of a row one of a function's.
func fromRow(v schema.Value) starlark.Value {
	switch v.Kind() {
	case schema.Text:
		return starlark.String(v.Text())
	case schema.Int:
		if v.Big() {
			return starlark.MakeUint64(v.Uint())
		}
		return starlark.MakeInt64(v.Int())
	case schema.Float:
		return starlark.Float(v.Float())
	case schema.Bool:
		return starlark.Bool(v.Bool())
	case schema.Binary:
		return starlark.Bytes(v.Text())
	case schema.List:
		out := make([]starlark.Value, v.Len())
		for i := range out {
			out[i] = fromRow(v.Elem(i))
		}
		return starlark.NewList(out)
	case schema.Struct:
		out := starlark.NewDict(v.Len())
		for i, f := range v.Type().Fields {
			_ = out.SetKey(starlark.String(f.Name), fromRow(v.Elem(i))) // a new dict takes any text
		}
		return out
	}
	return starlark.None
}

// A typeError is a value that does not fit its column.
type typeError struct {
	path schema.Path
	want string
	got  starlark.Value
}

func (e *typeError) Error() string {
	return fmt.Sprintf("key %s: expected %s, got %s", e.path, e.want, describe(e.got))
}

// describe names a value of a function, short.
func describe(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		return "text " + schema.TextValue(string(v)).Excerpt(40)
	case starlark.Int, starlark.Float, starlark.Bool:
		return pystar.KindName(v) + " " + pystar.Cut(v.String(), 40)
	}
	return pystar.KindName(v)
}

// A column is the type of what comes out or of a part of one, with the keys of its fields made once.
type column struct {
	typ  *schema.Type
	keys []starlark.Value // of a struct
	kids []*column
}

func newColumn(t *schema.Type) *column {
	out := &column{typ: t}
	for i := range t.Fields {
		out.keys = append(out.keys, starlark.String(t.Fields[i].Name))
		out.kids = append(out.kids, newColumn(&t.Fields[i].Type))
	}
	return out
}

// toRow makes a function's value one of type t, at a path of which an error says the part from here. Lists and structs live in the worker's arena until the next row.
func (w *worker) toRow(v starlark.Value, to *column, depth int) (schema.Value, error) {
	t := to.typ
	if depth > pystar.MaxDepth {
		return schema.Value{}, pystar.ErrDeep
	}
	if w.values++; w.values > pystar.MaxSteps {
		return schema.Value{}, pystar.ErrTooMuch
	}
	switch x := v.(type) {
	case starlark.NoneType:
		return schema.NullValue, nil
	case starlark.String:
		if t.Kind == schema.Text {
			return schema.TextValue(string(x)), nil
		}
	case starlark.Bytes:
		if t.Kind == schema.Binary {
			return schema.BinaryValue(string(x)), nil
		}
	case starlark.Bool:
		if t.Kind == schema.Bool {
			return schema.BoolValue(bool(x)), nil
		}
	case starlark.Float:
		if t.Kind == schema.Float {
			return schema.FloatValue(float64(x)), nil
		}
	case starlark.Int:
		if v, ok := intAs(x, t); ok {
			return v, nil
		}
	case *starlark.Dict:
		if t.Kind == schema.Struct {
			return w.structOf(x, to, depth)
		}
	case *starlark.List:
		if t.Kind == schema.List {
			return w.listOf(x, to, depth)
		}
	case starlark.Tuple:
		if t.Kind == schema.List {
			return w.listOf(x, to, depth)
		}
	}
	if t.Kind == schema.Null {
		return schema.Value{}, &typeError{"", fmt.Sprintf("null, as in the first %d rows (say its type by schema)", sampleRows), v}
	}
	return schema.Value{}, &typeError{"", t.String(), v}
}

func intAs(x starlark.Int, t *schema.Type) (schema.Value, bool) {
	i, ok := x.Int64()
	if u, fits := x.Uint64(); fits && !ok && t.Kind == schema.Int && t.Unsigned && t.Bits == 64 {
		return schema.UintValue(u), true
	}
	switch t.Kind {
	case schema.Float:
		f := float64(i)
		return schema.FloatValue(f), ok && math.Abs(f) <= 1<<53
	case schema.Int:
		return schema.IntValue(i), ok && t.HoldsInt(i)
	}
	return schema.Value{}, false
}

// allocate takes n values of the arena; those taken before stay valid.
func (w *worker) allocate(n int) []schema.Value {
	start := len(w.arena)
	if start+n > cap(w.arena) {
		w.arena = make([]schema.Value, 0, 2*(start+n))
		start = 0
	}
	w.arena = w.arena[:start+n]
	return w.arena[start : start+n : start+n]
}

func (w *worker) listOf(x starlark.Indexable, to *column, depth int) (schema.Value, error) {
	if w.values+x.Len() > pystar.MaxSteps {
		return schema.Value{}, pystar.ErrTooMuch
	}
	elems := w.allocate(x.Len())
	for i := range elems {
		var err error
		if elems[i], err = w.toRow(x.Index(i), to.kids[0], depth+1); err != nil {
			if e := (*typeError)(nil); errors.As(err, &e) {
				e.path = join(schema.Path("").Elem(), e.path)
			}
			return schema.Value{}, err
		}
	}
	return schema.ListValue(elems), nil
}

func (w *worker) structOf(x *starlark.Dict, to *column, depth int) (schema.Value, error) {
	elems := w.allocate(len(to.kids))
	found := 0
	for i, kid := range to.kids {
		v, ok, err := x.Get(to.keys[i])
		if err != nil || !ok {
			elems[i] = schema.NullValue
			continue
		}
		found++
		if elems[i], err = w.toRow(v, kid, depth+1); err != nil {
			if e := (*typeError)(nil); errors.As(err, &e) {
				e.path = join(schema.Path("").Field(to.typ.Fields[i].Name), e.path)
			}
			return schema.Value{}, err
		}
	}
	if found < x.Len() {
		for _, k := range x.Keys() {
			name, isText := starlark.AsString(k)
			if _, i := to.typ.Field(name); !isText || i < 0 {
				return schema.Value{}, &typeError{"", to.typ.String(), extraKey{k}}
			}
		}
	}
	return schema.StructValue(to.typ, elems), nil
}

// join returns the path below, seen from at.
func join(at, below schema.Path) schema.Path {
	switch {
	case below == "":
		return at
	case below[0] == '[':
		return at + below
	}
	return at + "." + below
}

// An extraKey stands for a key that a dict has and its type lacks, in messages.
type extraKey struct{ starlark.Value }

// Type implements starlark.Value.
func (e extraKey) Type() string { return "dict with the key " + pystar.Cut(e.Value.String(), 40) }
