package program

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// Options say how new columns are made.
type Options struct {
	// NewStructsRequired makes the structs that steps create required, so that chunks of the file move into them undecoded.
	NewStructsRequired bool
	// PreserveLayout keeps the form that the file's fields have, even where it is not the standard one.
	PreserveLayout bool
}

// A compiler makes a program.
type compiler struct {
	p                  *Program
	cols               []*column
	newStructsRequired bool
}

// Compile resolves steps for a file with schema in.
func Compile(in *schema.Schema, steps []transform.RowStep, o Options) (*Program, error) {
	c := &compiler{p: &Program{in: in}, newStructsRequired: o.NewStructsRequired}
	leaves := in.Leaves()
	c.cols = columns(in.Fields, func() int {
		i := len(c.p.slots)
		return c.add(slot{kind: input{i}, maxDef: leaves[i].MaxDef, typ: leaves[i].Type})
	})
	for _, t := range steps {
		if err := c.step(t); err != nil {
			if missing := (*transform.NoColumnError)(nil); errors.As(err, &missing) {
				missing.Made(in)
			}
			return nil, located(t, err)
		}
	}
	slices.SortStableFunc(c.cols, func(a, b *column) int { return cmp.Compare(derivedLast(a), derivedLast(b)) })
	p := c.p
	p.builtSchema, p.slotOfLeaf = c.schema(), slotsOf(c.cols)
	for _, l := range p.builtSchema.Leaves() {
		p.builtMaxDef = append(p.builtMaxDef, l.MaxDef)
	}
	c.relax(c.cols)
	out := &schema.Schema{}
	for _, col := range c.cols {
		if !col.derived {
			out.Fields = append(out.Fields, col.toField())
		}
	}
	if !o.PreserveLayout {
		layouts := layoutsOf(c.cols)
		plain(out.Fields)
		for i := range out.Fields {
			if layout, asked := layouts[out.Fields[i].Name]; asked {
				out.Fields[i].Type.Layout = layout
			}
		}
	}
	p.SetOutput(out)
	return p, nil
}

// layoutsOf are the layouts that steps ask for, by column.
func layoutsOf(cols []*column) map[string]schema.Layout {
	out := map[string]schema.Layout{}
	for _, c := range cols {
		if c.keepLayout {
			out[c.field.Name] = c.field.Type.Layout
		}
	}
	return out
}

func derivedLast(c *column) int {
	if c.derived {
		return 1
	}
	return 0
}

// add adds a slot and returns its number.
func (c *compiler) add(s slot) int {
	c.p.slots = append(c.p.slots, s)
	return len(c.p.slots) - 1
}

// relax makes the new structs nullable, as in trainers' own files, except those that chunks of the file move into.
func (c *compiler) relax(cols []*column) (moves bool) {
	for _, col := range cols {
		if isLeaf(col.field.Type.Kind) {
			moves = moves || c.p.slots[col.slot].input() >= 0
			continue
		}
		in := c.relax(col.kids)
		if col.builtByStep && !in {
			col.field.Nullable = true
		}
		moves = moves || in
	}
	return moves
}

func (c *compiler) schema() *schema.Schema { return &schema.Schema{Fields: toFields(c.cols)} }

// located says where the user wrote the step that failed, where that is known.
func located(t transform.RowStep, err error) error {
	l, ok := t.(transform.Located)
	if !ok {
		return err
	}
	var present *PresentError
	if errors.As(err, &present) {
		err = fmt.Errorf("column %q already exists (%s): 'if: replace' overwrites it", present.Path, present.Type)
	}
	return &transform.StepError{Where: l.Where, Verb: l.Verb, Err: err}
}

// where is the place of a step in the user's file, or what there is of it.
func where(t transform.RowStep) string {
	if l, ok := t.(transform.Located); ok {
		return l.Where
	}
	return "step unify"
}

