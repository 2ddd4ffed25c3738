package parquetio

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

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// When a page is full. Measured on gsm8k's text with zstd: see BenchmarkPageSize.
var (
	pageTarget = 1 << 20 // bytes, uncompressed
	pageRows   = 20_000  // as parquet-java: what a reader that seeks must skip at most
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

// A columnEncoder makes the pages of one leaf.
type columnEncoder struct {
	leaf   schema.Leaf
	codec  Codec
	shared *scratch

	form     leafForm
	raw      *Chunk
	constant schema.Value
	hasConst bool

	// The chunk so far.
	pages        []byte
	index        []PageInfo
	stats        Stats
	bounded      bool // a page with values went into stats
	rows         int64
	entries      int64
	uncompressed int64
	encodings    []int32
	dataEncoding int32
	dict         dictionary
	state        dictState
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

func (c *columnEncoder) reset() {
	freePages(c.pages)
	c.form, c.raw, c.constant, c.hasConst = formNone, nil, schema.Value{}, false
	c.pages, c.index, c.stats, c.bounded = nil, nil, Stats{}, false
	c.rows, c.entries, c.uncompressed, c.encodings, c.dataEncoding = 0, 0, 0, nil, encPlain
	c.state, c.plainAs = dictTrying, -1
	c.kind, c.width, c.ints = kindNone, 0, false
	c.clearPage()
}

func (c *columnEncoder) clearPage() {
	c.def, c.rep, c.numbers = c.def[:0], c.rep[:0], c.numbers[:0]
	if cap(c.values) > 8*pageTarget {
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
func (c *columnEncoder) fits(a arrow.Array) bool {
	t := c.leaf.Type
	switch a.(type) {
	case *array.String:
		return t.Kind == schema.Text
	case *array.Binary:
		return (t.Kind == schema.Text || t.Kind == schema.Binary || t.Kind >= schema.Decimal) && t.Form != schema.Fixed
	case *array.FixedSizeBinary:
		return t.Form == schema.Fixed || t.Kind >= schema.Time || (t.Kind == schema.Float && t.Bits == 16)
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

func (c *columnEncoder) appendVector(v *record.Vector, rows int) error {
	view, err := c.check(v, rows)
	if err != nil {
		return err
	}
	flat := v.Def == nil && v.Rep == nil
	n := v.Entries()
	for e, k := 0, 0; e < n; {
		var s segment
		if flat {
			s = c.flatSegment(&view, e)
		} else {
			s = c.nestedSegment(v, &view, e, k)
		}
		if !c.appendValues(&view, k, s.value) { // the dictionary is full
			if err := c.refuseDict(); err != nil {
				return err
			}
			continue // the segment is cut anew: values count more than numbers
		}
		c.appendLevels(v, e, s.entry)
		c.open += s.rows
		c.count += s.value - k
		e, k = s.entry, s.value
		if c.state == dictTrying && len(c.numbers) >= dictSample && c.dictCost() > len(c.values)/10*9 {
			c.state, c.numbers = dictRefused, c.numbers[:0]
		}
		if c.open >= pageRows || c.size() >= pageTarget {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses a vector that contradicts itself, the batch or the leaf: its levels could not be read again.
func (c *columnEncoder) check(v *record.Vector, rows int) (valueView, error) {
	view, err := viewOf(v.Values)
	if err != nil {
		return view, err
	}
	if view.n > 0 {
		if !c.fits(v.Values) {
			return view, fmt.Errorf("its type is %s, but the values are %s", c.leaf.Type, v.Values.DataType())
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
func (c *columnEncoder) begin() {
	c.dict.reset(c.width)
	if c.kind == kindBool || c.form == formSeq {
		c.state = dictRefused
	}
	if c.form == formSeq {
		c.plainAs = encDelta
	}
}

// A segment is the end of a run of rows that goes into the open page.
type segment struct{ entry, value, rows int }

// room returns how many rows and bytes the open page takes; at least one row.
func (c *columnEncoder) room() (rows, size int) {
	rows = pageRows - c.open
	if c.state == dictTrying && c.count < dictSample {
		rows = min(rows, max(1, dictSample-c.count)) // do not put more into a dictionary than it takes to judge it
	}
	return rows, pageTarget - c.size()
}

// size returns the bytes of the open page in memory, about those of the page.
func (c *columnEncoder) size() int {
	return len(c.values) + 4*len(c.numbers) + (len(c.def)+len(c.rep))/4
}

func (c *columnEncoder) flatSegment(v *valueView, e int) segment {
	rows, size := c.room()
	n := min(rows, v.n-e)
	if c.state != dictUsed {
		n = min(n, 1+sort.Search(n, func(i int) bool { return v.bytes(e, e+i+1) >= size }))
	}
	return segment{e + n, e + n, n}
}

func (c *columnEncoder) nestedSegment(vec *record.Vector, v *valueView, e, k int) segment {
	rows, size := c.room()
	s := segment{entry: e, value: k}
	n := vec.Entries()
	for used := 0; s.entry < n; s.entry++ {
		if vec.Rep == nil || vec.Rep[s.entry] == 0 {
			if s.rows >= rows || s.rows > 0 && used >= size {
				break
			}
			s.rows++
		}
		used++ // levels, roughly
		if vec.Def != nil && vec.Def[s.entry] != c.leaf.MaxDef {
			continue
		}
		if c.state != dictUsed {
			used += v.bytes(s.value, s.value+1)
		} else {
			used += 4
		}
		s.value++
	}
	return s
}

func (c *columnEncoder) appendLevels(v *record.Vector, from, to int) {
	if c.leaf.MaxDef > 0 {
		if v.Def != nil {
			c.def = append(c.def, v.Def[from:to]...)
		} else {
			c.def = appendFill(c.def, c.leaf.MaxDef, to-from)
		}
	}
	if c.leaf.MaxRep > 0 {
		if v.Rep != nil {
			c.rep = append(c.rep, v.Rep[from:to]...)
		} else {
			c.rep = appendFill(c.rep, 0, to-from)
		}
	}
}

func appendFill(b []uint8, v uint8, n int) []uint8 {
	b = slices.Grow(b, n)
	fill := b[len(b) : len(b)+n]
	for i := range fill {
		fill[i] = v
	}
	return b[:len(b)+n]
}

// appendValues adds values [i, j) to the open page; false, with nothing added, when the dictionary has no room for them.
func (c *columnEncoder) appendValues(v *valueView, i, j int) bool {
	if c.state != dictRefused {
		before := len(c.numbers)
		for k := i; k < j; k++ {
			number, ok := c.dict.number(v.at(k))
			if !ok {
				c.numbers = c.numbers[:before]
				return false
			}
			c.numbers = append(c.numbers, number)
		}
		if c.state == dictUsed {
			return true
		}
	}
	if len(c.values) == 0 {
		c.values = slices.Grow(c.values, headroom+min(v.bytes(i, j), pageTarget))[:headroom]
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
	return true
}

// refuseDict goes on without a dictionary. Pages that use it stay: the chunk is mixed then, as parquet-java's are.
func (c *columnEncoder) refuseDict() error {
	if c.state == dictUsed {
		if err := c.flush(); err != nil {
			return err
		}
	}
	c.state, c.numbers = dictRefused, c.numbers[:0]
	return nil
}

// dictCost returns the bytes of dictionary and numbers, before compression.
func (c *columnEncoder) dictCost() int {
	return len(c.dict.plain) + len(c.numbers)*indexWidth(c.dict.len())/8
}

// indexWidth returns the bits of a number in a dictionary of n entries: at least one, since not every reader takes none.
func indexWidth(n int) int { return max(1, bits.Len(uint(max(n, 1)-1))) }

// appendSeq adds numbers of source rows.
func (c *columnEncoder) appendSeq(b *record.Batch, start int64) error {
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
	first := start + b.First
	last := first + int64(b.Origin(b.Rows-1))
	if lo, hi := intRange(t); first < lo || last > hi {
		return fmt.Errorf("row number %d is beyond %s", last, t)
	}
	for i := 0; i < b.Rows; {
		n := min(b.Rows-i, pageRows-c.open)
		if len(c.values) == 0 {
			c.values = slices.Grow(c.values, headroom+n*c.width)[:headroom]
		}
		for j := i; j < i+n; j++ {
			v := first + int64(b.Origin(j))
			if c.width == 4 {
				c.values = binary.LittleEndian.AppendUint32(c.values, uint32(v))
			} else {
				c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
			}
		}
		if c.leaf.MaxDef > 0 {
			c.def = appendFill(c.def, c.leaf.MaxDef, n)
		}
		c.open += n
		c.count += n
		i += n
		if c.open >= pageRows {
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
