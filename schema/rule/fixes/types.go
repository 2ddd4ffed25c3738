package fixes

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A looseness says which types may become one.
type looseness uint8

const (
	sameKind  looseness = iota
	toNumbers           // also texts and floats integers
	toTexts             // also integers texts
)

// OneType gives the column the same type in all files of the dataset where that changes no value: the widest integer, text and lists
// of one form, for what is only ever null the type that it has elsewhere; and the columns and fields the same order.
func OneType(title string) rule.Fix { return oneType(title, sameKind) }

// NumberType is OneType, and makes texts and floats integers where some files hold integers.
func NumberType(title string) rule.Fix { return oneType(title, toNumbers) }

// TextType is OneType, and makes integers texts where some files hold text.
func TextType(title string) rule.Fix { return oneType(title, toTexts) }

func oneType(title string, how looseness) rule.Fix {
	return rule.Fix{Title: title, Dataset: true, Plan: func(ctx context.Context, r rule.FixRequest) (string, error) {
		return planOneType(ctx, r, how)
	}}
}

func planOneType(ctx context.Context, r rule.FixRequest, how looseness) (string, error) {
	want, glob := schema.Type{Kind: schema.Null}, len(r.Dataset()) > 1
	for _, i := range r.Dataset() {
		glob = glob && r.Facts(i).Glob
		t := typeAt(r, i, r.Path())
		if t.Kind == schema.Missing {
			continue
		}
		merged, err := merge(how).Types(r.Path(), want, t)
		if err != nil {
			return "it is " + schema.Cut(t.String(), 80) + " in " + r.Facts(i).Name + ", " + schema.Cut(want.String(), 80) + " before", nil
		}
		want = merged
	}
	s := &columnConverter{r: r, ctx: ctx, whole: glob}
	for _, i := range r.Dataset() {
		if why, err := s.convert(i, want); why != "" || err != nil {
			return why, err
		}
	}
	if !s.changes {
		return "", nil
	}
	for _, f := range s.arranged() {
		for _, t := range f.steps {
			r.Add(f.file, r.Path(), t)
		}
	}
	return "", nil
}

// errUnlike says that no type holds the values of both.
var errUnlike = errors.New("no type holds the values of both")

// merge is the policy for types whose values have one type once they are alike: within lists only types of one kind.
func merge(how looseness) *schema.Merge {
	return &schema.Merge{
		Both: func(a, _ schema.Field, t schema.Type) schema.Field { return schema.NewField(a.Name, t) },
		OnlyB: func(_ schema.Path, f schema.Field, _ []schema.Field) (schema.Field, error) {
			return schema.NewField(f.Name, f.Type), nil
		},
		Pair: func(at schema.Path, a, b schema.Type) (schema.Type, bool, error) {
			a.Dictionary, b.Dictionary = false, false // no loader tells them from others
			switch {
			case a.OnlyNull():
				return b, true, nil
			case b.OnlyNull(), a.Equal(b):
				return a, true, nil
			case a.Kind == schema.Struct && b.Kind == schema.Struct:
				return a, false, nil
			case a.Kind == schema.List && b.Kind == schema.List:
				t, err := mergeLists(at, a, b)
				return t, true, err
			}
			t, ok := mergePlain(a, b, how)
			if !ok {
				return t, true, errUnlike
			}
			return t, true, nil
		},
	}
}

func mergeLists(at schema.Path, a, b schema.Type) (schema.Type, error) {
	if (a.Layout == schema.Fixed || b.Layout == schema.Fixed) && (a.Layout != b.Layout || a.Size != b.Size) {
		return a, errUnlike
	}
	e, err := merge(sameKind).Types(at.Elem(), a.Fields[0].Type, b.Fields[0].Type)
	out := schema.ListOf(e)
	if a.Layout == b.Layout {
		out.Layout, out.Size = a.Layout, a.Size
	}
	return out, err
}

func mergePlain(a, b schema.Type, how looseness) (schema.Type, bool) {
	bytes := func(t schema.Type) bool {
		return (t.Kind == schema.Text || t.Kind == schema.Binary) && t.Layout != schema.Fixed && t.Name == ""
	}
	one := func(x, y schema.Kind) bool { return a.Kind == x && b.Kind == y || a.Kind == y && b.Kind == x }
	switch {
	case bytes(a) && bytes(b) && a.Kind == b.Kind:
		return schema.Type{Kind: a.Kind}, true
	case bytes(a) && bytes(b): // bytes that are text, if they are
		return schema.StringType, true
	case one(schema.Int, schema.Int):
		return schema.WiderInt(a, b)
	case one(schema.Float, schema.Float) && min(a.Bits, b.Bits) >= 32:
		return schema.FloatType, true
	case how == toNumbers && (one(schema.Int, schema.Text) || one(schema.Int, schema.Float)):
		return schema.Int64Type, true
	case how == toTexts && one(schema.Int, schema.Text):
		return schema.StringType, true
	}
	return a, false
}

// A columnConverter gathers what brings files to one type, so that nothing is planned where one of them cannot be.
type columnConverter struct {
	r       rule.FixRequest
	ctx     context.Context
	whole   bool // a field that a struct lacks is added: files of a glob are cast to the first's
	changes bool // some file is not of the type
	files   []shaped
}

// A shaped is a file with what is done to it.
type shaped struct {
	file  int
	steps []transform.RowStep
	to    *schema.Field // the column as it is to be; nil: there is none
	other bool          // than it is
}

