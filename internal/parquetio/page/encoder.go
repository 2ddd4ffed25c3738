package page

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rlprep/rlprep/internal/parquetio/compress"
	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

const (
	headroom   = 64   // before the values of an open page, for levels: so most pages are compressed where they were gathered
	dictSample = 1024 // values after which a dictionary that saves nothing is given up
)

// A valueKind is how values are laid out in memory.
type valueKind uint8

const (
	kindNone valueKind = iota // nothing but nulls so far
	kindBool
	kindFixed
	kindText // and bytes
)

// A dictState is what became of the attempt to make a dictionary for a chunk.
type dictState uint8

const (
	dictTrying dictState = iota // both the values and their numbers are gathered
	dictUsed
	dictRefused
)

// An Encoder makes the pages of one leaf, one column chunk after the other. It is for one goroutine.
type Encoder struct {
	leaf   schema.Leaf
	codec  compress.Codec
	shared *Scratch

	form     leafForm
	raw      any // a column chunk to be copied in place of pages
	constant schema.Value
	hasConst bool

	// The chunk so far.
	pages        Pages
	index        []Info
	pending      []pendingPage // behind pages
	stats        Stats
	bounded      bool // a page with values went into stats
	rows         int64
	entries      int64
	uncompressed int64
	encodings    []int32
	dict         encoding.Dictionary
	state        dictState
	sampled      bool  // the dictionary was judged by its first values
	plainAs      int32 // how values that are in no dictionary are encoded: PLAIN or DELTA_BINARY_PACKED; -1: not decided

	// The values of the chunk, and the open page.
	kind     valueKind
	width    int  // kindFixed
	ints     bool // int32 or int64: of Time, Decimal and Other only the vectors tell
	def, rep []uint8
	open     int      // rows
	count    int      // values
	values   []byte   // headroom, then PLAIN (booleans: a byte each); not gathered in dictUsed
	numbers  []uint32 // in the dictionary; not gathered in dictRefused
}

// Init sets c up for the first chunk of a leaf. shared is for all leaves of one goroutine.
func (c *Encoder) Init(leaf schema.Leaf, codec compress.Codec, shared *Scratch) {
	*c = Encoder{leaf: leaf, codec: codec, shared: shared}
	c.Reset()
}

// Reset forgets what was appended since the last chunk.
func (c *Encoder) Reset() {
	c.pages.Free()
	c.form, c.raw, c.constant, c.hasConst = formNone, nil, schema.Value{}, false
	c.index, c.pending, c.stats, c.bounded = nil, nil, Stats{}, false
	c.rows, c.entries, c.uncompressed, c.encodings = 0, 0, 0, nil
	c.state, c.sampled, c.plainAs = dictTrying, false, -1
	c.kind, c.width, c.ints = kindNone, 0, false
	c.clearPage()
}

func (c *Encoder) clearPage() {
	c.def, c.rep, c.numbers = c.def[:0], c.rep[:0], c.numbers[:0]
	if cap(c.values) > 8*Limits.Target {
		c.values = nil // one huge value is no reason to keep such a buffer
	}
	c.values = c.values[:0]
	c.open, c.count = 0, 0
}

// A valueView is the values of a vector as plain memory.
type valueView struct {
	kind    valueKind
	width   int
	ints    bool
	n       int
	data    []byte
	offsets []int32 // kindText: into data
	bools   *array.Boolean
}

// viewOf takes an array apart. The values may not hold nulls.
func viewOf(a arrow.Array) (valueView, error) {
	if a == nil {
		return valueView{}, nil
	}
	v := valueView{n: a.Len()}
	if v.n == 0 {
		return valueView{}, nil
	}
	if a.NullN() > 0 {
		return v, fmt.Errorf("its values hold nulls of their own")
	}
	fixed := func(width int) {
		v.kind, v.width = kindFixed, width
		v.data = a.Data().Buffers()[1].Bytes()[a.Data().Offset()*width:][:v.n*width]
	}
	text := func(offsets []int32, data []byte) {
		v.kind, v.offsets, v.data = kindText, offsets, data
	}
	switch a := a.(type) {
	case *array.String:
		text(a.ValueOffsets(), a.ValueBytes())
	case *array.Binary:
		text(a.ValueOffsets(), a.ValueBytes())
	case *array.FixedSizeBinary:
		fixed(a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth)
	case *array.Int32:
		fixed(4)
		v.ints = true
	case *array.Int64:
		fixed(8)
		v.ints = true
	case *array.Float32:
		fixed(4)
	case *array.Float64:
		fixed(8)
	case *array.Boolean:
		v.kind, v.bools = kindBool, a
	default:
		return v, fmt.Errorf("values of Arrow type %s cannot be written", a.DataType())
	}
	return v, nil
}

