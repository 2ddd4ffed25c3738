package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A program is a job's steps resolved for the columns of one file. Columns are leaves in numbered slots; copies, renames and
// drops are settled here and cost nothing later.
type program struct {
	in    *schema.Schema
	slots []slot
	steps []*step
	out   *schema.Schema
	leaf  []schema.Leaf // of out
	from  []int         // slot of each leaf of out
	// relevel maps, for each leaf of out, levels as the steps made them to those of the split, where more is nullable; nil: they
	// are the same.
	relevel [][]uint8
	// distinct says of each leaf of out that it is made from the row's number, in the same way in all files of the split.
	distinct []bool
	made     *schema.Schema // as the steps made it
	own      []uint8        // MaxDef of its leaves
}

// A slot is where the values of one leaf come from: a leaf of the file, a constant, row numbers, a step that computes them
// (none of these set), or an edit of other slots.
type slot struct {
	input  int // leaf of the file, or -1
	konst  *schema.Value
	seq    *record.Seq
	edit   *edit
	maxDef uint8 // of its vectors
	typ    schema.Type
}

// A step is a transform that computes something.
type step struct {
	schema *schema.Schema // what reaches it
	leaf   []schema.Leaf
	from   []int
	plan   *transform.Plan
	bind   *record.Binding
	puts   []put
}

// A put is a computed Put.
type put struct {
	index int // in plan.Puts
	field schema.Field
	base  uint8
	slots []int
}

// A compiler makes a program.
type compiler struct {
	p     *program
	cols  []*column
	tight bool // new structs are required, so that optional chunks move into them undecoded
}

func compile(in *schema.Schema, steps []transform.Transform, tight, keep bool) (*program, error) {
	c := &compiler{p: &program{in: in}, tight: tight}
	leaves := in.Leaves()
	c.cols = columns(in.Fields, func() int {
		i := len(c.p.slots)
		c.p.slots = append(c.p.slots, slot{input: i, maxDef: leaves[i].MaxDef, typ: leaves[i].Type})
		return i
	})
	for _, t := range steps {
		if err := c.step(t); err != nil {
			return nil, located(t, err)
		}
	}
	c.p.settle(c.schema(), slotsOf(c.cols))
	c.relax(c.cols)
	out := &schema.Schema{Fields: toFields(c.cols)}
	if !keep {
		plain(out.Fields)
	}
	c.p.settle(out, slotsOf(c.cols))
	return c.p, nil
}

// relax makes the new structs nullable, as trainers' own files have them, but for those that chunks of the file move into.
func (c *compiler) relax(cols []*column) (moves bool) {
	for _, col := range cols {
		if isLeaf(col.field.Type.Kind) {
			moves = moves || c.p.slots[col.slot].input >= 0
			continue
		}
		in := c.relax(col.kids)
		if col.made && !in {
			col.field.Nullable = true
		}
		moves = moves || in
	}
	return moves
}

// settle sets what comes out. The first time it is what the steps made, to whose levels the slots' own are near; later it is
// that with more of it nullable.
func (p *program) settle(out *schema.Schema, from []int) {
	p.out, p.leaf, p.from = out, out.Leaves(), from
	if p.made == nil {
		p.made = out
		p.own = make([]uint8, len(p.leaf))
		for i, l := range p.leaf {
			p.own[i] = l.MaxDef
		}
		return
	}
	p.relevel = relevel(p.made.Fields, out.Fields)
}

// relevel returns, for each leaf below fields a, the level in b of each of its definition levels; nil where they are equal. The
// trees differ only in what is nullable, and b is where a is.
func relevel(a, b []schema.Field) [][]uint8 {
	var out [][]uint8
	var walk func(a, b schema.Field, levels []uint8)
	walk = func(a, b schema.Field, levels []uint8) {
		top := levels[len(levels)-1]
		levels = slices.Clone(levels)
		step := func(inA, inB bool) {
			switch {
			case inA && inB:
				top++
				levels = append(levels, top)
			case inB: // always there
				top++
				levels[len(levels)-1] = top
			}
		}
		step(a.Nullable, b.Nullable)
		if isLeaf(a.Type.Kind) {
			for i, l := range levels {
				if int(l) != i {
					out = append(out, levels)
					return
				}
			}
			out = append(out, nil)
			return
		}
		if a.Type.Kind != schema.Struct {
			step(true, true)
		}
		for i := range a.Type.Fields {
			walk(a.Type.Fields[i], b.Type.Fields[i], levels)
		}
	}
	for i := range a {
		walk(a[i], b[i], []uint8{0})
	}
	return out
}

// plain takes from fields what only their file knew: they are written in the standard form.
func plain(fields []schema.Field) {
	for i := range fields {
		f := &fields[i]
		f.Origin = nil
		f.Type.Dictionary = false
		if f.Type.Form != schema.Fixed || f.Type.Kind == schema.List {
			f.Type.Form = schema.Plain
			f.Type.Size = 0
		}
		f.Type.Fields = slices.Clone(f.Type.Fields)
		plain(f.Type.Fields)
	}
}

func (c *compiler) schema() *schema.Schema { return &schema.Schema{Fields: toFields(c.cols)} }

