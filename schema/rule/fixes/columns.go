package fixes

import (
	"context"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Unsafe returns the fix as one that asks for --unsafe-fixes.
func Unsafe(f rule.Fix) rule.Fix {
	f.Unsafe = true
	return f
}

// Rewrite writes the file again as it is, without empty row groups. The metadata of HF datasets is left out where strip says so.
func Rewrite(title string, strip func(*rule.File) bool) rule.Fix {
	return rule.Fix{Title: title, Plan: func(_ context.Context, r rule.FixRequest) (string, error) {
		r.Add(r.File(), r.Path(), planned{})
		if strip != nil && strip(r.Facts(r.File())) {
			r.StripMetadata(r.File())
		}
		return "", nil
	}}
}

// DropColumn drops the column of the finding.
func DropColumn(title string) rule.Fix {
	return rule.Fix{Title: title, Plan: func(_ context.Context, r rule.FixRequest) (string, error) {
		return addIfFits(r, r.Path(), transform.Drop{Paths: []schema.Path{r.Path()}}), nil
	}}
}

// DropNull drops the column of the finding in every file of the dataset, if it is of null type in all of them.
func DropNull(title string) rule.Fix { return rule.Fix{Title: title, Dataset: true, Plan: dropNull} }

func dropNull(_ context.Context, r rule.FixRequest) (string, error) {
	t := transform.Drop{Paths: []schema.Path{r.Path()}}
	var have []int
	for _, i := range r.Dataset() {
		switch typ := typeAt(r, i, r.Path()); {
		case typ.Kind == schema.Missing:
		case typ.Kind != schema.Null || r.Misfit(i, t) != "":
			return "", nil
		default:
			have = append(have, i)
		}
	}
	for _, i := range have {
		r.Add(i, r.Path(), t)
	}
	return "", nil
}

// DropRows leaves out the rows in which the rule finds something at its own level.
func DropRows(title string) rule.Fix {
	return rule.Fix{Title: title, DropsRows: true, Plan: func(_ context.Context, r rule.FixRequest) (string, error) {
		r.Add(r.File(), r.Path(), dropper{r.Rule(), r.Env(), r.Path()})
		return "", nil
	}}
}

// EachText writes each text of the column of the finding as text returns it. It is called by many workers.
func EachText(title string, text func(string) string) rule.Fix {
	return rule.Fix{Title: title, Plan: func(_ context.Context, r rule.FixRequest) (string, error) {
		return AddEachText(r, r.Path(), text), nil
	}}
}

// AddEachText plans that each text of a column of the finding's file is written as text returns it, or returns why it cannot.
func AddEachText(r rule.FixRequest, path schema.Path, text func(string) string) (unfixed string) {
	if t := typeAt(r, r.File(), path); t.Kind != schema.Text {
		return string(path) + " is " + t.String()
	}
	r.Add(r.File(), path, over(path, transform.Put{MapText: func(dst []byte, s string) []byte { return append(dst, text(s)...) }}))
	return ""
}

// A Value makes the values of one column out of their rows. Its functions are called by many workers.
type Value struct {
	Path  schema.Path
	Reads []schema.Path // what New sees
	// Type is the type that the column gets, of the one that it has (Missing: there is no such column); false: it cannot be
	// done. Nil: a text stays one, and another column cannot be done.
	Type func(schema.Type) (schema.Type, bool)
	// New returns the value, which may be the present one; or why there is none: then the column is left as it is.
	New func(schema.Row) (v schema.Value, why string)
}

// EachValue makes each value of a column out of its row.
func EachValue(title string, v *Value) rule.Fix {
	return rule.Fix{Title: title, Plan: func(_ context.Context, r rule.FixRequest) (string, error) { return v.plan(r), nil }}
}

func (v *Value) plan(r rule.FixRequest) string {
	have := typeAt(r, r.File(), v.Path)
	if r.Facts(r.File()).Rows == 0 {
		return "the file has no rows"
	}
	to, ok := schema.Type{Kind: schema.Text, Layout: have.Layout}, have.Kind == schema.Text
	if v.Type != nil {
		to, ok = v.Type(have)
	}
	if !ok {
		return string(v.Path) + " is " + have.String()
	}
	if in := typeAt(r, r.File(), v.Path.Parent()); in.Kind != schema.Missing && in.Kind != schema.Struct {
		return string(v.Path.Parent()) + " is " + in.String()
	}
	r.Add(r.File(), v.Path, Computed{transform.Put{Path: v.Path, Type: to, OnExisting: transform.Replace}, v.Reads, v.New})
	return ""
}

// RenameFields gives fields of the struct other names, where the old name is there and the new one is not: each of names is an old
// and a new one. Nothing is decoded.
func RenameFields(title string, names [][2]string) rule.Fix {
	return rule.Fix{Title: title, Plan: func(_ context.Context, r rule.FixRequest) (string, error) {
		t := typeAt(r, r.File(), r.Path())
		if t.Kind != schema.Struct {
			return string(r.Path()) + " is " + t.String(), nil
		}
		for _, n := range names {
			_, old := t.Field(n[0])
			if _, now := t.Field(n[1]); old >= 0 && now < 0 {
				r.Add(r.File(), r.Path(), transform.Rename{From: r.Path().Field(n[0]), To: r.Path().Field(n[1])})
			}
		}
		return "", nil
	}}
}

// AsText says of bytes that are UTF-8 that they are text.
func AsText(title string) rule.Fix {
	return rule.Fix{Title: title, Plan: func(ctx context.Context, r rule.FixRequest) (string, error) {
		why, err := notText(ctx, r, r.File(), r.Path())
		if why != "" || err != nil {
			return why, err
		}
		r.Add(r.File(), r.Path(), over(r.Path(), transform.Put{Retype: schema.StringType}))
		return "", nil
	}}
}

// notText says why bytes are no text, "" where they are.
func notText(ctx context.Context, r rule.FixRequest, file int, path schema.Path) (why string, err error) {
	if t := typeAt(r, file, path); t.Kind != schema.Binary || t.Layout == schema.Fixed || t.Name != "" {
		return string(path) + " is " + t.String(), nil
	}
	err = r.Scan(ctx, file, []schema.Path{path}, func(row schema.Row) {
		if !validText(row.At(0)) && why == "" {
			why = "some of its bytes are no UTF-8: " + row.Pos().String()
		}
	})
	return why, err
}

func validText(v schema.Value) bool {
	if v.Kind() != schema.List {
		return utf8.ValidString(v.Text())
	}
	for i := range v.Len() {
		if !validText(v.Elem(i)) {
			return false
		}
	}
	return true
}

// typeAt returns the type of a column of a file; its kind is Missing where there is none.
func typeAt(r rule.FixRequest, file int, path schema.Path) schema.Type {
	f, ok := r.Facts(file).Schema.Lookup(path)
	if !ok {
		return schema.Type{}
	}
	return f.Type
}

// addIfFits plans a transform of the finding's file, or returns why it does not fit.
func addIfFits(r rule.FixRequest, path schema.Path, t transform.RowStep) (unfixed string) {
	if why := r.Misfit(r.File(), t); why != "" {
		return why
	}
	r.Add(r.File(), path, t)
	return ""
}
