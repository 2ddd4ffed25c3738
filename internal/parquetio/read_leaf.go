package parquetio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

var errRowNotBegun = errors.New("repetition levels: the first entry continues a row that did not begin")

// A leafReader decodes the pages of one column chunk.
type leafReader struct {
	name   string // of the file
	where  string // "NAME: row group N: column P"
	chunk  *Chunk
	stream page.Stream
	shared *page.Buffers
	lane   *Lane
	held   int64 // of the lane, by the page
	inDict int64 // by the dictionary
	most   int64 // bytes of a value

	kind           encoding.Physical
	width          int // bytes of a value; 0: text, or booleans
	asText         bool
	narrow         schema.Type // Int of 8 or 16 bits: what its values are cut to; else the zero Type
	maxDef, maxRep uint8

	counts  tallied
	skipped bool  // some pages were not opened, so that counts are not those of the chunk
	seen    int64 // entries of the pages that were opened or skipped
	dict    *page.Dict
	// dictKnown spares reading the dictionary page, where values are only counted.
	dictKnown *page.Dict
	page      openPage
	pending   *record.Vector // rows that were taken, but that a slice had no room for
}

// An openPage is the page that is being read. Its values are in leafReader.values.
type openPage struct {
	buf     []byte // decompressed
	entries int
	at      int     // next entry
	def     []uint8 // nil: all at MaxDef, or none at all where level says so
	rep     []uint8 // nil: every entry begins a row
	defBuf  []uint8
	repBuf  []uint8
	sameDef bool
	level   uint8 // of every entry, with sameDef
	values  page.Values
}

// open sets l up before row first of the row group. It keeps the memory of l's page.
func (l *leafReader) open(f *File, rg, leaf int, first int64, shared *page.Buffers, lane *Lane) (err error) {
	p, c := &f.physical[leaf], f.chunk(rg, leaf)
	*l = leafReader{
		name: f.name, where: fmt.Sprintf("%s: row group %d: column %s", f.name, rg, f.leaves[leaf].Path), chunk: c, shared: shared, lane: lane, most: f.maxValue,
		stream: page.NewStream(f.f, c.start(), c.start()+c.compressed, f.maxPage(), nil),
		counts: tallied{byDef: make([]int64, int(p.MaxDef)+1)},
		kind:   p.Physical, asText: f.leaves[leaf].Type.Kind == schema.Text, maxDef: p.MaxDef, maxRep: p.MaxRep,
		page: openPage{buf: l.page.buf},
	}
	if t := f.leaves[leaf].Type; t.Kind == schema.Int && t.Bits < 32 && p.Physical == encoding.Int32 {
		l.narrow = t
	}
	switch p.Physical {
	case encoding.Int32, encoding.Float:
		l.width = 4
	case encoding.Int64, encoding.Double:
		l.width = 8
	case encoding.Int96:
		l.width = 12
	case encoding.FixedLenByteArray:
		if l.width = p.Length; l.width < 1 {
			return l.errorf("values of %d bytes", p.Length)
		}
		if int64(l.width) > l.most {
			return l.wrap(page.TooLong(int64(l.width), l.most))
		}
	}
	defer page.Recover(&err, l.where)
	if rows := f.groups[rg].Rows; l.maxRep == 0 && c.values != rows {
		return l.errorf("the column chunk has %d values, the row group %d rows", c.values, rows)
	}
	if err := l.skip(first); err != nil {
		return l.wrap(err)
	}
	return nil
}

func (l *leafReader) errorf(format string, args ...any) error {
	return l.wrap(fmt.Errorf(format, args...))
}

// wrap says where an error happened. What the system refuses is no fault of the format.
func (l *leafReader) wrap(err error) error {
	var path *os.PathError
	at := fmt.Errorf("%s: byte %d: %w", l.where, l.stream.Position(), err)
	if errors.As(err, &path) {
		return at
	}
	return &FormatError{Err: at}
}

// nextPage opens the next data page that has entries; io.EOF at the end of the chunk.
func (l *leafReader) nextPage() error {
	for {
		h, err := l.dataHeader()
		if err != nil {
			return err
		}
		if err := l.openPage(&h); err != nil {
			return err
		}
		if l.page.entries > 0 {
			return nil
		}
	}
}