// located says where the user wrote the step that failed, where that is known.
func located(t transform.Transform, err error) error {
	l, ok := t.(transform.Located)
	if !ok {
		return err
	}
	var present *PresentError
	if errors.As(err, &present) {
		err = fmt.Errorf("column %q is there already (%s): 'if: replace' writes it anew", present.Path, present.Type)
	}
	return &transform.StepError{Where: l.Where, Verb: l.Verb, Err: err}
}

// where is the place of a step in the user's file, or what there is of it.
func where(t transform.Transform) string {
	if l, ok := t.(transform.Located); ok {
		return l.Where
	}
	return "step unify"
}

func (c *compiler) step(t transform.Transform) error {
	in := c.schema()
	plan, err := t.Plan(in)
	if err != nil {
		return err
	}
	if plan.Shape != nil {
		c.cols = (&shaper{c, where(t)}).fields(c.cols, plan.Shape.Fields, "", nil, 0, 0)
		return nil
	}
	s := &step{schema: in, leaf: in.Leaves(), from: slotsOf(c.cols), plan: plan}
	if plan.Bind != nil {
		s.bind = record.Bind(in, plan.Reads)
		c.p.steps = append(c.p.steps, s)
	}
	for i, p := range plan.Puts {
		if err := c.put(s, i, p); err != nil {
			return err
		}
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

func (c *compiler) put(s *step, index int, p transform.Put) error {
	leaf, err := c.value(s, index, p)
	if err != nil {
		return fmt.Errorf("column %q: %w", p.Path, err)
	}
	return c.place(s, p, leaf)
}

// value makes the column of a Put; slots of computed ones are added by place, which knows their level.
func (c *compiler) value(s *step, index int, p transform.Put) (*column, error) {
	name := p.Path.Base()
	switch {
	case p.Const != nil:
		return c.constant(name, p.Type, *p.Const)
	case p.Seq != nil:
		return c.leaf(schema.NewField(name, schema.Int64Type), slot{input: -1, seq: &record.Seq{Start: p.Seq.Start}}), nil
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
		if p.As.Kind != schema.Missing {
			out.field.Type = p.As
		}
		if p.Each != nil {
			was := c.p.slots[out.slot]
			c.p.slots = append(c.p.slots, slot{input: -1, edit: &edit{base: out.slot, fill: noFill, each: p.Each}, maxDef: was.maxDef, typ: was.typ})
			out.slot = len(c.p.slots) - 1
		}
		return out, nil
	case s.plan.Bind == nil:
		return nil, fmt.Errorf("nothing computes it")
	}
	return &column{field: schema.NewField(name, p.Type)}, nil
}

func (c *compiler) leaf(f schema.Field, s slot) *column {
	s.typ = f.Type
	c.p.slots = append(c.p.slots, s)
	return &column{field: f, slot: len(c.p.slots) - 1}
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
	return c.leaf(schema.NewField(name, t), slot{input: -1, konst: &v}), nil
}

// place puts leaf at p.Path, making the structs that are missing on the way.
func (c *compiler) place(s *step, p transform.Put, leaf *column) error {
	way, err := c.walk(p)
	if err != nil {
		return err
	}
	list, def := &c.cols, uint8(0)
	if n := len(way); n > 0 {
		list, def = &way[n-1].col.kids, way[n-1].def
	}
	k := named(*list, leaf.field.Name)
	if k >= 0 && p.If != transform.Replace && p.If != transform.Fill {
		return &PresentError{Path: p.Path, Type: (*list)[k].toField().Type}
	}
	c.finish(s, p, leaf, def)
	inner := p.Copy != "" && p.Copy.Parent() == p.Path.Parent() // it is null just where it was, unless the struct is filled
	if p.Copy.Parent() != "" && def > 0 && (!inner || p.If == transform.Fill) {
		c.settleCopy(leaf, def)
	}
	switch {
	case k >= 0 && p.If == transform.Fill:
		c.raise(way, (*list)[k])
		return c.fill(p.Path, (*list)[k], leaf, def)
	case p.If == transform.Fill:
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
			*list = append(*list, &column{field: schema.Field{Name: name, Type: schema.Type{Kind: schema.Struct}, Nullable: !c.tight}, made: true})
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
	return fmt.Sprintf("column %q is there already (%s): --replace writes it anew", e.Path, e.Type)
}

// finish gives the slots of leaf their levels; def is that of its parents. A computed column gets its slots here.
func (c *compiler) finish(s *step, p transform.Put, leaf *column, def uint8) {
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
		c.p.slots = append(c.p.slots, slot{input: -1, typ: l.Type, maxDef: l.MaxDef + def})
		slots = append(slots, len(c.p.slots)-1)
		return slots[len(slots)-1]
	})
	*leaf = *made[0]
	for i, pp := range s.plan.Puts {
		if pp.Path == p.Path {
			s.puts = append(s.puts, put{index: i, field: one.Fields[0], base: def, slots: slots})
		}
	}
}

// levels sets the maximum levels of constants and row numbers below def.
func (c *compiler) levels(cols []*column, def uint8) {
	for _, w := range c.witnesses(cols, def) {
		c.p.slots[w.slot].maxDef = w.maxDef
	}
}
