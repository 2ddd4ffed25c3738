package program

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

// A presenceLeaf is a leaf below a struct: its levels say where the struct is null. maxDef is its level at its place.
type presenceLeaf struct {
	slot     int
	maxDef   uint8
	repeated bool
	strict   bool // nothing between the struct and the value can be null: the leaf cannot hold a null of its own
}

// presenceLeaves lists the leaves below cols, whose level is def.
func presenceLeaves(cols []*column, def uint8) []presenceLeaf {
	return presenceBelow(cols, def, false, true)
}

func presenceBelow(cols []*column, def uint8, repeated, strict bool) []presenceLeaf {
	var out []presenceLeaf
	for _, c := range cols {
		d, strict := def, strict
		if c.field.Nullable {
			d, strict = d+1, strict && repeated // in a list whose elements cannot be null, a nullable field does not help
		}
		switch {
		case isLeaf(c.field.Type.Kind):
			out = append(out, presenceLeaf{c.slot, d, repeated, strict})
		case c.field.Type.Kind == schema.Struct:
			out = append(out, presenceBelow(c.kids, d, repeated, strict)...)
		default: // a list; whether it is empty does not matter
			out = append(out, presenceBelow(c.kids, d+1, true, strict)...)
		}
	}
	return out
}

func slotsIn(ws []presenceLeaf) []int {
	out := make([]int, len(ws))
	for i, w := range ws {
		out[i] = w.slot
	}
	return out
}

// edited replaces the slot of every leaf of cols, whose level is def, by the edit that make returns.
func (c *compiler) edited(cols []*column, def uint8, make func(i int, w presenceLeaf) edit) {
	ws := presenceLeaves(cols, def)
	i := 0
	var walk func(cols []*column)
	walk = func(cols []*column) {
		for _, col := range cols {
			if !isLeaf(col.field.Type.Kind) {
				walk(col.kids)
				continue
			}
			col.slot = c.add(slot{kind: make(i, ws[i]), maxDef: ws[i].maxDef, typ: c.p.slots[col.slot].typ})
			i++
		}
	}
	walk(cols)
}

// floorCopy makes a copied leaf, whose level is def, null by itself where parents of its old place were null.
func (c *compiler) floorCopy(leaf *column, def uint8) {
	c.edited([]*column{leaf}, def, func(_ int, w presenceLeaf) edit {
		return floored{base: w.slot, floor: def, idle: []int{w.slot}}
	})
}

// guard makes leaf, a new column below way, null where the innermost struct above it is.
func (c *compiler) guard(way []parent, leaf *column, def uint8) {
	cols := []*column{leaf}
	at := len(way) - 1
	for at >= 0 && !way[at].col.mayBeNull {
		at--
	}
	if at < 0 {
		return
	}
	ws := presenceLeaves(way[at].col.kids, way[at].def)
	c.edited(cols, def, func(_ int, w presenceLeaf) edit {
		return guarded{base: w.slot, guard: ws, level: way[at].def, idle: slotsIn(ws)}
	})
}

// raise makes the structs of way present in every row: where they were null their fields are, except target.
func (c *compiler) raise(way []parent, target *column) {
	first := slices.IndexFunc(way, func(p parent) bool { return p.col.mayBeNull })
	if first < 0 {
		return
	}
	for i := first; i < len(way); i++ {
		p := way[i]
		below := target
		if i+1 < len(way) {
			below = way[i+1].col
		}
		idle := slotsIn(presenceLeaves(p.col.kids, p.def))
		for _, kid := range p.col.kids {
			if kid == below {
				continue
			}
			name := kid.field.Name
			c.edited([]*column{kid}, p.def, func(_ int, w presenceLeaf) edit {
				e := floored{base: w.slot, floor: p.def, idle: idle}
				if w.strict {
					e.refuse = fmt.Sprintf("struct %q is null in some rows and cannot be filled: its field %q takes no null", p.col.field.Name, name)
				}
				return e
			})
		}
		p.col.mayBeNull = false
	}
}

// fill gives old the values of leaf in the rows in which it is null. def is the level of its parents, as they are now.
func (c *compiler) fill(path schema.Path, old, leaf *column, def uint8) error {
	have, want := old.toField(), leaf.toField()
	if !have.Type.Equal(want.Type) {
		return fmt.Errorf("column %q is %s and cannot be filled with %s", path, have.Type, want.Type)
	}
	values := presenceLeaves([]*column{leaf}, def)
	field := def
	if have.Nullable {
		field++
	}
	for i, w := range presenceLeaves(old.kids, field) {
		if w.maxDef != values[i].maxDef {
			return fmt.Errorf("column %q is %s with fields that take no null: it cannot be filled", path, have.Type)
		}
	}
	all := slotsOf([]*column{old})
	c.edited([]*column{old}, def, func(i int, w presenceLeaf) edit {
		return filled{base: w.slot, with: values[i].slot, field: field, idle: all}
	})
	return nil
}
