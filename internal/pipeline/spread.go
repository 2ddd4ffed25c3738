package pipeline

import (
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// spread makes the vector of a constant or of row numbers below a struct that is null in some rows: there where the
// struct is, as its leaf like shows, at levels up to maxDef.
func spread(s *slot, like *record.Vector, maxDef uint8, state *record.Batch) *record.Vector {
	f := schema.Field{Name: "value", Type: s.typ}
	b, err := record.NewBuilder(f, maxDef)
	if err != nil {
		panic(err) // constants have plain types
	}
	out := &record.Vector{Rows: state.Rows, Def: make([]uint8, 0, state.Rows)}
	n := 0
	row := 0
	for e, d := range like.Def {
		if like.Rep != nil && like.Rep[e] != 0 {
			continue
		}
		switch {
		case d < s.parent:
			out.Def = append(out.Def, d)
		case s.konst != nil && s.konst.IsNull():
			out.Def = append(out.Def, maxDef-1)
		default:
			out.Def = append(out.Def, maxDef)
			v := schema.Value{}
			if s.konst != nil {
				v = *s.konst
			} else {
				v = schema.IntValue(s.seq.Start + state.First + int64(state.Origin(row)))
			}
			if err := b.Append(v); err != nil {
				panic(err)
			}
			n++
		}
		row++
	}
	out.Values = b.Vectors()[0].Values
	return out
}
