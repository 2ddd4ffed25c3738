package program

import (
	"slices"

	"github.com/rlprep/rlprep/internal/record"
)

// raised returns v with levels below floor at floor: its parents are there, and it is null.
func raised(v *record.Vector, floor uint8) *record.Vector {
	if v.Def == nil || !slices.ContainsFunc(v.Def, func(d uint8) bool { return d < floor }) {
		return v
	}
	out := *v
	out.Def = make([]uint8, len(v.Def))
	for i, d := range v.Def {
		out.Def[i] = max(d, floor)
	}
	return &out
}

// below returns v, a leaf below a struct, with nothing in the rows in which like, another leaf of it, says that the struct is
// null: at a level below level.
func below(v, like *record.Vector, level, maxDef uint8) *record.Vector {
	var kept []int32
	var outer []uint8 // by row
	for e, d := range like.Def {
		if like.Rep != nil && like.Rep[e] != 0 {
			continue
		}
		if d >= level {
			kept = append(kept, int32(len(outer)))
		}
		outer = append(outer, d)
	}
	if like.Def == nil || len(kept) == v.Rows {
		return v
	}
	t := v.SelectRows(kept, maxDef)
	out := &record.Vector{Values: t.Values, Rows: v.Rows, Def: make([]uint8, 0, t.Entries()+v.Rows-len(kept))}
	e := 0
	for _, d := range outer {
		if d < level {
			out.Def = append(out.Def, d)
			if v.Rep != nil {
				out.Rep = append(out.Rep, 0)
			}
			continue
		}
		for first := true; first || (t.Rep != nil && e < len(t.Rep) && t.Rep[e] != 0); first = false {
			if t.Def != nil {
				out.Def = append(out.Def, t.Def[e])
			} else {
				out.Def = append(out.Def, maxDef)
			}
			if v.Rep != nil {
				out.Rep = append(out.Rep, t.Rep[e])
			}
			e++
		}
	}
	return out
}

// fill returns v with the rows of with in place of those at a level below field.
func fill(v, with *record.Vector, field, maxDef uint8) (*record.Vector, error) {
	var rows []int32
	changed := false
	for e, d := range v.Def {
		if v.Rep != nil && v.Rep[e] != 0 {
			continue
		}
		row := int32(len(rows))
		if d < field {
			row += int32(v.Rows)
			changed = true
		}
		rows = append(rows, row)
	}
	if !changed {
		return v, nil
	}
	both, err := v.Concat(with, maxDef)
	if err != nil {
		return nil, err
	}
	return both.SelectRows(rows, maxDef), nil
}