// at returns value i of kindText or kindFixed.
func (v *valueView) at(i int) []byte {
	if v.kind == kindFixed {
		return v.data[i*v.width:][:v.width]
	}
	return v.data[v.offsets[i]-v.offsets[0] : v.offsets[i+1]-v.offsets[0]]
}

// bytes returns how much values [i, j) take in an open page.
func (v *valueView) bytes(i, j int) int {
	switch v.kind {
	case kindFixed:
		return (j - i) * v.width
	case kindText:
		return int(v.offsets[j]-v.offsets[i]) + 4*(j-i)
	}
	return j - i
}

// fits reports whether such values are those of the leaf.
func (c *Encoder) fits(a arrow.Array) bool {
	t := c.leaf.Type
	switch a.(type) {
	case *array.String:
		return t.Kind == schema.Text
	case *array.Binary:
		return (t.Kind == schema.Text || t.Kind == schema.Binary || t.Kind >= schema.Decimal) && t.Layout != schema.Fixed
	case *array.FixedSizeBinary:
		return t.Layout == schema.Fixed || t.Kind >= schema.Time || (t.Kind == schema.Float && t.Bits == 16)
	case *array.Int32:
		return (t.Kind == schema.Int && t.Bits <= 32) || t.Kind >= schema.Time
	case *array.Int64:
		return (t.Kind == schema.Int && t.Bits == 64) || t.Kind >= schema.Time
	case *array.Float32:
		return t.Kind == schema.Float && t.Bits == 32
	case *array.Float64:
		return t.Kind == schema.Float && t.Bits == 64
	case *array.Boolean:
		return t.Kind == schema.Bool
	}
	return false
}

