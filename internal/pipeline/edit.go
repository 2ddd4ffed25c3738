package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// An edit is a slot made of others: of base, with one of the four below, three of them for where nulls are in the way. Where a part of the input
// has no such nulls the edit is idle, and base is taken as it is, undecoded if it can be.
type edit struct {
	base int
	// guard: where the struct around the leaf is null, as a witness says, the leaf is too.
	guard []witness
	// floor: levels below become this one; with guard, it is the level at which the struct is there.
	floor uint8
	// fill: where the field of base is null, at levels below field, the row is taken from slot fill.
	fill  int
	field uint8
	// each makes every text anew.
	each func(string) string
	// idle lists slots of which one without nulls shows that there is nothing to do.
	idle []int
	// refuse says why the edit cannot be done; it matters only where it is not idle.
	refuse string
	// cast: the values of base become those of the slot's type, which is wider.
	cast *cast
	// hollow: there is no base, and nothing in any row: the slot is below a field that the file lacks.
	hollow *hollow
}

const noFill = -1

// A cast says what is told where a value does not become one of the wider type.
type cast struct {
	path  schema.Path
	where string // in the pipeline file, or the step
}

// A hollow is where a field would be that is not there: in a struct that stands at level def below so many lists. With guard a leaf of the
// struct says where the struct is null.
type hollow struct {
	def, rep uint8
	repeated bool // there are lists on the way to the leaf
}

// A witness is a leaf below a struct, whose levels say where the struct is null. maxDef is its level at its place.
type witness struct {
	slot     int
	maxDef   uint8
	repeated bool
	strict   bool // nothing between the struct and the value can be null: the leaf takes no null of its own
}

// witnesses lists the leaves below cols, which stand at level def.
func (c *compiler) witnesses(cols []*column, def uint8) []witness {
	return witnesses(cols, def, false, true)
}

func witnesses(cols []*column, def uint8, repeated, strict bool) []witness {
	var out []witness
	for _, c := range cols {
		d, strict := def, strict
		if c.field.Nullable {
			d, strict = d+1, strict && repeated // within a list that takes no null nothing helps
		}
		switch {
		case isLeaf(c.field.Type.Kind):
			out = append(out, witness{c.slot, d, repeated, strict})
		case c.field.Type.Kind == schema.Struct:
			out = append(out, witnesses(c.kids, d, repeated, strict)...)
		default: // a list that cannot be null could be empty, but that is another thing
			out = append(out, witnesses(c.kids, d+1, true, strict)...)
		}
	}
	return out
}

func slotsIn(ws []witness) []int {
	out := make([]int, len(ws))
	for i, w := range ws {
		out[i] = w.slot
	}
	return out
}

// edited replaces the slot of every leaf of cols, which stand at level def, by what make says; nil: it stays.
func (c *compiler) edited(cols []*column, def uint8, make func(i int, w witness) *edit) {
	ws := c.witnesses(cols, def)
	i := 0
	var walk func(cols []*column)
	walk = func(cols []*column) {
		for _, col := range cols {
			if !isLeaf(col.field.Type.Kind) {
				walk(col.kids)
				continue
			}
			if e := make(i, ws[i]); e != nil {
				c.p.slots = append(c.p.slots, slot{input: -1, edit: e, maxDef: ws[i].maxDef, typ: c.p.slots[col.slot].typ})
				col.slot = len(c.p.slots) - 1
			}
			i++
		}
	}
	walk(cols)
}

