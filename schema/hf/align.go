package hf

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
)

// A conflict is what keeps a file from being loaded together with those before it.
type conflict struct {
	path   schema.Path
	what   string
	silent bool // the loader changes the values and goes on
}

// align folds type t at path into acc, as concatenate_datasets folds the features of one file into those of the files before
// (features.py, _check_if_features_can_be_aligned and _align_features, datasets 5.2): structs field by field, what is only
// ever null gives way, everything else must be equal.
func align(acc, t schema.Type, path schema.Path, report func(conflict)) schema.Type {
	m := schema.Merge{
		Both: func(acc, _ schema.Field, t schema.Type) schema.Field {
			acc.Type = t
			return acc
		},
		Pair: func(path schema.Path, acc, t schema.Type) (schema.Type, bool, error) {
			switch {
			case acc.OnlyNull() && t.Kind == schema.Struct:
				// Harmless the other way round; this way _align_features takes the null for a dict.
				report(conflict{path: path, what: fmt.Sprintf("%s here, %s in an earlier file", t, acc)})
				return t, true, nil
			case acc.OnlyNull():
				return t, true, nil
			case t.OnlyNull():
				return acc, true, nil
			case acc.Kind == schema.Struct && t.Kind == schema.Struct:
				return acc, false, nil
			case !equal(acc, t):
				report(conflict{path: path, what: fmt.Sprintf("%s here, %s in an earlier file", short(t, acc), short(acc, t))})
			}
			return acc, true, nil
		},
	}
	out, _ := m.Types(path, acc, t) // the policy has no error
	return out
}

// equal reports whether two types are one feature to datasets: the order of fields, nullability and dictionaries do not
// count.
func equal(a, b schema.Type) bool {
	if a.Kind != b.Kind || a.Bits != b.Bits || a.Unsigned != b.Unsigned || a.Layout != b.Layout || a.Size != b.Size || a.Name != b.Name || len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		g := b.Fields[i]
		if a.Kind == schema.Struct {
			var at int
			if g, at = b.Field(f.Name); at < 0 {
				return false
			}
		}
		if !equal(f.Type, g.Type) {
			return false
		}
	}
	return true
}

// short writes t for a message; of structs in lists it shows the fields that other lacks or has of another type.
func short(t, other schema.Type) string {
	if t.Kind != schema.List || other.Kind != schema.List || t.Layout != other.Layout || t.Fields[0].Type.Kind != schema.Struct || other.Fields[0].Type.Kind != schema.Struct {
		return schema.Cut(t.String(), 120)
	}
	e, o := t.Fields[0].Type, other.Fields[0].Type
	var diff []schema.Field
	for _, f := range e.Fields {
		if g, i := o.Field(f.Name); i < 0 || !equal(f.Type, g.Type) {
			diff = append(diff, schema.Field{Name: f.Name, Type: f.Type, Nullable: true})
		}
	}
	if len(diff) == 0 {
		return "a list of structs without it"
	}
	return schema.Cut("a list of structs with "+schema.StructOf(diff...).String(), 120)
}

// cast says what happens when a value of type t is cast to the type that the first file of a glob has at path (table.py,
// array_cast and cast_array_to_feature, datasets 5.2).
func cast(to, t schema.Type, path schema.Path, report func(conflict)) {
	fail := func(why string) {
		report(conflict{path: path, what: fmt.Sprintf("%s here, %s in the first file: %s", short(t, to), short(to, t), why)})
	}
	change := func(why string) {
		report(conflict{path: path, what: fmt.Sprintf("%s here, %s in the first file: %s", t, to, why), silent: true})
	}
	switch {
	case t.Kind == schema.Null:
	case to.Kind == schema.Null:
		fail("Couldn't cast to null")
	case to.Kind == schema.Struct && t.Kind == schema.Struct:
		for _, f := range t.Fields {
			if g, i := to.Field(f.Name); i >= 0 {
				cast(g.Type, f.Type, path.Field(f.Name), report)
			} else {
				report(conflict{path: path.Field(f.Name), what: "the first file has no such field: Couldn't cast array of type struct"})
			}
		}
	case to.Kind == schema.List && t.Kind == schema.List:
		if (to.Layout == schema.Fixed || t.Layout == schema.Fixed) && (to.Layout != t.Layout || to.Size != t.Size) {
			fail("Couldn't cast array")
			return
		}
		cast(to.Fields[0].Type, t.Fields[0].Type, path.Elem(), report)
	case nested(to) || nested(t):
		fail("Couldn't cast array")
	case equal(to, t):
	default:
		castPlain(to, t, fail, change)
	}
}

func nested(t schema.Type) bool {
	return t.Kind == schema.List || t.Kind == schema.Struct || t.Kind == schema.Map
}

// castPlain judges the casts between plain types.
func castPlain(to, t schema.Type, fail, change func(string)) {
	switch {
	case to.Kind == schema.Text && t.Kind == schema.Text: // the layout only
	case to.Kind == schema.Text && t.Kind == schema.Binary:
		fail("it fails on the first bytes that are not UTF-8")
	case to.Kind == schema.Text:
		change("its values silently become text")
	case to.Kind == schema.Binary && t.Kind == schema.Text:
		change("its texts silently become bytes")
	case t.Kind == schema.Text && (to.Kind == schema.Int || to.Kind == schema.Float || to.Kind == schema.Bool):
		fail("it fails on the first text that is not a " + to.Kind.String())
	case to.Kind == schema.Int && t.Kind == schema.Float:
		fail("it fails on the first value with a fraction")
	case to.Kind == schema.Int && t.Kind == schema.Int:
		if to.Bits < t.Bits || to.Unsigned != t.Unsigned {
			change("it fails on a value out of range")
		}
	case to.Kind == schema.Float && (t.Kind == schema.Int || t.Kind == schema.Float):
	case to.Kind == schema.Bool, t.Kind == schema.Bool:
		change("its values are silently changed")
	case to.Kind == t.Kind: // times and decimals of another unit
		change("its values are silently changed")
	default:
		fail("Couldn't cast array")
	}
}
