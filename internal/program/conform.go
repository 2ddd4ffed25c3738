package program

import (
	"github.com/rlprep/rlprep/schema"
)

// A conformer brings columns to those of another schema, leaf by leaf: a leaf that stays what it is keeps its slot, so that its chunks are
// copied where they fit.
type conformer struct {
	*compiler
	where string // the step, for messages
}

// fields returns cols as want says. way are the columns around them, def the level at which they are there, rep the lists passed.
func (c *conformer) fields(cols []*column, want []schema.Field, at schema.Path, way []parent, def, rep uint8) []*column {
	out := make([]*column, len(want))
	for i, f := range want {
		k := named(cols, f.Name)
		if at != "" && way[len(way)-1].col.field.Type.Kind == schema.List {
			k = 0 // whatever its name
		}
		p := at.Field(f.Name)
		if n := len(way); n > 0 && way[n-1].col.field.Type.Kind == schema.List {
			p = at.Elem()
		}
		if k < 0 || cols[k].field.Type.Kind == schema.Null && f.Type.Kind != schema.Null {
			out[i] = c.absent(f, cols, way, def, rep)
			continue
		}
		out[i] = c.column(cols[k], f, p, way, def, rep)
	}
	return out
}

// column returns col with the type of f.
func (c *conformer) column(col *column, f schema.Field, at schema.Path, way []parent, def, rep uint8) *column {
	if col.toField().Type.Equal(f.Type) {
		return col
	}
	out := *col
	out.field.Type, out.field.SourceElement = f.Type, nil
	if col.field.Nullable {
		def++
	}
	way = append(way[:len(way):len(way)], parent{col, def})
	switch f.Type.Kind {
	case schema.Struct:
		out.kids = c.fields(col.kids, f.Type.Fields, at, way, def, rep)
	case schema.List:
		out.kids = c.fields(col.kids, f.Type.Fields, at, way, def+1, rep+1)
	case schema.Map: // Gather takes only equal ones
	default:
		if !Stored(col.field.Type).Equal(Stored(f.Type)) {
			out.slot = c.add(slot{kind: cast{base: col.slot, path: at, where: c.where}, maxDef: def, typ: f.Type})
		}
	}
	return &out
}

// absent returns the column of a field that does not exist, or is nothing but null, among cols, which stand at level def.
func (c *conformer) absent(f schema.Field, cols []*column, way []parent, def, rep uint8) *column {
	f.Nullable = true
	if rep == 0 && isLeaf(f.Type.Kind) {
		leaf := c.leaf(f, slot{kind: constant{&schema.NullValue}})
		c.levels([]*column{leaf}, def)
		c.guard(way, leaf, def)
		return leaf
	}
	var guard []presenceLeaf
	at := len(way) - 1
	for at >= 0 && rep == 0 && !way[at].col.mayBeNull {
		at--
	}
	if at >= 0 {
		guard = presenceLeaves(way[at].col.kids, way[at].def)
		if rep > 0 { // the leaves beside it know how many elements there are
			guard = presenceBelow(cols, def, true, true)
		}
	}
	leaves := (&schema.Schema{Fields: []schema.Field{f}}).Leaves()
	n := 0
	return columns([]schema.Field{f}, func() int {
		l := leaves[n]
		n++
		return c.add(slot{kind: absentField{def: def, rep: rep, repeated: rep+l.MaxRep > 0, guard: guard}, maxDef: def + l.MaxDef, typ: l.Type})
	})[0]
}