// dataHeader reads on to the header of the next data page, and the dictionary on the way; io.EOF at the end of the chunk.
func (l *leafReader) dataHeader() (page.Header, error) {
	for {
		if l.seen == l.chunk.values {
			return page.Header{}, io.EOF
		}
		if l.stream.Left() <= 0 {
			return page.Header{}, fmt.Errorf("its pages end after %d of %d values", l.seen, l.chunk.values)
		}
		h, err := l.stream.Header()
		if err != nil {
			return h, err
		}
		if limit := max(l.chunk.uncompressed, 16<<20); h.Uncompressed > limit {
			return h, fmt.Errorf("%w: %d bytes uncompressed in a column chunk of %d", page.ErrHeader, h.Uncompressed, l.chunk.uncompressed)
		}
		switch h.Kind {
		case page.Data, page.DataV2:
			if h.Values > l.chunk.values-l.seen {
				return h, fmt.Errorf("its pages hold more than the %d values that the footer says", l.chunk.values)
			}
			l.seen += h.Values
			return h, nil
		case page.Dictionary:
			if err := l.openDict(&h); err != nil {
				return h, err
			}
		default:
			l.stream.Skip(h.Compressed) // an index page, or what the format may add: readers may skip it
		}
	}
}

func (l *leafReader) openDict(h *page.Header) error {
	if l.dict != nil {
		return fmt.Errorf("a second dictionary page")
	}
	if l.kind == encoding.Boolean || h.Encoding != encoding.Plain && h.Encoding != encoding.PlainDictionary {
		return page.UnknownEncoding(h.Encoding, "a dictionary")
	}
	if l.dictKnown != nil {
		l.dict = l.dictKnown
		l.stream.Skip(h.Compressed)
		return nil
	}
	if err := l.lane.acquire(h.Uncompressed, l.stream.Most); err != nil {
		return err
	}
	l.inDict = h.Uncompressed
	body, err := l.stream.Body(h, l.chunk.codec, nil, l.shared)
	if err != nil {
		return err
	}
	if l.dict, err = page.NewDict(body, int(h.Values), l.width); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	if n := int64(l.dict.Longest()); n > l.most {
		return page.TooLong(n, l.most)
	}
	return nil
}

// openPage reads the body of a data page.
func (l *leafReader) openPage(h *page.Header) error {
	p := &l.page
	p.entries, p.at, p.def, p.rep, p.sameDef = 0, 0, nil, nil, true
	p.level = l.maxDef
	l.closePage()
	need := h.Uncompressed + h.Values*int64(min(l.maxDef, 1)+min(l.maxRep, 1))
	if err := l.lane.acquire(need, l.stream.Most); err != nil {
		return err
	}
	l.held = need
	body, err := l.stream.Body(h, l.chunk.codec, p.buf, l.shared)
	if err != nil {
		return err
	}
	p.buf = body
	n := int(h.Values)
	body, err = l.openLevels(h, body, n)
	if err != nil {
		return err
	}
	values := n
	switch {
	case p.sameDef && p.level < l.maxDef:
		values = 0
	case !p.sameDef:
		values = bytes.Count(p.def, []byte{l.maxDef})
	}
	if values == 0 && h.Encoding != encoding.RLEDictionary && h.Encoding != encoding.PlainDictionary {
		h.Encoding = encoding.Plain // nothing to decode, whatever it would be
	}
	p.entries = n
	l.counts.add(p)
	return p.values.Open(body, values, l.width, l.kind == encoding.Boolean, h.Encoding, l.dict, l.most)
}

// closePage releases the open page where that is huge.
func (l *leafReader) closePage() {
	if l.held >= page.Limits.Huge {
		l.page.buf, l.page.values, l.page.defBuf, l.page.repBuf = nil, page.Values{}, nil, nil
	}
	l.lane.release(l.held)
	l.held = 0
}

// giveUp releases all that is huge.
func (l *leafReader) giveUp() {
	if l.lane == nil {
		return // it was not opened
	}
	l.closePage()
	l.lane.release(l.inDict)
	l.inDict = 0
}

