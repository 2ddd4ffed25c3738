package record

import (
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rlprep/rlprep/schema"
)

// A Binding is paths resolved in a schema, once; Cursor reads a batch through it.
type Binding struct {
	reads  []*node // nil: the schema has no such path
	leaves []int   // of the schema, by slot; not nil
}

// A node is a column or a part of one on the way from a path to the leaves below it.
type node struct {
	kind  nodeKind
	def   uint8   // level from which on the node is not null
	rep   uint8   // list: level at which its elements repeat
	above []uint8 // def of each step of the path above it
	typ   *schema.Type
	kids  []*node
	slot  int // leaf: its own; else the first below
	slots []int
}

type nodeKind uint8

const (
	leafNode nodeKind = iota
	passNode          // a struct on the way down the path, to its one kid
	structNode
	listNode
	emptyStructNode // a struct without fields, which only JSON can hold: it has no leaves
)

// Bind resolves paths in s. A path that s does not have reads as Missing.
func Bind(s *schema.Schema, paths []schema.Path) *Binding {
	b := &Binding{leaves: []int{}}
	index := map[schema.Path]int{}
	for i, l := range s.Leaves() {
		index[l.Path] = i
	}
	slots := map[int]int{}
	slot := func(p schema.Path) int {
		leaf := index[p]
		at, ok := slots[leaf]
		if !ok {
			at = len(b.leaves)
			slots[leaf] = at
			b.leaves = append(b.leaves, leaf)
		}
		return at
	}
	for _, p := range paths {
		f, steps := (*schema.Field)(nil), p.Steps()
		for i := range s.Fields {
			if len(steps) > 0 && s.Fields[i].Name == steps[0] {
				f = &s.Fields[i]
			}
		}
		if f == nil {
			b.reads = append(b.reads, nil)
			continue
		}
		b.reads = append(b.reads, descend(f, schema.Path("").Field(f.Name), steps[1:], 0, 0, nil, slot))
	}
	return b
}

// descend builds the node of field f at path at, with steps of the path still to go; nil where they lead nowhere.
func descend(f *schema.Field, at schema.Path, steps []string, def, rep uint8, above []uint8, slot func(schema.Path) int) *node {
	if f.Nullable {
		def++
	}
	d := &descent{n: &node{def: def, above: above, typ: &f.Type}, below: append(slices.Clip(above), def), slot: slot}
	found := true
	switch f.Type.Kind {
	case schema.Struct:
		found = d.fields(f, at, steps, def, rep)
	case schema.List, schema.Map:
		found = d.elements(f, at, steps, def, rep)
	default:
		if len(steps) > 0 {
			return nil
		}
		d.n.slots = []int{slot(at)}
	}
	if !found || len(d.n.slots) == 0 {
		return nil
	}
	d.n.slot = d.n.slots[0]
	return d.n
}

// A descent is a node to which its children are added.
type descent struct {
	n     *node
	below []uint8 // the levels above the children
	slot  func(schema.Path) int
}

// add adds a child; false where the steps lead nowhere.
func (d *descent) add(c *schema.Field, at schema.Path, steps []string, def, rep uint8) bool {
	kid := descend(c, at, steps, def, rep, d.below, d.slot)
	if kid == nil && len(steps) > 0 {
		return false
	}
	if kid == nil {
		kid = &node{kind: emptyStructNode, typ: &c.Type, above: d.below}
	}
	d.n.kids = append(d.n.kids, kid)
	d.n.slots = append(d.n.slots, kid.slots...)
	return true
}

// fields adds the fields of a struct: all, or the one that the path names.
func (d *descent) fields(f *schema.Field, at schema.Path, steps []string, def, rep uint8) bool {
	d.n.kind = structNode
	if len(steps) > 0 {
		d.n.kind = passNode
	}
	for i := range f.Type.Fields {
		c := &f.Type.Fields[i]
		switch {
		case len(steps) == 0:
			d.add(c, at.Field(c.Name), nil, def, rep)
		case c.Name == steps[0]:
			if !d.add(c, at.Field(c.Name), steps[1:], def, rep) {
				return false
			}
		}
	}
	return true
}

// elements adds the elements of a list, or the entries of a map.
func (d *descent) elements(f *schema.Field, at schema.Path, steps []string, def, rep uint8) bool {
	d.n.kind, d.n.rep = listNode, rep+1
	elem := schema.Field{Type: schema.StructOf(f.Type.Fields...)} // a map's entries
	if f.Type.Kind == schema.List {
		elem = f.Type.Fields[0]
	}
	if len(steps) > 0 {
		if steps[0] != schema.Elem {
			return false
		}
		steps = steps[1:]
	}
	return d.add(&elem, at.Elem(), steps, def+1, rep+1)
}

// Leaves returns the leaves of the schema, as numbered by Schema.Leaves, that the paths touch: where there are none an empty list, which
// is not nil.
func (b *Binding) Leaves() []int { return b.leaves }