// convert notes what gives the column of a file the type want.
func (s *columnConverter) convert(file int, want schema.Type) (why string, err error) {
	out := shaped{file: file}
	have := s.r.Facts(file).Schema.Clone()
	if f := fieldAt(have, s.r.Path()); f != nil {
		was := f.Type
		if why, err := s.bring(&out, s.r.Path(), f, want, s.whole); why != "" || err != nil {
			return why, err
		}
		out.to, out.other = f, len(out.steps) > 0 || !f.Type.Equal(was)
	} else if in := fieldAt(have, s.r.Path().Parent()); s.whole && in != nil && in.Type.Kind == schema.Struct {
		f := schema.NewField(s.r.Path().Base(), want)
		out.to, out.other = &f, true
	}
	s.changes = s.changes || out.other
	s.files = append(s.files, out)
	return "", nil
}

// A reshape gives the column at path a type, and the columns the order of names.
type reshape struct {
	path  schema.Path
	to    *schema.Field // nil: the file has no such column
	names []string
}

// Plan implements transform.RowStep.
func (t reshape) Plan(in *schema.Schema) (*transform.Plan, error) {
	out := in.Clone()
	switch f, parent := fieldAt(out, t.path), fieldAt(out, t.path.Parent()); {
	case t.to == nil:
	case f != nil:
		f.Type = t.to.Type
	case parent != nil:
		parent.Type.Fields = append(parent.Type.Fields, *t.to)
	}
	slices.SortStableFunc(out.Fields, func(a, b schema.Field) int { return place(t.names, a.Name) - place(t.names, b.Name) })
	return &transform.Plan{Conform: out}, nil
}

// fieldAt returns the field at path, to be changed; nil where there is none. The path leads through no list.
func fieldAt(s *schema.Schema, path schema.Path) *schema.Field {
	fields := s.Fields
	var at *schema.Field
	for _, name := range path.Steps() {
		i := slices.IndexFunc(fields, func(f schema.Field) bool { return f.Name == name })
		if i < 0 {
			return nil
		}
		at = &fields[i]
		fields = at.Type.Fields
	}
	return at
}

// bring gives f, which stands at path, the type want. What the engine cannot do by shape becomes a step before it. whole: fields that
// structs lack are added, as in lists they must be.
func (s *columnConverter) bring(out *shaped, path schema.Path, f *schema.Field, want schema.Type, whole bool) (why string, err error) {
	have := f.Type
	have.Dictionary = false
	switch {
	case have.Equal(want):
		return "", nil
	case have.Kind == schema.Struct && want.Kind == schema.Struct:
		return s.bringFields(out, path, f, want, whole)
	case have.Kind == schema.List && want.Kind == schema.List && !have.OnlyNull():
		f.Type = want
		f.Type.Fields = slices.Clone(have.Fields)
		return s.bring(out, path.Elem(), &f.Type.Fields[0], want.Fields[0].Type, true)
	}
	f.Type = want
	var t transform.RowStep
	switch have.Kind {
	case want.Kind, schema.Null:
		return "", nil
	case schema.Binary:
		t = over(path, transform.Put{Retype: schema.StringType})
		why, err = notText(s.ctx, s.r, out.file, path)
	case schema.Text:
		t = Computed{transform.Put{Path: path, Type: want, OnExisting: transform.Replace}, []schema.Path{path}, exactNumber}
	default:
		t = transform.Cast{Path: path, To: want}
		why = s.r.Misfit(out.file, t)
	}
	out.steps = append(out.steps, t)
	return why, err
}

func (s *columnConverter) bringFields(out *shaped, path schema.Path, f *schema.Field, want schema.Type, whole bool) (why string, err error) {
	var fields []schema.Field
	for _, w := range want.Fields {
		c, i := f.Type.Field(w.Name)
		switch {
		case i < 0 && whole:
			fields = append(fields, schema.NewField(w.Name, w.Type))
			continue
		case i < 0:
			continue
		}
		if why, err := s.bring(out, path.Field(w.Name), &c, w.Type, whole); why != "" || err != nil {
			return why, err
		}
		fields = append(fields, c)
	}
	f.Type.Fields = fields
	return "", nil
}

// place is where a name stands among names; one that does not comes last.
func place(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return len(names)
}

// arranged returns the files that change, each with the step that gives it its columns, in the order in which the first files have them.
func (s *columnConverter) arranged() (out []shaped) {
	var names []string
	for _, f := range s.files {
		for _, name := range s.r.Facts(f.file).Schema.Names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, f := range s.files {
		inOrder := slices.IsSortedFunc(s.r.Facts(f.file).Schema.Names(), func(a, b string) int { return place(names, a) - place(names, b) })
		if f.other || !inOrder {
			f.steps = append(f.steps, reshape{s.r.Path(), f.to, names})
			out = append(out, f)
		}
	}
	return out
}

// exactNumber makes a text an integer where it is written as integers are.
func exactNumber(row schema.Row) (schema.Value, string) {
	v := row.At(0)
	if v.Kind() != schema.Text {
		return schema.NullValue, ""
	}
	n, err := strconv.ParseInt(v.Text(), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != v.Text() {
		return schema.NullValue, v.Excerpt(40) + " is not an integer"
	}
	return schema.IntValue(n), ""
}