// openLevels reads the levels of n entries and returns what is behind them.
func (l *leafReader) openLevels(h *page.Header, body []byte, n int) (rest []byte, err error) {
	p := &l.page
	rest = body
	same, level := false, uint8(0)
	if l.maxRep > 0 {
		p.repBuf = page.Sized(p.repBuf, n)
		if h.Kind == page.DataV2 {
			level, same, err = encoding.ReadRawLevels(p.repBuf, body[:h.RepLen], l.maxRep)
		} else {
			rest, level, same, err = encoding.ReadLevels(p.repBuf, rest, l.maxRep, h.RepEnc)
		}
		if err != nil {
			return nil, fmt.Errorf("repetition levels: %w", err)
		}
		if p.rep = p.repBuf; same {
			p.rep = encoding.AppendFill(p.repBuf[:0], level, n)
		}
	}
	if l.maxDef > 0 {
		p.defBuf = page.Sized(p.defBuf, n)
		if h.Kind == page.DataV2 {
			p.level, p.sameDef, err = encoding.ReadRawLevels(p.defBuf, body[h.RepLen:h.RepLen+h.DefLen], l.maxDef)
		} else {
			rest, p.level, p.sameDef, err = encoding.ReadLevels(p.defBuf, rest, l.maxDef, h.DefEnc)
		}
		if err != nil {
			return nil, fmt.Errorf("definition levels: %w", err)
		}
		if !p.sameDef {
			p.def = p.defBuf
		}
	}
	if h.Kind == page.DataV2 {
		rest = body[h.RepLen+h.DefLen:]
	}
	return rest, nil
}

// skip passes over the first rows of the chunk, whole pages undecoded where a value is a row.
func (l *leafReader) skip(rows int64) error {
	for rows > 0 {
		h, err := l.dataHeader()
		if err == io.EOF {
			return fewerRows(rows)
		}
		if err != nil {
			return err
		}
		if l.maxRep == 0 && h.Values < rows { // of lists even v2 headers are not believed: nothing would tell a wrong one
			l.stream.Skip(h.Compressed)
			l.skipped = true
			rows -= h.Values
			continue
		}
		if err := l.openPage(&h); err != nil {
			return err
		}
		if l.maxRep == 0 {
			return l.skipEntries(int(rows))
		}
		if rows, err = l.skipRows(rows); err != nil {
			return err
		}
	}
	return l.endRow()
}

// skipRows passes over rows that begin in the open page and returns how many are still to come. It stops at the begin of the
// row behind them; when that is not in this page, endRow finds it.
func (l *leafReader) skipRows(rows int64) (int64, error) {
	p := &l.page
	end := p.at
	for ; end < p.entries; end++ {
		if p.rep[end] == 0 {
			if rows == 0 {
				break
			}
			rows--
		}
	}
	return rows, l.skipEntries(end - p.at)
}

