package program

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

// A column is a field of a schema in the making. A leaf knows the slot that its values come from.
type column struct {
	field schema.Field // Type.Fields is rebuilt from kids
	kids  []*column
	slot  int
	// mayBeNull says that the struct may be null in some rows; its leaves know in which.
	mayBeNull bool
	// derived says that it is for steps and rules, and not written.
	derived bool
	// made says that it is a struct that a step made on the way to a column: it is there in every row.
	made bool
}

func isLeaf(k schema.Kind) bool { return k != schema.Struct && k != schema.List && k != schema.Map }

// columns makes the tree of fields; slot is called for each leaf, in order.
func columns(fields []schema.Field, slot func() int) []*column {
	out := make([]*column, len(fields))
	for i, f := range fields {
		c := &column{field: f, mayBeNull: f.Nullable}
		if isLeaf(f.Type.Kind) {
			c.slot = slot()
		} else {
			c.kids = columns(f.Type.Fields, slot)
		}
		out[i] = c
	}
	return out
}

func (c *column) toField() schema.Field {
	f := c.field
	if !isLeaf(f.Type.Kind) {
		f.Type.Fields = toFields(c.kids)
	}
	return f
}

func toFields(cols []*column) []schema.Field {
	out := make([]schema.Field, len(cols))
	for i, c := range cols {
		out[i] = c.toField()
	}
	return out
}

// slots returns the slots of the leaves below cols, in order.
func slotsOf(cols []*column) []int {
	var out []int
	for _, c := range cols {
		if isLeaf(c.field.Type.Kind) {
			out = append(out, c.slot)
		} else {
			out = append(out, slotsOf(c.kids)...)
		}
	}
	return out
}

func named(cols []*column, name string) int {
	return slices.IndexFunc(cols, func(c *column) bool { return c.field.Name == name })
}

// find returns the column at p, nil where there is none.
func find(cols []*column, p schema.Path) *column {
	var at *column
	for i, s := range p.Steps() {
		if i > 0 {
			cols = at.kids
		}
		switch {
		case s == schema.Elem && at != nil && at.field.Type.Kind == schema.List:
			at = at.kids[0]
		default:
			k := named(cols, s)
			if k < 0 {
				return nil
			}
			at = cols[k]
		}
	}
	return at
}

// remove takes the column at steps out, and every struct that it leaves empty.
func remove(cols []*column, steps []string) ([]*column, error) {
	k := named(cols, steps[0])
	if steps[0] == schema.Elem && len(cols) == 1 {
		k = 0 // the element of a list, whatever its name
	}
	if k < 0 {
		return nil, fmt.Errorf("no column %q", steps[0])
	}
	if len(steps) > 1 {
		c := cols[k]
		if list := c.field.Type.Kind == schema.List; list != (steps[1] == schema.Elem) || isLeaf(c.field.Type.Kind) {
			return nil, fmt.Errorf("%q is %s", steps[0], c.toField().Type)
		}
		kids, err := remove(c.kids, steps[1:])
		if err != nil {
			return nil, err
		}
		c.kids = kids
		if len(kids) > 0 {
			return cols, nil
		}
	}
	return slices.Delete(cols, k, k+1), nil
}

// clone returns a copy of c with the same slots.
func (c *column) clone(name string) *column {
	out := *c
	out.field.Name, out.derived = name, false
	out.kids = make([]*column, len(c.kids))
	for i, k := range c.kids {
		out.kids[i] = k.clone(k.field.Name)
	}
	return &out
}
