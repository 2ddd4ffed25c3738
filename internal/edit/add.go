package edit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Add adds columns, or fields of structs.
type Add struct {
	Values     []Assign
	After      string // column after which the new ones come; "": at the end
	Replace    bool   // write a column that exists again
	Fill       bool   // set only the nulls of a column that exists, and create null structs around it
	IndexStart int64  // number of the first row, for @row and @uuid
	Seed       int64  // of @uuid
}

// An Assign is one PATH=VALUE. ParseAssign makes it.
type Assign struct {
	text  string
	path  schema.Path
	kind  string       // "": a constant; "row", "file", "path", "uuid", "copy"
	value schema.Value // of a constant
	typ   schema.Type
	copy  schema.Path
}

// String implements Edit.
func (e *Add) String() string {
	words := []string{"add"}
	for _, v := range e.Values {
		words = append(words, v.text)
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"--replace", e.Replace}, {"--fill", e.Fill}} {
		if f.set {
			words = append(words, f.name)
		}
	}
	return strings.Join(words, " ")
}

// ParseAssign reads the value of arg, PATH=VALUE, whose path is path.
func ParseAssign(arg string, path schema.Path, value string) (Assign, error) {
	v := Assign{text: arg, path: path}
	if err := v.parse(value); err != nil {
		return v, fmt.Errorf("%s: %w", arg, err)
	}
	return v, nil
}

// parse reads a value.
func (v *Assign) parse(text string) (err error) {
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "@row", "@uuid", "@file", "@path":
		if text != kind {
			return fmt.Errorf("%s takes nothing after it", kind)
		}
		v.kind, v.typ = kind[1:], schema.StringType
		if kind == "@row" {
			v.typ = schema.Int64Type
		}
		return nil
	case "@copy":
		v.kind = "copy"
		v.copy, err = schema.ParsePath(rest)
		return err
	}
	if strings.HasPrefix(text, "@") {
		near := schema.Nearest(kind, []string{"@row", "@uuid", "@file", "@path", "@copy"})
		if near != "" {
			return fmt.Errorf("unknown value %s; did you mean %s? (str:%s for this text)", kind, near, text)
		}
		return fmt.Errorf("unknown value %s (@row, @uuid, @copy:PATH, @file, @path; str:%s for this text)", kind, text)
	}
	v.value, v.typ, err = transform.ParseValue(text)
	return err
}

// CheckAfter returns an error where After is no sibling of a new column.
func (e *Add) CheckAfter() error {
	if e.After == "" {
		return nil
	}
	p, err := schema.ParsePath(e.After)
	if err != nil {
		return &misuse.Error{Err: err}
	}
	e.After = string(p)
	for _, v := range e.Values {
		if v.path.Parent() == p.Parent() {
			return nil
		}
	}
	return usagef("--after %s: no new column is in the same struct", p)
}

// Prepare implements Edit.
func (e *Add) Prepare([]*rule.File, bool) error { return nil }

// Steps implements Edit. Columns that hold their value already have no step.
func (e *Add) Steps(ctx context.Context, src *input.Set, i int, first int64) (steps []transform.RowStep, notes []string, err error) {
	f := src.Files()[i]
	after := schema.Path(e.After)
	if after != "" {
		if _, ok := f.Schema.Lookup(after); !ok {
			return nil, nil, usagef("%s: --after: %w", f.Name, transform.NoColumn(after, f.Schema))
		}
	}
	for _, v := range e.Values {
		v := v.in(f)
		if v.kind == "copy" {
			from, ok := f.Schema.Lookup(v.copy)
			if !ok {
				return nil, nil, usagef("%s: %s: %w", f.Name, v.text, transform.NoColumn(v.copy, f.Schema))
			}
			v.typ = from.Type
		}
		note, err := e.present(ctx, src, i, first, &v)
		if err != nil {
			return nil, nil, err
		}
		if note != "" {
			notes = append(notes, note)
			continue
		}
		at := schema.Path("")
		if after.Parent() == v.path.Parent() {
			at = after
			after = v.path
			if e.After == "" {
				after, at = "", ""
			}
		}
		steps = append(steps, e.step(&v, at, e.IndexStart+first))
	}
	return steps, notes, nil
}

// in returns v for one file: what is said of the file becomes a constant.
func (v Assign) in(f *rule.File) Assign {
	switch v.kind {
	case "file":
		v.value, v.kind = schema.TextValue(filepath.Base(f.Name)), ""
	case "path":
		v.value, v.kind = schema.TextValue(f.Name), ""
	}
	return v
}

// present decides about a column that exists already: leave it, with a note; do what was asked for; or return an error.
func (e *Add) present(ctx context.Context, src *input.Set, i int, first int64, v *Assign) (note string, err error) {
	f := src.Files()[i]
	has, ok := f.Schema.Lookup(v.path)
	if !ok {
		return "", nil
	}
	if e.Fill {
		if err := v.adapt(has.Type); err != nil {
			return "", usagef("%s: %w", f.Name, err)
		}
		is, _, err := (&columnClaim{path: v.path, fill: true}).by(ctx, src, i)
		if is {
			note = fmt.Sprintf("%s has no nulls", v.path)
		}
		return note, err
	}
	other := "is " + has.Type.String()
	if sameKind(has.Type, v.typ) {
		is, what, err := e.claim(v, e.IndexStart+first).by(ctx, src, i)
		if err != nil {
			return "", err
		}
		if is && (has.Type.Equal(v.typ) || !e.Replace) {
			return fmt.Sprintf("%s was there with this value", v.path), nil
		}
		other = "holds " + what
	}
	if !e.Replace {
		return "", usagef("%s: column %q already exists and %s: --replace overwrites it, --fill sets only its nulls", f.Name, v.path, other)
	}
	return "", nil
}

