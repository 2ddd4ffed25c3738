package schema

import (
	"fmt"
	"slices"
)

// A Merge is a policy by which two types become one. Structs are merged field by field, in a's order and then b's, and lists by their
// elements; the functions say the rest. Who compares types without making one, or gathers one from values, does not need it.
type Merge struct {
	// Pair settles the types of a field. done false leaves two structs or two lists to be merged by their parts; Pair must settle all others.
	Pair func(at Path, a, b Type) (t Type, done bool, err error)
	// Both makes the field that a and b have from their merged type; nil: a with that type, nullable where one of them is.
	Both func(a, b Field, t Type) Field
	// OnlyA and OnlyB make the field that one side alone has, where the other has fields; nil: the field as it is.
	OnlyA, OnlyB func(at Path, f Field, others []Field) (Field, error)
}

// Types returns the type that a and b, which stand at a path, become.
func (m *Merge) Types(at Path, a, b Type) (Type, error) {
	t, done, err := m.Pair(at, a, b)
	switch {
	case done || err != nil:
		return t, err
	case a.Kind == Struct && b.Kind == Struct:
		a.Fields, err = m.Fields(at, a.Fields, b.Fields)
	case a.Kind == List && b.Kind == List:
		var f Field
		f, err = m.field(at.Elem(), a.Fields[0], b.Fields[0])
		a.Fields = []Field{f}
	default:
		panic(fmt.Sprintf("schema: the policy does not settle %s and %s", a, b))
	}
	return a, err
}

// Fields returns the fields that a and b, fields of structs at a path or columns of files, become.
func (m *Merge) Fields(at Path, a, b []Field) ([]Field, error) {
	out := slices.Clone(a)
	for i, f := range a {
		if _, j := find(b, f.Name); j >= 0 || m.OnlyA == nil {
			continue
		}
		var err error
		if out[i], err = m.OnlyA(at.Field(f.Name), f, b); err != nil {
			return nil, err
		}
	}
	for _, f := range b {
		var err error
		p := at.Field(f.Name)
		if old, i := find(out, f.Name); i >= 0 {
			if out[i], err = m.field(p, old, f); err != nil {
				return nil, err
			}
			continue
		}
		if m.OnlyB != nil {
			if f, err = m.OnlyB(p, f, a); err != nil {
				return nil, err
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func (m *Merge) field(at Path, a, b Field) (Field, error) {
	t, err := m.Types(at, a.Type, b.Type)
	if err == nil && m.Both != nil {
		return m.Both(a, b, t), nil
	}
	a.Type = t
	a.Nullable = a.Nullable || b.Nullable
	return a, err
}

// JSONTypes is the policy for types of values that came from JSON, as pyarrow's reader has it: null gives way, and an integer to a double.
var JSONTypes = Merge{Pair: func(at Path, a, b Type) (Type, bool, error) {
	switch {
	case a.Kind == Null:
		return b, true, nil
	case b.Kind == Null:
		return a, true, nil
	case a.Kind == Int && b.Kind == Float:
		return b, true, nil
	case a.Kind == Float && b.Kind == Int:
		return a, true, nil
	case a.Kind == b.Kind:
		return a, a.Kind != Struct && a.Kind != List, nil
	}
	err := fmt.Errorf("%s and %s in one column", a, b)
	if at != "" {
		err = fmt.Errorf("%s: %w", at, err)
	}
	return a, false, err
}}