// settleCopy makes a copied leaf, which stands at level def, null alone where parents of its old place were null.
func (c *compiler) settleCopy(leaf *column, def uint8) {
	c.edited([]*column{leaf}, def, func(_ int, w witness) *edit {
		return &edit{base: w.slot, floor: def, fill: noFill, idle: []int{w.slot}}
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
	ws := c.witnesses(way[at].col.kids, way[at].def)
	c.edited(cols, def, func(_ int, w witness) *edit {
		return &edit{base: w.slot, guard: ws, floor: way[at].def, fill: noFill, idle: slotsIn(ws)}
	})
}

// raise makes the structs of way present in every row: what is in them, but for target, is null where they were.
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
		idle := slotsIn(c.witnesses(p.col.kids, p.def))
		for _, kid := range p.col.kids {
			if kid == below {
				continue
			}
			name := kid.field.Name
			c.edited([]*column{kid}, p.def, func(_ int, w witness) *edit {
				e := &edit{base: w.slot, floor: p.def, fill: noFill, idle: idle}
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
	values := c.witnesses([]*column{leaf}, def)
	field := def
	if have.Nullable {
		field++
	}
	for i, w := range c.witnesses(old.kids, field) {
		if w.maxDef != values[i].maxDef {
			return fmt.Errorf("column %q is %s with fields that take no null: it cannot be filled", path, have.Type)
		}
	}
	all := slotsOf([]*column{old})
	c.edited([]*column{old}, def, func(i int, w witness) *edit {
		return &edit{base: w.slot, fill: values[i].slot, field: field, idle: all}
	})
	return nil
}

// A counter is a Source that knows of nulls and sizes without reading.
type counter interface {
	// Counts returns the number of nulls of a leaf in the row group of p, -1 where it is not known, and the leaf's bytes.
	Counts(p Part, leaf int) (nulls, bytes int64)
}

func (m *machine) counts(leaf int) (nulls, bytes int64) {
	if c, ok := m.job.Source.(counter); ok {
		return c.Counts(m.part, leaf)
	}
	return -1, 0
}

// resolve finds the edits that have nothing to do in this part.
func (m *machine) resolve() {
	slots := m.prog.slots
	m.at = make([]int, len(slots))
	for i := range slots { // an edit comes after what it is made of
		m.at[i] = i
		e := slots[i].edit
		switch {
		case e == nil:
		case e.hollow == nil && slices.ContainsFunc(e.idle, m.whole0):
			m.at[i] = m.at[e.base]
		case e.refuse != "" && m.fault == nil:
			m.fault = errors.New(e.refuse)
		}
	}
}

// whole0 reports whether slot s is known to hold no null.
func (m *machine) whole0(s int) bool {
	in := m.prog.slots[m.at[s]].input
	if in < 0 {
		return false
	}
	nulls, _ := m.counts(in)
	return nulls == 0
}

// need marks the input leaves that slot s is made of.
func (m *machine) need(s int, need []bool) {
	sl := &m.prog.slots[m.at[s]]
	if sl.input >= 0 {
		need[sl.input] = true
	}
	if sl.edit == nil {
		return
	}
	if sl.edit.hollow == nil {
		m.need(sl.edit.base, need)
	}
	if sl.edit.fill >= 0 {
		m.need(sl.edit.fill, need)
	}
	if len(sl.edit.guard) > 0 && !m.idle(sl.edit) {
		m.need(sl.edit.guard[m.witness(sl.edit.guard)].slot, need)
	}
}

// idle reports whether a struct that lacks a field is known to be there in every row.
func (m *machine) idle(e *edit) bool { return e.hollow != nil && slices.ContainsFunc(e.idle, m.whole0) }

// witness chooses the one that costs least to read.
func (m *machine) witness(ws []witness) int {
	best, cost := 0, int64(-1)
	for i, w := range ws {
		in := m.prog.slots[m.at[w.slot]].input
		if in < 0 {
			continue
		}
		_, n := m.counts(in)
		if w.repeated {
			n *= 4
		}
		if cost < 0 || n < cost {
			best, cost = i, n
		}
	}
	return best
}

// vector returns the values of a slot in the slice at hand, nil where they are not decoded.
func (m *machine) vector(s int, state *record.Batch) *record.Vector {
	s = m.at[s]
	if m.vals[s] != nil {
		return m.vals[s]
	}
	var v *record.Vector
	var err error
	switch sl := &m.prog.slots[s]; {
	case sl.konst != nil:
		v, err = constant(sl, state.Rows)
	case sl.seq != nil:
		v, err = numbers(sl, state)
	case sl.edit != nil:
		v, err = m.edit(sl, state)
	}
	if err != nil && m.fault == nil {
		m.fault = err
	}
	m.vals[s] = v
	return v
}

// lifted returns the values of slot s with levels as where its maximum is maxDef.
func (m *machine) lifted(s int, maxDef uint8, state *record.Batch) (*record.Vector, error) {
	v := m.vector(s, state)
	if v == nil {
		return nil, errors.Join(m.fault, fmt.Errorf("%s: a column that others are made of was not decoded", m.fileName()))
	}
	return v.Lift(m.prog.slots[m.at[s]].maxDef, maxDef), nil
}

// edit computes an edited slot.
func (m *machine) edit(sl *slot, state *record.Batch) (*record.Vector, error) {
	e := sl.edit
	if e.hollow != nil {
		return m.hollow(e, state)
	}
	base, err := m.lifted(e.base, sl.maxDef, state)
	if err != nil {
		return nil, err
	}
	switch {
	case e.cast != nil:
		return m.cast(sl, base, state)
	case e.each != nil:
		return base.MapTexts(e.each)
	case e.guard != nil:
		w := e.guard[m.witness(e.guard)]
		like, err := m.lifted(w.slot, w.maxDef, state)
		if err != nil {
			return nil, err
		}
		return below(base, like, e.floor, sl.maxDef), nil
	case e.fill >= 0:
		with, err := m.lifted(e.fill, sl.maxDef, state)
		if err != nil {
			return nil, err
		}
		return filled(base, with, e.field, sl.maxDef)
	}
	return floored(base, e.floor), nil
}

// constant returns the value of a constant in so many rows.
func constant(s *slot, rows int) (*record.Vector, error) {
	if s.konst.IsNull() && s.maxDef > 0 {
		return record.Hollow(nil, rows, 0, s.maxDef-1, false), nil
	}
	b, err := record.NewBuilder(schema.Field{Name: "value", Type: s.typ, Nullable: s.maxDef > 0}, max(s.maxDef, 1)-1)
	if err != nil {
		return nil, err
	}
	for range rows {
		if err := b.Append(*s.konst); err != nil {
			return nil, err
		}
	}
	return b.Vectors()[0], nil
}

// numbers returns the numbers of the rows of the slice.
func numbers(s *slot, state *record.Batch) (*record.Vector, error) {
	b, err := record.NewBuilder(schema.Field{Name: "value", Type: s.typ, Nullable: s.maxDef > 0}, max(s.maxDef, 1)-1)
	if err != nil {
		return nil, err
	}
	for i := range state.Rows {
		if err := b.Append(schema.IntValue(s.seq.Start + state.First + int64(state.Origin(i)))); err != nil {
			return nil, err
		}
	}
	return b.Vectors()[0], nil
}

// floored returns v with levels below floor at floor: its parents are there, and it is null.
func floored(v *record.Vector, floor uint8) *record.Vector {
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
	t := v.Take(kept, maxDef)
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

// filled returns v with the rows of with in place of those at a level below field.
func filled(v, with *record.Vector, field, maxDef uint8) (*record.Vector, error) {
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
	return both.Take(rows, maxDef), nil
}
