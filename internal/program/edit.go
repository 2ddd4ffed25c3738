package program

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

// floorCopy makes a copied leaf, whose level is def, null by itself where parents of its old place were null.
func (c *compiler) floorCopy(leaf *column, def uint8) {
	c.edited([]*column{leaf}, def, func(_ int, w presenceLeaf) edit {
		return floored{base: w.slot, floor: def, idle: []int{w.slot}}
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
