package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The Thrift compact protocol, as far as Parquet needs it: a scanner that never looks beyond its bytes and never allocates
// by what they claim, and a rewriter that keeps every field it does not know. parquet-go's format structs are not used for
// this: they write a null_count that was absent as 0 and lose fields that are newer than they are.

// The types of the compact protocol.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftI8     = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// thriftDepth bounds nesting; Parquet's own structs nest six deep.
const thriftDepth = 32

var (
	errCut   = errors.New("cut off")
	errDepth = errors.New("nested too deeply")
)

// A scanner reads b from pos on. After an error it is at the end of b, reads zeros, and err says what was wrong first.
type scanner struct {
	b   []byte
	pos int
	err error
}

func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = fmt.Errorf("byte %d: %w", s.pos, err)
	}
	s.pos = len(s.b)
}

func (s *scanner) byte() byte {
	if s.pos >= len(s.b) {
		s.fail(errCut)
		return 0
	}
	s.pos++
	return s.b[s.pos-1]
}

func (s *scanner) uvarint() uint64 {
	if s.pos < len(s.b) && s.b[s.pos] < 0x80 {
		s.pos++
		return uint64(s.b[s.pos-1])
	}
	v, n := binary.Uvarint(s.b[s.pos:])
	if n <= 0 {
		s.fail(errCut)
		return 0
	}
	s.pos += n
	return v
}