func (c *compiler) step(t transform.RowStep) error {
	if ch, ok := transform.Bare(t).(Choice); ok {
		c.p.steps = append(c.p.steps, ch)
		return nil
	}
	in := c.schema()
	plan, err := t.Plan(in)
	if err != nil {
		return err
	}
	if plan.Conform != nil {
		derived := slices.DeleteFunc(slices.Clone(c.cols), func(col *column) bool { return !col.derived })
		c.cols = append((&conformer{c, where(t)}).fields(c.cols, plan.Conform.Fields, "", nil, 0, 0), derived...)
		return nil
	}
	s := &compute{schema: in, leaf: in.Leaves(), slots: slotsOf(c.cols), plan: plan}
	for _, l := range s.leaf {
		s.maxDef = append(s.maxDef, l.MaxDef)
	}
	if plan.Bind != nil {
		s.bind = record.Bind(in, plan.Reads)
		c.p.steps = append(c.p.steps, s)
	}
	for i, p := range plan.Puts {
		if err := c.put(s, i, p); err != nil {
			return err
		}
	}
	if d, ok := transform.Bare(t).(transform.DerivedColumn); ok {
		find(c.cols, schema.Path("").Field(d.Name)).derived = true
	}
	for _, d := range plan.Drops {
		cols, err := remove(c.cols, d.Steps())
		if err != nil {
			return fmt.Errorf("drop %q: %w", d, err)
		}
		c.cols = cols
	}
	if plan.Order != nil {
		slices.SortStableFunc(c.cols, func(a, b *column) int {
			return cmp.Compare(slices.Index(plan.Order, a.field.Name), slices.Index(plan.Order, b.field.Name))
		})
	}
	return nil
}

func (c *compiler) put(s *compute, index int, p transform.Put) error {
	leaf, err := c.value(s, index, p)
	if err != nil {
		return fmt.Errorf("column %q: %w", p.Path, err)
	}
	return c.place(s, p, leaf)
}

// value makes the column of a Put; slots of computed ones are added by place, which knows their level.
func (c *compiler) value(s *compute, index int, p transform.Put) (*column, error) {
	name := p.Path.Base()
	switch {
	case p.Const != nil:
		return c.constant(name, p.Type, *p.Const)
	case p.Seq != nil:
		return c.leaf(schema.NewField(name, schema.Int64Type), slot{kind: rowNumber{record.Seq{Start: p.Seq.Start}}}), nil
	case p.Copy != "":
		from := find(c.cols, p.Copy)
		if from == nil {
			return nil, transform.NoColumn(p.Copy, c.schema())
		}
		if name == schema.Elem { // over itself: whatever it is called
			name = from.field.Name
		}
		out := from.clone(name)
		out.field.Nullable = from.field.Nullable || (p.Copy.Parent() != "" && p.Copy.Parent() != p.Path.Parent())
		if p.Retype.Kind != schema.Missing {
			out.field.Type = p.Retype
		}
		if p.MapText != nil {
			was := c.p.slots[out.slot]
			out.slot = c.add(slot{kind: mapped{out.slot, p.MapText}, maxDef: was.maxDef, typ: was.typ})
		}
		return out, nil
	case s.plan.Bind == nil:
		return nil, fmt.Errorf("nothing computes it")
	}
	return &column{field: schema.NewField(name, p.Type), keepLayout: p.KeepLayout}, nil
}

func (c *compiler) leaf(f schema.Field, s slot) *column {
	s.typ = f.Type
	return &column{field: f, slot: c.add(s)}
}

// constant makes a leaf for each plain value in v. A constant list has no form of its own: it is a value computed alike for
// every row, which the caller sees to.
func (c *compiler) constant(name string, t schema.Type, v schema.Value) (*column, error) {
	switch t.Kind {
	case schema.Struct:
		if v.IsNull() {
			return nil, fmt.Errorf("a null of type %s cannot be written as a constant", t)
		}
		out := &column{field: schema.NewField(name, t)}
		for i, f := range t.Fields {
			k, err := c.constant(f.Name, f.Type, v.Elem(i))
			if err != nil {
				return nil, err
			}
			out.kids = append(out.kids, k)
		}
		return out, nil
	case schema.List, schema.Map:
		return nil, fmt.Errorf("a constant of type %s cannot be written", t)
	}
	v = v.Clone()
	return c.leaf(schema.NewField(name, t), slot{kind: constant{&v}}), nil
}