// endRow passes over what is left of a row that began in a page before.
func (l *leafReader) endRow() error {
	if l.maxRep == 0 || l.seen == 0 {
		return nil
	}
	for {
		if l.page.at < l.page.entries {
			if l.page.rep[l.page.at] == 0 {
				return nil
			}
			if _, err := l.skipRows(0); err != nil {
				return err
			}
			continue
		}
		if err := l.nextPage(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (l *leafReader) skipEntries(n int) error {
	v := l.valuesIn(n)
	l.page.at += n
	return l.page.values.Read(v, nil, l.shared)
}

// valuesIn returns how many of the next n entries are values.
func (l *leafReader) valuesIn(n int) int {
	p := &l.page
	switch {
	case !p.sameDef:
		return bytes.Count(p.def[p.at:p.at+n], []byte{l.maxDef})
	case p.level == l.maxDef:
		return n
	}
	return 0
}

// readRows returns the next n rows, fewer where they are huge, with their values in mem (nil: in memory of their own).
func (l *leafReader) readRows(n int, mem *page.LeafBuffers) (v *record.Vector, err error) {
	defer page.Recover(&err, l.where)
	s := sliceBuilder{maxDef: l.maxDef, values: page.Builder{Kind: l.kind, Width: l.width}}
	if mem != nil {
		s.values.Data, s.values.Offsets = mem.Data[:0], mem.Offsets[:0]
	}
	if v, err = l.gather(&s, n); err != nil {
		return nil, l.wrap(err)
	}
	if mem != nil {
		mem.Data, mem.Offsets = s.values.Data, s.values.Offsets
	}
	return v, nil
}

func (l *leafReader) gather(s *sliceBuilder, n int) (*record.Vector, error) {
	p := &l.page
	for {
		if p.at == p.entries {
			if s.rows == n && l.maxRep == 0 {
				break
			}
			err := l.nextPage()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
		}
		entries, rows := l.step(s, n-s.rows)
		if entries == 0 {
			break // the next row begins here
		}
		if s.rows == 0 && rows > 0 {
			s.values.Expect = l.valuesIn(entries) * n / rows
		}
		if err := l.takeEntries(s, entries); err != nil {
			return nil, err
		}
		s.rows += rows
		if len(s.values.Data) >= page.Limits.Slice || len(s.rep) >= page.Limits.Slice {
			n = s.rows
		}
	}
	if s.rows < n {
		return nil, fewerRows(int64(n - s.rows))
	}
	if l.narrow.Kind == schema.Int {
		s.values.CutTo(l.narrow)
	}
	return &record.Vector{Values: s.values.Array(l.asText), Def: s.def, Rep: s.rep, Rows: s.rows}, nil
}

// step returns how many of the next entries to take at once, and how many rows begin in them: rows at most, all in the open
// page, and not so many that a slice could grow far beyond its bound.
func (l *leafReader) step(s *sliceBuilder, rows int) (entries, begun int) {
	p := &l.page
	most := min(p.entries-p.at, max(1, (page.Limits.Slice/8)/p.values.Typical()))
	if l.maxRep == 0 {
		n := min(rows, most)
		return n, n
	}
	for entries < most {
		if p.rep[p.at+entries] == 0 {
			if begun == rows {
				break
			}
			begun++
		}
		entries++
	}
	return entries, begun
}

func (l *leafReader) takeEntries(s *sliceBuilder, n int) error {
	p := &l.page
	if l.maxRep > 0 {
		if s.entries == 0 && p.rep[p.at] != 0 {
			return errRowNotBegun
		}
		s.rep = append(s.rep, p.rep[p.at:p.at+n]...)
	}
	values := l.valuesIn(n)
	switch {
	case !p.sameDef && values < n:
		s.levels(p.def[p.at : p.at+n])
	case p.level < l.maxDef && p.sameDef:
		s.sameLevel(p.level, n)
	case s.def != nil:
		s.def = encoding.AppendFill(s.def, l.maxDef, n)
	}
	s.entries += n
	p.at += n
	err := p.values.Read(values, &s.values, l.shared)
	if p.at == p.entries {
		l.closePage() // a huge one is not to be in memory beside what is made of it
	}
	return err
}

// finish refuses a chunk that goes on after its last row, or whose pages do not hold as many values as the footer says. toEnd
// says that the row group ends where the reader does.
func (l *leafReader) finish(toEnd bool) (err error) {
	defer page.Recover(&err, l.where)
	if l.pending != nil || l.page.at < l.page.entries || l.seen < l.chunk.values {
		if toEnd {
			return l.errorf("it has more rows than the footer says")
		}
		for err == nil { // were the counts of pages that were passed over right? If so, they add up
			var h page.Header
			if h, err = l.dataHeader(); err == nil {
				l.stream.Skip(h.Compressed)
			}
		}
		if err != io.EOF {
			return l.wrap(err)
		}
		return nil
	}
	if err := l.tally(); err != nil || l.stream.Left() <= 0 {
		return err
	}
	if h, err := l.stream.Header(); err == nil && h.Values > 0 && (h.Kind == page.Data || h.Kind == page.DataV2) {
		return l.errorf("its pages hold more than the %d values that the footer says", l.chunk.values)
	}
	return nil // some writers leave room
}

// A sliceBuilder gathers one vector.
type sliceBuilder struct {
	maxDef   uint8
	rows     int
	entries  int
	def, rep []uint8 // def nil: all at maxDef so far
	values   page.Builder
}

func (s *sliceBuilder) levels(def []uint8) {
	s.beginLevels(len(def))
	s.def = append(s.def, def...)
}

func (s *sliceBuilder) sameLevel(level uint8, n int) {
	s.beginLevels(n)
	s.def = encoding.AppendFill(s.def, level, n)
}

func (s *sliceBuilder) beginLevels(more int) {
	if s.def == nil {
		s.def = encoding.AppendFill(make([]uint8, 0, s.entries+more), s.maxDef, s.entries)
	}
}

// cutVector returns the first rows of v and the others. They share its memory.
func cutVector(v *record.Vector, rows int, maxDef uint8) (head, tail *record.Vector) {
	entry, value := rows, rows
	if v.Rep != nil {
		entry = 0
		for begun := 0; entry < len(v.Rep); entry++ {
			if v.Rep[entry] == 0 {
				if begun == rows {
					break
				}
				begun++
			}
		}
		value = entry
	}
	head, tail = &record.Vector{Rows: rows}, &record.Vector{Rows: v.Rows - rows}
	if v.Rep != nil {
		head.Rep, tail.Rep = v.Rep[:entry:entry], v.Rep[entry:]
	}
	if v.Def != nil {
		head.Def, tail.Def = v.Def[:entry:entry], v.Def[entry:]
		value = bytes.Count(head.Def, []byte{maxDef})
	}
	head.Values = array.NewSlice(v.Values, 0, int64(value))
	tail.Values = array.NewSlice(v.Values, int64(value), int64(v.Values.Len()))
	return head, tail
}