// sameKind reports whether values of both types can be equal.
func sameKind(a, b schema.Type) bool {
	if a.Kind == schema.Struct || a.Kind == schema.List {
		return a.Equal(b)
	}
	return a.Kind == b.Kind
}

// adapt makes the value one of the column that is filled.
func (v *Assign) adapt(to schema.Type) error {
	fits := v.typ.Equal(to)
	switch {
	case fits && v.kind == "" && v.value.IsNull():
		return fmt.Errorf("%s: --fill sets nulls, and the value is null", v.text)
	case fits:
	case v.kind != "":
	case v.typ.Kind == schema.Text && to.Kind == schema.Text && to.Layout != schema.Fixed:
		fits = true
	case v.typ.Kind == schema.Int && to.Kind == schema.Int:
		fits = intFits(v.value.Int(), to)
	case (v.typ.Kind == schema.Float || v.typ.Kind == schema.Int) && to.Kind == schema.Float && to.Bits >= 32:
		fits = true
		v.value = schema.FloatValue(v.value.Float())
	}
	if !fits {
		return fmt.Errorf("column %q is %s and cannot be filled with %s", v.path, to, v.typ)
	}
	v.typ = to
	return nil
}

func intFits(i int64, t schema.Type) bool {
	switch {
	case t.Bits == 64:
		return !t.Unsigned || i >= 0
	case t.Unsigned:
		return i >= 0 && i < 1<<t.Bits
	}
	return i >= -1<<(t.Bits-1) && i < 1<<(t.Bits-1)
}

// claim is what the column holds once it has been added; first is the number of the file's first row.
func (e *Add) claim(v *Assign, first int64) *columnClaim {
	h := &columnClaim{path: v.path}
	switch v.kind {
	case "row":
		h.want = func(row schema.Row) schema.Value { return schema.IntValue(first + row.Number()) }
	case "uuid":
		id := e.uuid(first)
		h.want = func(row schema.Row) schema.Value { return id(row) }
	case "copy":
		h.reads = []schema.Path{v.copy}
		h.want = func(row schema.Row) schema.Value { return row.At(1) }
	default:
		h.constant = &v.value
	}
	return h
}

// step is the transform that writes v after a sibling ("": at the end).
func (e *Add) step(v *Assign, after schema.Path, first int64) transform.RowStep {
	present := transform.Refuse
	switch {
	case e.Replace:
		present = transform.Replace
	case e.Fill:
		present = transform.Fill
	}
	put := transform.Put{Path: v.path, After: after, Type: v.typ, OnExisting: present}
	switch v.kind {
	case "row":
		return transform.Index{Path: v.path, Start: first, After: after, If: present}
	case "uuid":
		return computed{put, func() func(schema.Row) schema.Value { return e.uuid(first) }}
	case "copy":
		return transform.Copy{From: v.copy, To: v.path, After: after, If: present}
	}
	if holdsList(v.typ) || (v.typ.Kind == schema.Struct && v.value.IsNull()) {
		value := v.value
		return computed{put, func() func(schema.Row) schema.Value {
			return func(schema.Row) schema.Value { return value }
		}}
	}
	return transform.Set{Path: v.path, Value: v.value, Type: v.typ, After: after, If: present}
}

// holdsList reports whether a list is somewhere in t: such a constant is written row by row.
func holdsList(t schema.Type) bool {
	for _, f := range t.Fields {
		if holdsList(f.Type) {
			return true
		}
	}
	return t.Kind == schema.List
}

// A computed is one column whose value is made from the row's number.
type computed struct {
	put  transform.Put
	bind func() func(schema.Row) schema.Value
}

// Plan implements transform.RowStep.
func (c computed) Plan(in *schema.Schema) (*transform.Plan, error) {
	value := schema.NullValue // Set knows which paths can be written
	if _, err := (transform.Set{Path: c.put.Path, Value: value, Type: schema.StringType}).Plan(in); err != nil {
		return nil, err
	}
	return &transform.Plan{Puts: []transform.Put{c.put}, Bind: func() transform.Func {
		value := c.bind()
		return func(in schema.Row, out *transform.Emitter) error {
			out.Set(0, value(in))
			out.Emit()
			return nil
		}
	}}, nil
}

// uuid makes identifiers for rows numbered from first on: UUIDs of version 8 (RFC 9562) whose bits are a hash of the seed and
// the row's number. The value is valid until the next call.
func (e *Add) uuid(first int64) func(schema.Row) schema.Value {
	const name = "rlprep row "
	in := make([]byte, 0, len(name)+16)
	return func(row schema.Row) schema.Value {
		in = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(append(in[:0], name...), uint64(e.Seed)), uint64(first+row.Number()))
		h := sha256.Sum256(in)
		h[6] = h[6]&0x0f | 0x80
		h[8] = h[8]&0x3f | 0x80
		return schema.TextValue(fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16]))
	}
}