func (c *Encoder) appendVector(v *record.Vector, rows int) error {
	view, err := c.check(v, rows)
	if err != nil {
		return err
	}
	n := v.Entries()
	for from := (segment{}); from.entry < n; {
		to := c.cut(v, &view, from)
		if fit := c.appendValues(&view, from.value, to.value); fit < to.value {
			if to, err = c.refuseDict(v, from, fit); err != nil {
				return err
			}
			from = to
			continue // the rest is cut again: values need more bytes than numbers
		}
		c.advance(v, from, to)
		from = to
		if c.state == dictTrying && !c.sampled && c.count >= dictSample {
			c.sampled = true
			if c.dictCost() > (len(c.values)-headroom)/10*9 {
				c.state, c.numbers = dictRefused, c.numbers[:0]
			}
		}
		if c.open >= Limits.Rows || c.size() >= Limits.Target {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance adds the levels of rows whose values are in the open page.
func (c *Encoder) advance(v *record.Vector, from, to segment) {
	c.appendLevels(v, from.entry, to.entry)
	c.open += to.row - from.row
	c.count += to.value - from.value
}

// check refuses a vector that contradicts itself, the batch or the leaf: its levels could not be read again.
func (c *Encoder) check(v *record.Vector, rows int) (valueView, error) {
	view, err := viewOf(v.Values)
	if err != nil {
		return view, err
	}
	if view.n > 0 {
		if !c.fits(v.Values) {
			return view, &FormatError{Err: fmt.Errorf("its type is %s, but the values are %s", c.leaf.Type, v.Values.DataType())}
		}
		if c.kind == kindNone {
			c.kind, c.width, c.ints = view.kind, view.width, view.ints
			c.begin()
		}
		if c.kind != view.kind || c.width != view.width {
			return view, fmt.Errorf("the Arrow type of its values changes within the row group, to %s", v.Values.DataType())
		}
	}
	if v.Def == nil && v.Values == nil {
		return view, fmt.Errorf("a vector with neither values nor levels")
	}
	n := v.Entries()
	values, starts := n, n
	if v.Def != nil {
		values = bytes.Count(v.Def, []byte{c.leaf.MaxDef})
		if n > 0 && slices.Max(v.Def) > c.leaf.MaxDef {
			return view, fmt.Errorf("a definition level is above %d", c.leaf.MaxDef)
		}
	}
	if v.Rep != nil {
		starts = bytes.Count(v.Rep, []byte{0})
		if len(v.Rep) != n || n > 0 && (v.Rep[0] != 0 || slices.Max(v.Rep) > c.leaf.MaxRep) {
			return view, fmt.Errorf("its repetition levels do not fit (%d of them, %d entries, at most %d)", len(v.Rep), n, c.leaf.MaxRep)
		}
	}
	if values != view.n || starts != rows {
		return view, fmt.Errorf("levels of %d values and %d rows, but there are %d values and %d rows", values, starts, view.n, rows)
	}
	return view, nil
}

// begin sets up a chunk once the layout of its values is known.
func (c *Encoder) begin() {
	c.dict.Reset(c.width, Limits.DictEntries, Limits.DictBytes)
	if c.kind == kindBool || c.form == formSeq {
		c.state = dictRefused
	}
	if c.form == formSeq {
		c.plainAs = encoding.Delta
	}
}

// A segment is a place between two rows of a vector.
type segment struct{ entry, value, row int }

// size returns the bytes of the open page in memory, about those of the page.
func (c *Encoder) size() int {
	return max(0, len(c.values)-headroom) + 4*len(c.numbers) + len(c.rep)
}

// cut returns where the rows that go into the open page next end: at the end of the vector, or at the first row that fills
// the page or the sample for the dictionary. So pages do not depend on how rows were sliced.
func (c *Encoder) cut(vec *record.Vector, v *valueView, from segment) segment {
	rows, size, sample := Limits.Rows-c.open, Limits.Target-c.size(), math.MaxInt
	if c.state == dictTrying && !c.sampled {
		sample = dictSample - c.count
	}
	if vec.Def == nil && vec.Rep == nil {
		n := min(rows, sample, v.n-from.value)
		n = min(n, 1+sort.Search(n, func(i int) bool { return c.cost(v, from.value, from.value+i+1) >= size }))
		return segment{from.entry + n, from.value + n, from.row + n}
	}
	to, used := from, 0
	for n := vec.Entries(); to.entry < n; to.entry++ {
		if vec.Rep == nil || vec.Rep[to.entry] == 0 {
			if to.row > from.row && (to.row-from.row >= rows || used >= size || to.value-from.value >= sample) {
				break
			}
			to.row++
		}
		if c.leaf.MaxRep > 0 {
			used++
		}
		if vec.Def == nil || vec.Def[to.entry] == c.leaf.MaxDef {
			used += c.cost(v, to.value, to.value+1)
			to.value++
		}
	}
	return to
}

// cost returns by how much values [i, j) make size grow.
func (c *Encoder) cost(v *valueView, i, j int) int {
	switch c.state {
	case dictUsed:
		return 4 * (j - i)
	case dictTrying:
		return 4*(j-i) + v.bytes(i, j)
	}
	return v.bytes(i, j)
}

func (c *Encoder) appendLevels(v *record.Vector, from, to int) {
	if c.leaf.MaxDef > 0 {
		if v.Def != nil {
			c.def = append(c.def, v.Def[from:to]...)
		} else {
			c.def = encoding.AppendFill(c.def, c.leaf.MaxDef, to-from)
		}
	}
	if c.leaf.MaxRep > 0 {
		if v.Rep != nil {
			c.rep = append(c.rep, v.Rep[from:to]...)
		} else {
			c.rep = encoding.AppendFill(c.rep, 0, to-from)
		}
	}
}

// appendValues adds values [i, j) to the open page and returns j; or it returns the value that the dictionary has no room
// for, with the numbers of those before it added.
func (c *Encoder) appendValues(v *valueView, i, j int) int {
	if c.state != dictRefused {
		for k := i; k < j; k++ {
			number, ok := c.dict.Number(v.at(k))
			if !ok {
				return k
			}
			c.numbers = append(c.numbers, number)
		}
		if c.state == dictUsed {
			return j
		}
	}
	if len(c.values) == 0 {
		c.values = slices.Grow(c.values, headroom+min(v.bytes(i, j), Limits.Target))[:headroom]
	}
	switch v.kind {
	case kindFixed:
		c.values = append(c.values, v.data[i*v.width:j*v.width]...)
	case kindText:
		base := v.offsets[0]
		c.values = slices.Grow(c.values, v.bytes(i, j))
		for k := i; k < j; k++ {
			from, to := v.offsets[k]-base, v.offsets[k+1]-base
			c.values = binary.LittleEndian.AppendUint32(c.values, uint32(to-from))
			c.values = append(c.values, v.data[from:to]...)
		}
	case kindBool:
		for k := i; k < j; k++ {
			b := byte(0)
			if v.bools.Value(k) {
				b = 1
			}
			c.values = append(c.values, b)
		}
	}
	return j
}

// refuseDict goes on without a dictionary, which has no room for value full, and returns where to go on: the rows before that
// value are still in the open page. Pages that use the dictionary stay: the chunk is mixed then, as parquet-java's are.
func (c *Encoder) refuseDict(v *record.Vector, from segment, full int) (segment, error) {
	to := from
	if c.state == dictUsed {
		numbers := len(c.numbers) - (full - from.value)
		to = c.rowOf(v, from, full)
		c.numbers = c.numbers[:numbers+to.value-from.value]
		c.advance(v, from, to)
		if err := c.flush(); err != nil {
			return to, err
		}
	}
	c.state, c.numbers = dictRefused, c.numbers[:0]
	return to, nil
}

// rowOf returns where the row begins that holds the value; it is not before from.
func (c *Encoder) rowOf(v *record.Vector, from segment, value int) segment {
	if v.Def == nil && v.Rep == nil {
		n := value - from.value
		return segment{from.entry + n, value, from.row + n}
	}
	start, at := from, from
	for ; ; at.entry++ {
		if v.Rep == nil || v.Rep[at.entry] == 0 {
			start = at
			at.row++
		}
		if v.Def == nil || v.Def[at.entry] == c.leaf.MaxDef {
			if at.value == value {
				return start
			}
			at.value++
		}
	}
}

// dictCost returns the bytes of dictionary and numbers, before compression.
func (c *Encoder) dictCost() int {
	return len(c.dict.Plain()) + len(c.numbers)*indexWidth(c.dict.Len())/8
}

// indexWidth returns the bits of a number in a dictionary of n entries: at least one, since not every reader takes none.
func indexWidth(n int) int { return max(1, bits.Len(uint(max(n, 1)-1))) }

// appendSeq adds numbers of source rows.
func (c *Encoder) appendSeq(b *record.Batch, start int64) error {
	t := c.leaf.Type
	if t.Kind != schema.Int || c.leaf.MaxRep > 0 {
		return fmt.Errorf("row numbers cannot go into a column of type %s", t)
	}
	if c.kind == kindNone {
		c.kind, c.width, c.ints = kindFixed, 8, true
		if t.Bits <= 32 {
			c.width = 4
		}
		c.begin()
	}
	first := start + b.SplitRow
	last := first + int64(b.ReadIndex(b.Rows-1))
	if lo, hi := intRange(t); first < lo || last > hi {
		return fmt.Errorf("row number %d is beyond %s", last, t)
	}
	for i := 0; i < b.Rows; {
		n := min(b.Rows-i, Limits.Rows-c.open)
		if len(c.values) == 0 {
			c.values = slices.Grow(c.values, headroom+n*c.width)[:headroom]
		}
		for j := i; j < i+n; j++ {
			v := first + int64(b.ReadIndex(j))
			if c.width == 4 {
				c.values = binary.LittleEndian.AppendUint32(c.values, uint32(v))
			} else {
				c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
			}
		}
		if c.leaf.MaxDef > 0 {
			c.def = encoding.AppendFill(c.def, c.leaf.MaxDef, n)
		}
		c.open += n
		c.count += n
		i += n
		if c.open >= Limits.Rows {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// intRange returns the least and greatest value of an integer type; a uint64 is held as an int64, so it ends there.
func intRange(t schema.Type) (lo, hi int64) {
	if t.Bits == 64 {
		if t.Unsigned {
			return 0, math.MaxInt64
		}
		return math.MinInt64, math.MaxInt64
	}
	if t.Unsigned {
		return 0, 1<<t.Bits - 1
	}
	return -1 << (t.Bits - 1), 1<<(t.Bits-1) - 1
}