// Has reports whether the schema has path i.
func (b *Binding) Has(i int) bool { return b.reads[i] != nil }

// Leaf returns the leaf that path i is, or -1 where it is none or more than one, or passes a list.
func (b *Binding) Leaf(i int) int {
	n := b.reads[i]
	for n != nil && n.kind == passNode {
		n = n.kids[0]
	}
	if n == nil || n.kind != leafNode {
		return -1
	}
	return b.leaves[n.slot]
}

// A slot is the decoded leaf that a cursor stands in.
type slot struct {
	kind     schema.Kind
	maxDef   uint8
	constant *schema.Value
	seq      *Seq
	def      []uint8
	rep      []uint8
	texts    *schema.Texts // of text or bytes
	fixed    *array.FixedSizeBinary
	i64      []int64
	i32      []int32
	f64      []float64
	f32      []float32
	bits     *array.Boolean
	u32      bool // i32 holds unsigned numbers
	u64      bool // i64 holds unsigned numbers

	entry, value int // where the current row begins
	next, after  int // where the next one does
}

type place struct{ entry, value int }

// A Cursor walks the rows of a batch; it is the schema.Row of the current one. Lists that At returns live in its scratch
// until Next.
type Cursor struct {
	b     *Binding
	batch *Batch
	row   int
	slots []slot
	at    []place // scratch of At: how far each slot is read
	arena []schema.Value
	memo  []schema.Value
	known []bool
}

// Cursor returns a cursor before the first row of batch, whose schema is the one that b was bound to. Cursors are reused
// by Reset.
func (b *Binding) Cursor() *Cursor {
	return &Cursor{b: b, slots: make([]slot, len(b.leaves)), at: make([]place, len(b.leaves)),
		memo: make([]schema.Value, len(b.reads)), known: make([]bool, len(b.reads))}
}

// Reset puts the cursor before the first row of batch.
func (c *Cursor) Reset(batch *Batch) {
	c.batch, c.row = batch, -1
	for i, leaf := range c.b.leaves {
		c.slots[i] = newSlot(&batch.Leaves[leaf])
	}
}

func newSlot(l *Leaf) slot {
	s := slot{kind: l.Type.Kind, maxDef: l.MaxDef, constant: l.Const, seq: l.Seq}
	if l.Vec == nil {
		return s
	}
	s.def, s.rep = l.Vec.Def, l.Vec.Rep
	if texts, ok := l.Vec.Texts(); ok {
		s.texts = &texts
		return s
	}
	switch a := l.Vec.Values.(type) {
	case *array.FixedSizeBinary:
		s.fixed = a
	case *array.Int64:
		s.i64, s.u64 = a.Int64Values(), l.Type.Kind == schema.Int && l.Type.Unsigned
	case *array.Int32:
		s.i32, s.u32 = a.Int32Values(), l.Type.Kind == schema.Int && l.Type.Unsigned
	case *array.Float64:
		s.f64 = a.Float64Values()
	case *array.Float32:
		s.f32 = a.Float32Values()
	case *array.Boolean:
		s.bits = a
	}
	return s
}

// Next moves to the next row and reports whether there is one.
func (c *Cursor) Next() bool {
	c.row++
	if c.row >= c.batch.Rows {
		return false
	}
	for i := range c.slots {
		c.slots[i].advance()
	}
	clear(c.known)
	c.arena = c.arena[:0]
	return true
}

func (s *slot) advance() {
	s.entry, s.value = s.next, s.after
	switch {
	case s.rep == nil && s.def == nil:
		s.next++
		s.after++
	case s.rep == nil:
		if s.def[s.entry] == s.maxDef {
			s.after++
		}
		s.next++
	default:
		for {
			if s.def == nil || s.def[s.next] == s.maxDef {
				s.after++
			}
			s.next++
			if s.next == len(s.rep) || s.rep[s.next] == 0 {
				return
			}
		}
	}
}

// Row is the number of the current row within the batch.
func (c *Cursor) Row() int { return c.row }

// Number implements schema.Row.
func (c *Cursor) Number() int64 { return c.batch.Number(c.row) }

// Pos implements schema.Row.
func (c *Cursor) Pos() schema.Pos { return c.batch.Pos(c.batch.ReadIndex(c.row)) }

// Place returns the numbers of Pos, and that of the file: the batch's is file.
func (c *Cursor) Place(file int) (f, group int, row, line int64) {
	at := c.batch.ReadIndex(c.row)
	if c.batch.From != nil {
		r := &c.batch.From[at]
		return r.File, r.RowGroup, r.Row, r.Line
	}
	row, line = c.batch.place(at)
	return file, c.batch.RowGroup, row, line
}

// At implements schema.Row.
func (c *Cursor) At(i int) schema.Value {
	n := c.b.reads[i]
	switch {
	case n == nil:
		return schema.Value{}
	case n.kind == leafNode: // as quick to read as to remember
		s := &c.slots[n.slot]
		return s.read(c, n, s.entry, s.value)
	case c.known[i]:
		return c.memo[i]
	}
	for _, k := range n.slots {
		c.at[k] = place{c.slots[k].entry, c.slots[k].value}
	}
	v := c.assemble(n)
	c.memo[i], c.known[i] = v, true
	return v
}