// place puts leaf at p.Path, making the structs that are missing on the way.
func (c *compiler) place(s *compute, p transform.Put, leaf *column) error {
	way, err := c.walk(p)
	if err != nil {
		return err
	}
	list, def := &c.cols, uint8(0)
	if n := len(way); n > 0 {
		list, def = &way[n-1].col.kids, way[n-1].def
	}
	k := named(*list, leaf.field.Name)
	if k >= 0 && p.OnExisting != transform.Replace && p.OnExisting != transform.Fill {
		return &PresentError{Path: p.Path, Type: (*list)[k].toField().Type}
	}
	c.finish(s, p, leaf, def)
	inner := p.Copy != "" && p.Copy.Parent() == p.Path.Parent() // it is null just where it was, unless the struct is filled
	if p.Copy.Parent() != "" && def > 0 && (!inner || p.OnExisting == transform.Fill) {
		c.floorCopy(leaf, def)
	}
	switch {
	case k >= 0 && p.OnExisting == transform.Fill:
		c.raise(way, (*list)[k])
		return c.fill(p.Path, (*list)[k], leaf, def)
	case p.OnExisting == transform.Fill:
		c.raise(way, nil)
	case !inner:
		c.guard(way, leaf, def)
	}
	if k >= 0 {
		(*list)[k] = leaf
		return nil
	}
	at := len(*list)
	if p.After != "" {
		if i := named(*list, p.After.Base()); i >= 0 {
			at = i + 1
		}
	}
	*list = slices.Insert(*list, at, leaf)
	return nil
}

// A parent is a column on the way down to the one that is put. def is the level at which it is there.
type parent struct {
	col *column
	def uint8
}

// walk returns the columns above p.Path, and makes the structs that are missing.
func (c *compiler) walk(p transform.Put) ([]parent, error) {
	steps := p.Path.Steps()
	inner := p.Copy != "" && p.Copy.Parent() == p.Path.Parent() // nothing moves but the name
	var way []parent
	list, def := &c.cols, uint8(0)
	for i, name := range steps[:len(steps)-1] {
		elem := name == schema.Elem
		if elem && !inner {
			return nil, fmt.Errorf("column %q: a column cannot be added inside a list", p.Path)
		}
		k := 0
		if !elem {
			k = named(*list, name)
		}
		if k < 0 {
			*list = append(*list, &column{field: schema.Field{Name: name, Type: schema.Type{Kind: schema.Struct}, Nullable: !c.newStructsRequired}, builtByStep: true})
			k = len(*list) - 1
		}
		at := (*list)[k]
		want := schema.Struct
		if steps[i+1] == schema.Elem {
			want = schema.List
		}
		if at.field.Type.Kind != want {
			return nil, fmt.Errorf("column %q: %q is %s, not a %s", p.Path, schema.MakePath(steps[:i+1]...), at.toField().Type, want)
		}
		if at.field.Nullable {
			def++
		}
		way = append(way, parent{at, def})
		if want == schema.List {
			def++
		}
		list = &at.kids
	}
	return way, nil
}

// A PresentError says that a column that is put is there already.
type PresentError struct {
	Path schema.Path
	Type schema.Type
}

func (e *PresentError) Error() string {
	return fmt.Sprintf("column %q already exists (%s): give a source without it, or change the file with 'rlprep add PATH=VALUE --replace'", e.Path, e.Type)
}

// finish gives the slots of leaf their levels; def is that of its parents. A computed column gets its slots here.
func (c *compiler) finish(s *compute, p transform.Put, leaf *column, def uint8) {
	if p.Const != nil || p.Seq != nil {
		c.levels([]*column{leaf}, def)
	}
	if p.Const != nil || p.Seq != nil || p.Copy != "" {
		return
	}
	one := &schema.Schema{Fields: []schema.Field{leaf.toField()}}
	one.Fields[0].Type = p.Type
	leaves := one.Leaves()
	var slots []int
	made := columns(one.Fields, func() int {
		l := leaves[len(slots)]
		slots = append(slots, c.add(slot{kind: computed{}, typ: l.Type, maxDef: l.MaxDef + def}))
		return slots[len(slots)-1]
	})
	made[0].keepLayout = leaf.keepLayout
	*leaf = *made[0]
	for i, pp := range s.plan.Puts {
		if pp.Path == p.Path {
			s.puts = append(s.puts, put{index: i, field: one.Fields[0], base: def, slots: slots})
		}
	}
}

// levels sets the maximum levels of constants and row numbers below def.
func (c *compiler) levels(cols []*column, def uint8) {
	for _, w := range presenceLeaves(cols, def) {
		c.p.slots[w.slot].maxDef = w.maxDef
	}
}

// A column is a field of a schema that is being built. A leaf knows the slot that its values come from.
type column struct {
	field schema.Field // Type.Fields is rebuilt from kids
	kids  []*column
	slot  int
	// mayBeNull says that the struct may be null in some rows; its leaves know in which.
	mayBeNull bool
	// derived says that it is for steps and rules, and not written.
	derived bool
	// builtByStep says that it is a struct that a step made on the way to a column: it is there in every row.
	builtByStep bool
	// keepLayout says that a step asks for the form of its type: it is written so.
	keepLayout bool
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
