package pipeline

import (
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
	uses  []int         // input leaves that the steps read
}

// A slot is where the values of one leaf come from.
type slot struct {
	input  int // leaf of the file, or -1
	konst  *schema.Value
	seq    *record.Seq
	maxDef uint8 // of its vectors
	typ    schema.Type
	like   int // >= 0: there where the parent of this slot's leaf is; parentDef is the level at which it is
	parent uint8
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
		c.p.slots = append(c.p.slots, slot{input: i, maxDef: leaves[i].MaxDef, typ: leaves[i].Type, like: -1})
		return i
	})
	for _, t := range steps {
		if err := c.step(t); err != nil {
			return nil, err
		}
	}
	out := &schema.Schema{Fields: toFields(c.cols)}
	if !keep {
		plain(out.Fields)
	}
	c.p.settle(out, slotsOf(c.cols))
	return c.p, nil
}

// settle sets what comes out.
func (p *program) settle(out *schema.Schema, from []int) {
	p.out, p.leaf, p.from = out, out.Leaves(), from
	seen := map[int]bool{}
	for _, s := range p.steps {
		for _, l := range s.bind.Leaves() {
			if in := p.slots[s.from[l]].input; in >= 0 && !seen[in] {
				seen[in] = true
				p.uses = append(p.uses, in)
			}
		}
	}
	slices.Sort(p.uses)
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

func (c *compiler) step(t transform.Transform) error {
	in := c.schema()
	plan, err := t.Plan(in)
	if err != nil {
		return err
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
		return c.leaf(schema.NewField(name, schema.Int64Type), slot{input: -1, seq: &record.Seq{Start: p.Seq.Start}, like: -1}), nil
	case p.Copy != "":
		from := find(c.cols, p.Copy)
		if from == nil {
			return nil, transform.NoColumn(p.Copy, c.schema())
		}
		out := from.clone(name)
		out.field.Nullable = from.field.Nullable || p.Copy.Parent() != ""
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
		out := &column{field: schema.NewField(name, t)}
		for i, f := range t.Fields {
			kid := schema.NullValue
			if v.Kind() == schema.Struct {
				kid = v.Elem(i)
			}
			k, err := c.constant(f.Name, f.Type, kid)
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
	return c.leaf(schema.NewField(name, t), slot{input: -1, konst: &v, like: -1}), nil
}

// place puts leaf at p.Path, making the structs that are missing on the way.
func (c *compiler) place(s *step, p transform.Put, leaf *column) error {
	steps := p.Path.Steps()
	list := &c.cols
	var def uint8
	like, parentDef := -1, uint8(0)
	for i, name := range steps[:len(steps)-1] {
		if name == schema.Elem {
			return fmt.Errorf("column %q: a column cannot be added inside a list", p.Path)
		}
		k := named(*list, name)
		if k < 0 {
			*list = append(*list, &column{field: schema.Field{Name: name, Type: schema.Type{Kind: schema.Struct}, Nullable: !c.tight}})
			k = len(*list) - 1
		}
		parent := (*list)[k]
		if parent.field.Type.Kind != schema.Struct {
			return fmt.Errorf("column %q: %q is %s, not a struct", p.Path, schema.MakePath(steps[:i+1]...), parent.toField().Type)
		}
		if parent.field.Nullable {
			def++
			if below := slotsOf(parent.kids); parent.source && len(below) > 0 {
				like, parentDef = below[0], def
			}
		}
		list = &parent.kids
	}
	k := named(*list, leaf.field.Name)
	if k >= 0 && p.If != transform.Replace && p.If != transform.Fill {
		return &PresentError{Path: p.Path, Type: (*list)[k].toField().Type}
	}
	c.finish(s, p, leaf, def, like, parentDef)
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

// A PresentError says that a column that is put is there already.
type PresentError struct {
	Path schema.Path
	Type schema.Type
}

func (e *PresentError) Error() string {
	return fmt.Sprintf("column %q is there already (%s): --replace writes it anew", e.Path, e.Type)
}

// finish gives the slots of leaf their levels; def is that of its parents.
func (c *compiler) finish(s *step, p transform.Put, leaf *column, def uint8, like int, parentDef uint8) {
	computed := p.Const == nil && p.Seq == nil && p.Copy == ""
	if computed {
		one := &schema.Schema{Fields: []schema.Field{leaf.toField()}}
		one.Fields[0].Type = p.Type
		leaves := one.Leaves()
		var slots []int
		leaf.kids = columns(p.Type.Fields, func() int {
			l := leaves[len(slots)]
			c.p.slots = append(c.p.slots, slot{input: -1, typ: l.Type, maxDef: l.MaxDef + def, like: -1})
			slots = append(slots, len(c.p.slots)-1)
			return slots[len(slots)-1]
		})
		if isLeaf(p.Type.Kind) {
			c.p.slots = append(c.p.slots, slot{input: -1, typ: p.Type, maxDef: leaves[0].MaxDef + def, like: -1})
			leaf.slot = len(c.p.slots) - 1
			slots = []int{leaf.slot}
		}
		unsource(leaf.kids)
		for i, pp := range s.plan.Puts {
			if pp.Path == p.Path {
				s.puts = append(s.puts, put{index: i, field: one.Fields[0], base: def, slots: slots})
			}
		}
		return
	}
	if like < 0 || p.Copy != "" {
		return
	}
	for _, i := range slotsOf([]*column{leaf}) {
		c.p.slots[i].like, c.p.slots[i].parent = like, parentDef
	}
}

func unsource(cols []*column) {
	for _, c := range cols {
		c.source = false
		unsource(c.kids)
	}
}