// level is the definition level of the entry at which slot k stands.
func (c *Cursor) level(k int) uint8 {
	s := &c.slots[k]
	if s.def == nil {
		return s.maxDef
	}
	return s.def[c.at[k].entry]
}

// skip passes one entry of each slot below a null or an empty list.
func (c *Cursor) skip(n *node) {
	for _, k := range n.slots {
		if s := &c.slots[k]; s.def != nil && s.def[c.at[k].entry] == s.maxDef {
			c.at[k].value++ // only in a file whose levels contradict each other
		}
		c.at[k].entry++
	}
}

func (c *Cursor) assemble(n *node) schema.Value {
	if n.kind == emptyStructNode {
		return schema.NullAt(len(n.above))
	}
	if n.kind == leafNode {
		p := &c.at[n.slot]
		s := &c.slots[n.slot]
		v := s.read(c, n, p.entry, p.value)
		if s.def == nil || s.def[p.entry] == s.maxDef {
			p.value++
		}
		p.entry++
		return v
	}
	if c.level(n.slot) < n.def {
		c.skip(n)
		return schema.NullAt(len(n.above))
	}
	switch n.kind {
	case passNode:
		return c.assemble(n.kids[0])
	case structNode:
		start := c.reserve(len(n.kids))
		for i, k := range n.kids {
			c.arena[start+i] = schema.Value{}
			v := c.assemble(k)
			c.arena[start+i] = v
		}
		return schema.StructValue(n.typ, c.arena[start:start+len(n.kids):start+len(n.kids)])
	}
	if c.level(n.slot) == n.def {
		c.skip(n)
		return schema.ListValue(nil)
	}
	count := c.count(n)
	start := c.reserve(count)
	for i := range count {
		v := c.assemble(n.kids[0])
		c.arena[start+i] = v
	}
	return schema.ListValue(c.arena[start : start+count : start+count])
}

// count returns the number of elements of the list at n, whose first entry is the current one.
func (c *Cursor) count(n *node) int {
	s := &c.slots[n.slot]
	count := 1
	for e := c.at[n.slot].entry + 1; e < len(s.rep) && s.rep[e] >= n.rep; e++ {
		if s.rep[e] == n.rep {
			count++
		}
	}
	return count
}

// reserve takes n values of the arena. What was taken before stays valid: a slice of an arena that has grown since keeps
// the old one alive.
func (c *Cursor) reserve(n int) int {
	start := len(c.arena)
	if start+n > cap(c.arena) {
		grown := make([]schema.Value, start, 2*(start+n))
		copy(grown, c.arena)
		c.arena = grown
	}
	c.arena = c.arena[:start+n]
	return start
}

// read returns the value at an entry of the slot.
func (s *slot) read(c *Cursor, n *node, entry, value int) schema.Value {
	switch {
	case s.constant != nil:
		return *s.constant
	case s.seq != nil:
		return schema.IntValue(s.seq.Start + c.batch.Number(c.row))
	}
	if s.def != nil && s.def[entry] != s.maxDef {
		return schema.NullAt(nullDepth(n, s.def[entry]))
	}
	switch {
	case s.texts != nil:
		return textOf(s.kind, s.texts.At(value))
	case s.i64 != nil && s.u64:
		return schema.UintValue(uint64(s.i64[value]))
	case s.i64 != nil:
		return intOf(s.kind, s.i64[value])
	case s.i32 != nil && s.u32:
		return schema.IntValue(int64(uint32(s.i32[value])))
	case s.i32 != nil:
		return intOf(s.kind, int64(s.i32[value]))
	case s.bits != nil:
		return schema.BoolValue(s.bits.Value(value))
	case s.f64 != nil:
		return schema.FloatValue(s.f64[value])
	case s.f32 != nil:
		return schema.FloatValue(float64(s.f32[value]))
	case s.fixed != nil && s.kind == schema.Float:
		return schema.FloatValue(halfFloat(s.fixed.Value(value)))
	case s.fixed != nil:
		return textOf(s.kind, string(s.fixed.Value(value)))
	}
	return schema.NullAt(len(n.above))
}

func textOf(k schema.Kind, s string) schema.Value {
	switch k {
	case schema.Text:
		return schema.TextValue(s)
	case schema.Binary:
		return schema.BinaryValue(s)
	}
	return schema.OpaqueValue(k, s)
}

func intOf(k schema.Kind, i int64) schema.Value {
	if k == schema.Int {
		return schema.IntValue(i)
	}
	return schema.OpaqueValue(k, strconv.FormatInt(i, 10))
}

// nullDepth says how many steps of a leaf's path are not null at that definition level.
func nullDepth(n *node, def uint8) (depth int) {
	for _, from := range n.above {
		if from <= def {
			depth++
		}
	}
	return depth
}