// int reads a zigzag integer of any width.
func (s *scanner) int() int64 {
	u := s.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// bytes reads a binary; the result is a view of b.
func (s *scanner) bytes() []byte {
	n := s.uvarint()
	if n > uint64(len(s.b)-s.pos) {
		s.fail(errCut)
		return nil
	}
	s.pos += int(n)
	return s.b[s.pos-int(n) : s.pos : s.pos]
}

// field reads the header of the next field of a struct; ok is false at its end. id is that of the field before, 0 at first.
func (s *scanner) field(id *int16) (typ byte, ok bool) {
	h := s.byte()
	if h == thriftStop {
		return 0, false
	}
	if d := h >> 4; d != 0 {
		*id += int16(d)
	} else {
		*id = int16(s.int())
	}
	return h & 15, s.err == nil
}

// list reads the header of a list or set. Every element has at least one byte, so a count beyond what is left is refused.
func (s *scanner) list() (elem byte, n int) {
	h := s.byte()
	size := uint64(h >> 4)
	if size == 15 {
		size = s.uvarint()
	}
	if size > uint64(len(s.b)-s.pos) {
		s.fail(fmt.Errorf("list of %d elements, but %d bytes are left", size, len(s.b)-s.pos))
		return 0, 0
	}
	return h & 15, int(size)
}

// listOf reads the header of a list whose elements must be of type elem; an empty list may be of any.
func (s *scanner) listOf(elem byte) int {
	e, n := s.list()
	if n > 0 && e != elem {
		s.fail(fmt.Errorf("list elements have type %d, not %d", e, elem))
		return 0
	}
	return n
}

// want refuses a field of another type than the format has.
func (s *scanner) want(got, want byte) bool {
	if got == want {
		return true
	}
	s.fail(fmt.Errorf("field has type %d, not %d", got, want))
	return false
}

func (s *scanner) skip(typ byte, depth int) {
	if depth > thriftDepth {
		s.fail(errDepth)
		return
	}
	switch typ {
	case thriftTrue, thriftFalse: // as a field: the value is the type
	case thriftI8:
		s.byte()
	case thriftI16, thriftI32, thriftI64:
		s.uvarint()
	case thriftDouble:
		s.advance(8)
	case thriftUUID:
		s.advance(16)
	case thriftBinary:
		s.bytes()
	case thriftList, thriftSet:
		e, n := s.list()
		for ; n > 0 && s.err == nil; n-- {
			s.skipElem(e, depth+1)
		}
	case thriftMap:
		s.skipMap(depth)
	case thriftStruct:
		var id int16
		for t, ok := s.field(&id); ok; t, ok = s.field(&id) {
			s.skip(t, depth+1)
		}
	default:
		s.fail(fmt.Errorf("unknown type %d", typ))
	}
}

// skipElem skips an element of a list, where a bool has a byte of its own.
func (s *scanner) skipElem(typ byte, depth int) {
	if typ == thriftTrue || typ == thriftFalse {
		s.byte()
		return
	}
	s.skip(typ, depth)
}

func (s *scanner) skipMap(depth int) {
	n := s.uvarint()
	if n == 0 {
		return
	}
	if n > uint64(len(s.b)-s.pos) {
		s.fail(fmt.Errorf("map of %d entries, but %d bytes are left", n, len(s.b)-s.pos))
		return
	}
	types := s.byte()
	for ; n > 0 && s.err == nil; n-- {
		s.skipElem(types>>4, depth+1)
		s.skipElem(types&15, depth+1)
	}
}

func (s *scanner) advance(n int) {
	if n > len(s.b)-s.pos {
		s.fail(errCut)
		return
	}
	s.pos += n
}

// structSpan skips a struct and returns where it stands, its stop byte included.
func (s *scanner) structSpan() span {
	start := s.pos
	s.skip(thriftStruct, 0)
	return span{uint32(start), uint32(s.pos)}
}

// of returns the bytes of the span.
func (p span) of(b []byte) []byte { return b[p.start:p.end] }

// within returns the span as one of the bytes of outer, in which it lies.
func (p span) within(outer span) span { return span{p.start - outer.start, p.end - outer.start} }

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func appendInt(b []byte, v int64) []byte { return binary.AppendUvarint(b, zigzag(v)) }

func appendBytes[T string | []byte](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func appendList(b []byte, elem byte, n int) []byte {
	if n < 15 {
		return append(b, byte(n)<<4|elem)
	}
	return binary.AppendUvarint(append(b, 0xf0|elem), uint64(n))
}

// A structWriter appends the fields of one struct, in ascending or any other order of their ids. The zero value begins one.
type structWriter struct{ last int16 }

func (w *structWriter) field(b []byte, id int16, typ byte) []byte {
	d := int(id) - int(w.last)
	w.last = id
	if d > 0 && d <= 15 {
		return append(b, byte(d)<<4|typ)
	}
	return appendInt(append(b, typ), int64(id))
}

func (w *structWriter) int(b []byte, id int16, typ byte, v int64) []byte {
	return appendInt(w.field(b, id, typ), v)
}

func (w *structWriter) bool(b []byte, id int16, v bool) []byte {
	if v {
		return w.field(b, id, thriftTrue)
	}
	return w.field(b, id, thriftFalse)
}

func (w *structWriter) stop(b []byte) []byte { return append(b, thriftStop) }

// An edit is one field that rewriteStruct writes anew. typ 0 leaves the field out.
type edit struct {
	id  int16
	typ byte
	num int64  // of integers
	raw []byte // of a binary its bytes; of lists and structs their encoding
	was span   // of the value within the struct, where it is known: at that place it need not be scanned
	// put appends the encoding of a list or struct that is too large to be made twice. It may be called again.
	put func(b []byte) []byte
}

func (e *edit) append(b []byte, w *structWriter) []byte {
	if e.typ == thriftStop {
		return b
	}
	b = w.field(b, e.id, e.typ)
	switch e.typ {
	case thriftI8:
		return append(b, byte(e.num))
	case thriftI16, thriftI32, thriftI64:
		return appendInt(b, e.num)
	case thriftBinary:
		return appendBytes(b, e.raw)
	}
	if e.put != nil {
		return e.put(b)
	}
	return append(b, e.raw...)
}

// rewriteStruct appends the struct src, its stop byte included, with edits made, which must be in ascending order of their
// ids. Every other field, known or not, is kept byte for byte, and a field that is not there stays away unless an edit sets
// it. Fields that are not in ascending order, which is allowed but done by no writer that we know, come out in it.
func rewriteStruct(b, src []byte, edits []edit) ([]byte, error) {
	s := scanner{b: src}
	var w structWriter
	var id, last int16
	start, next := len(b), 0
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		if id <= last {
			return rewriteUnordered(b[:start], src, edits)
		}
		last = id
		for ; next < len(edits) && edits[next].id < id; next++ { // new fields go where their number belongs
			b = edits[next].append(b, &w)
		}
		at := s.pos
		if next == len(edits) || edits[next].id != id {
			s.skip(typ, 0)
			b = append(w.field(b, id, typ), src[at:s.pos]...)
			continue
		}
		if was := edits[next].was; was.end > was.start && int(was.start) == at { // a field that is there twice is elsewhere too
			s.advance(int(was.end - was.start))
		} else {
			s.skip(typ, 0)
		}
		b = edits[next].append(b, &w)
		next++
	}
	for ; next < len(edits); next++ {
		b = edits[next].append(b, &w)
	}
	return w.stop(b), s.err
}

// rewriteUnordered is rewriteStruct for fields in any order: it sorts them first. Of a field that is there twice the last
// one counts, as in every reader.
func rewriteUnordered(b, src []byte, edits []edit) ([]byte, error) {
	type part struct {
		id    int16
		typ   byte
		value []byte
	}
	var parts []part
	s := scanner{b: src}
	var id int16
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		at := s.pos
		s.skip(typ, 0)
		parts = slices.DeleteFunc(parts, func(p part) bool { return p.id == id })
		parts = append(parts, part{id, typ, src[at:s.pos]})
	}
	if s.err != nil {
		return b, s.err
	}
	slices.SortFunc(parts, func(x, y part) int { return int(x.id) - int(y.id) })
	if len(parts) > 0 && parts[0].id <= 0 {
		return b, fmt.Errorf("field %d of a struct: fields are numbered from 1", parts[0].id)
	}
	var w structWriter
	var sorted []byte
	for _, p := range parts {
		sorted = append(w.field(sorted, p.id, p.typ), p.value...)
	}
	return rewriteStruct(b, w.stop(sorted), edits)
}
