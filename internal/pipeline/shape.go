package pipeline

import (
	"fmt"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// gather gives every step that must know the schemas of all files what reaches it, and returns the steps with what takes their places.
func (p *Plan) gather(s Split, steps []transform.Transform, tight bool) ([]transform.Transform, error) {
	files := p.Job.Source.Files()
	for i, t := range steps {
		l, placed := t.(transform.Located)
		if placed {
			t = l.Transform
		}
		g, ok := t.(transform.Gatherer)
		if !ok {
			continue
		}
		var in []transform.FileSchema
		for _, f := range s.Files {
			prog, err := compile(files[f].Schema, steps[:i], tight, p.Job.Keep)
			if err != nil {
				return nil, inFile(files[f].Name, err)
			}
			in = append(in, transform.FileSchema{Name: files[f].Name, Schema: prog.out})
		}
		made, err := g.Gather(in)
		if err != nil && placed {
			err = &transform.StepError{Where: l.Where, Verb: l.Verb, Err: err}
		}
		if err != nil {
			return nil, &UsageError{err}
		}
		if placed {
			l.Transform = made
			made = l
		}
		steps = append(append(steps[:i:i], made), steps[i+1:]...)
	}
	return steps, nil
}

// A shaper brings columns to those of another schema, leaf by leaf: a leaf that stays what it is keeps its slot, so that its chunks are
// copied where they fit.
type shaper struct {
	*compiler
	where string // the step, for messages
}

// fields returns cols as want says. way are the columns around them, def the level at which they are there, rep the lists passed.
func (c *shaper) fields(cols []*column, want []schema.Field, at schema.Path, way []parent, def, rep uint8) []*column {
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
func (c *shaper) column(col *column, f schema.Field, at schema.Path, way []parent, def, rep uint8) *column {
	if col.toField().Type.Equal(f.Type) {
		return col
	}
	out := *col
	out.field.Type, out.field.Origin = f.Type, nil
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
		if !stored(col.field.Type).Equal(stored(f.Type)) {
			e := &edit{base: col.slot, fill: noFill, cast: &cast{at, c.where}}
			c.p.slots = append(c.p.slots, slot{input: -1, edit: e, maxDef: def, typ: f.Type})
			out.slot = len(c.p.slots) - 1
		}
	}
	return &out
}

// absent returns the column of a field that is not there, or is nothing but null, among cols, which stand at level def.
func (c *shaper) absent(f schema.Field, cols []*column, way []parent, def, rep uint8) *column {
	f.Nullable = true
	if rep == 0 && isLeaf(f.Type.Kind) {
		leaf := c.leaf(f, slot{input: -1, konst: &schema.NullValue})
		c.levels([]*column{leaf}, def)
		c.guard(way, leaf, def)
		return leaf
	}
	h := hollow{def: def, rep: rep}
	var guard []witness
	at := len(way) - 1
	for at >= 0 && rep == 0 && !way[at].col.mayBeNull {
		at--
	}
	if at >= 0 {
		guard = c.witnesses(way[at].col.kids, way[at].def)
		if rep > 0 { // how many elements there are, the leaves beside it know
			guard = witnesses(cols, def, true, true)
		}
	}
	leaves := (&schema.Schema{Fields: []schema.Field{f}}).Leaves()
	n := 0
	return columns([]schema.Field{f}, func() int {
		l := leaves[n]
		n++
		h := h
		h.repeated = rep+l.MaxRep > 0
		e := &edit{base: -1, fill: noFill, guard: guard, hollow: &h}
		if rep == 0 {
			e.idle = slotsIn(guard)
		}
		c.p.slots = append(c.p.slots, slot{input: -1, edit: e, maxDef: def + l.MaxDef, typ: l.Type})
		return len(c.p.slots) - 1
	})[0]
}

// hollow computes a slot below a field that is not there.
func (m *machine) hollow(e *edit, state *record.Batch) (*record.Vector, error) {
	h := e.hollow
	if len(e.guard) == 0 || m.idle(e) {
		return record.Hollow(nil, state.Rows, h.rep, h.def, h.repeated), nil
	}
	w := e.guard[m.witness(e.guard)]
	like, err := m.lifted(w.slot, w.maxDef, state)
	if err != nil {
		return nil, err
	}
	return record.Hollow(like, state.Rows, h.rep, h.def, h.repeated), nil
}

// cast computes a slot of a wider type.
func (m *machine) cast(sl *slot, base *record.Vector, state *record.Batch) (*record.Vector, error) {
	from := m.prog.slots[sl.edit.base].typ
	out, bad := base.Cast(from, sl.typ)
	if bad < 0 {
		return out, nil
	}
	row := state.Origin(base.RowsOf([]int{bad}, sl.maxDef)[0])
	value := base.Values.ValueStr(bad)
	return nil, &transform.Fault{Where: sl.edit.cast.where, Number: state.First + int64(row), Pos: state.Pos(row),
		Message: fmt.Sprintf("column %q: %s is %s, and %s, which it is to become, cannot hold it exactly: it takes the type that the other files have; cast to string keeps it", sl.edit.cast.path, value, from, sl.typ)}
}
