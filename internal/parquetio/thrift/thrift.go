// Package thrift reads and writes the Thrift compact protocol, as far as Parquet needs it: a scanner that never looks beyond its bytes and never
// allocates by what they claim, and a rewriter that keeps every field it does not know. parquet-go's format structs are not used for
// this: they write an absent null_count as 0 and lose fields that are newer than they are.
package thrift

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// The types of the compact protocol, by their number. A bool field is its type: True or False.
const (
	Stop   = 0
	True   = 1
	False  = 2
	I8     = 3
	I16    = 4
	I32    = 5
	I64    = 6
	Double = 7
	Binary = 8
	List   = 9
	Set    = 10
	Map    = 11
	Struct = 12
	UUID   = 13
)

// maxDepth bounds nesting; Parquet's own structs nest six deep.
const maxDepth = 32

var (
	errCut   = errors.New("cut off")
	errDepth = errors.New("nested too deeply")
)

// A Scanner reads Buf from At on. After an error it is at the end of Buf and reads zeros; Err is the first error.
type Scanner struct {
	Buf []byte
	At  int // byte of Buf
	Err error
}

// Fail sets Err to err and the place, unless there was an error before.
func (s *Scanner) Fail(err error) {
	if s.Err == nil {
		s.Err = fmt.Errorf("byte %d: %w", s.At, err)
	}
	s.At = len(s.Buf)
}

// Byte reads one byte.
func (s *Scanner) Byte() byte {
	if s.At >= len(s.Buf) {
		s.Fail(errCut)
		return 0
	}
	s.At++
	return s.Buf[s.At-1]
}

// Uvarint reads an unsigned integer of any width.
func (s *Scanner) Uvarint() uint64 {
	if s.At < len(s.Buf) && s.Buf[s.At] < 0x80 {
		s.At++
		return uint64(s.Buf[s.At-1])
	}
	v, n := binary.Uvarint(s.Buf[s.At:])
	if n <= 0 {
		s.Fail(errCut)
		return 0
	}
	s.At += n
	return v
}

// Int reads a zigzag integer of any width.
func (s *Scanner) Int() int64 {
	u := s.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Bytes reads a binary; the result is a view of Buf.
func (s *Scanner) Bytes() []byte {
	n := s.Uvarint()
	if n > uint64(len(s.Buf)-s.At) {
		s.Fail(errCut)
		return nil
	}
	s.At += int(n)
	return s.Buf[s.At-int(n) : s.At : s.At]
}

// Field reads the header of the next field of a struct; ok is false at its end. id is that of the field before, 0 at first.
func (s *Scanner) Field(id *int16) (typ byte, ok bool) {
	h := s.Byte()
	if h == Stop {
		return 0, false
	}
	if d := h >> 4; d != 0 {
		*id += int16(d)
	} else {
		*id = int16(s.Int())
	}
	return h & 15, s.Err == nil
}

// List reads the header of a list or set. Every element has at least one byte, so a count beyond what is left is refused.
func (s *Scanner) List() (elem byte, n int) {
	h := s.Byte()
	size := uint64(h >> 4)
	if size == 15 {
		size = s.Uvarint()
	}
	if size > uint64(len(s.Buf)-s.At) {
		s.Fail(fmt.Errorf("list of %d elements, but %d bytes are left", size, len(s.Buf)-s.At))
		return 0, 0
	}
	return h & 15, int(size)
}

// ListOf reads the header of a list whose elements must be of type elem; an empty list may be of any.
func (s *Scanner) ListOf(elem byte) int {
	e, n := s.List()
	if n > 0 && e != elem {
		s.Fail(fmt.Errorf("list elements have type %d, not %d", e, elem))
		return 0
	}
	return n
}

// Want reports whether a field has the type that the format has, and fails where it has another.
func (s *Scanner) Want(got, want byte) bool {
	if got == want {
		return true
	}
	s.Fail(fmt.Errorf("field has type %d, not %d", got, want))
	return false
}

// Skip skips a value of the type; depth is how deep it is nested.
func (s *Scanner) Skip(typ byte, depth int) {
	if depth > maxDepth {
		s.Fail(errDepth)
		return
	}
	switch typ {
	case True, False: // as a field: the value is the type
	case I8:
		s.Byte()
	case I16, I32, I64:
		s.Uvarint()
	case Double:
		s.Advance(8)
	case UUID:
		s.Advance(16)
	case Binary:
		s.Bytes()
	case List, Set:
		e, n := s.List()
		for ; n > 0 && s.Err == nil; n-- {
			s.skipElem(e, depth+1)
		}
	case Map:
		s.skipMap(depth)
	case Struct:
		var id int16
		for t, ok := s.Field(&id); ok; t, ok = s.Field(&id) {
			s.Skip(t, depth+1)
		}
	default:
		s.Fail(fmt.Errorf("unknown type %d", typ))
	}
}

// skipElem skips an element of a list, where a bool has a byte of its own.
func (s *Scanner) skipElem(typ byte, depth int) {
	if typ == True || typ == False {
		s.Byte()
		return
	}
	s.Skip(typ, depth)
}

func (s *Scanner) skipMap(depth int) {
	n := s.Uvarint()
	if n == 0 {
		return
	}
	if n > uint64(len(s.Buf)-s.At) {
		s.Fail(fmt.Errorf("map of %d entries, but %d bytes are left", n, len(s.Buf)-s.At))
		return
	}
	types := s.Byte()
	for ; n > 0 && s.Err == nil; n-- {
		s.skipElem(types>>4, depth+1)
		s.skipElem(types&15, depth+1)
	}
}

// Advance skips n bytes.
func (s *Scanner) Advance(n int) {
	if n > len(s.Buf)-s.At {
		s.Fail(errCut)
		return
	}
	s.At += n
}

// Int32 reads a field of type i32 that must not be negative.
func (s *Scanner) Int32(typ byte) int32 {
	if !s.Want(typ, I32) {
		return -1
	}
	v := s.Int()
	if v < 0 || v > math.MaxInt32 {
		s.Fail(fmt.Errorf("number %d is out of range", v))
		return -1
	}
	return int32(v)
}

// Signed32 reads a field of type i32.
func (s *Scanner) Signed32(typ byte) int32 {
	if !s.Want(typ, I32) {
		return -1
	}
	return int32(max(math.MinInt32+1, min(s.Int(), math.MaxInt32)))
}

// Int64 reads a field of type i64.
func (s *Scanner) Int64(typ byte) int64 {
	if !s.Want(typ, I64) {
		return 0
	}
	return s.Int()
}

// StructSpan skips a struct and returns its range in Buf, its stop byte included.
func (s *Scanner) StructSpan() Span {
	start := s.At
	s.Skip(Struct, 0)
	return Span{uint32(start), uint32(s.At)}
}

// A Span is a range of bytes, of a footer for example.
type Span struct{ Start, End uint32 }

// Of returns the bytes of the span.
func (p Span) Of(b []byte) []byte { return b[p.Start:p.End] }

// Within returns the range relative to outer, which contains it.
func (p Span) Within(outer Span) Span { return Span{p.Start - outer.Start, p.End - outer.Start} }

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// AppendInt appends v as a zigzag integer.
func AppendInt(b []byte, v int64) []byte { return binary.AppendUvarint(b, zigzag(v)) }

// AppendBytes appends v as a binary.
func AppendBytes[T string | []byte](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// AppendList appends the header of a list of n elements of type elem.
func AppendList(b []byte, elem byte, n int) []byte {
	if n < 15 {
		return append(b, byte(n)<<4|elem)
	}
	return binary.AppendUvarint(append(b, 0xf0|elem), uint64(n))
}

// A StructWriter appends the fields of one struct, in ascending or any other order of their ids. The zero value begins one.
type StructWriter struct{ last int16 }

// Field appends the header of a field; its value follows.
func (w *StructWriter) Field(b []byte, id int16, typ byte) []byte {
	d := int(id) - int(w.last)
	w.last = id
	if d > 0 && d <= 15 {
		return append(b, byte(d)<<4|typ)
	}
	return AppendInt(append(b, typ), int64(id))
}

// Int appends an integer field of type typ.
func (w *StructWriter) Int(b []byte, id int16, typ byte, v int64) []byte {
	return AppendInt(w.Field(b, id, typ), v)
}

// Bool appends a bool field.
func (w *StructWriter) Bool(b []byte, id int16, v bool) []byte {
	if v {
		return w.Field(b, id, True)
	}
	return w.Field(b, id, False)
}

// Stop appends the end of the struct.
func (w *StructWriter) Stop(b []byte) []byte { return append(b, Stop) }

// An Edit is one field that Rewrite replaces or adds. Type 0 leaves the field out.
type Edit struct {
	ID   int16
	Type byte
	Num  int64  // of integers
	Raw  []byte // of a binary its bytes; of lists and structs their encoding
	Was  Span   // of the value within the struct, where it is known: at that place it need not be scanned
	// Put appends the encoding of a list or struct that is too large to be made twice. It may be called again.
	Put func(b []byte) []byte
}

func (e *Edit) append(b []byte, w *StructWriter) []byte {
	if e.Type == Stop {
		return b
	}
	b = w.Field(b, e.ID, e.Type)
	switch e.Type {
	case I8:
		return append(b, byte(e.Num))
	case I16, I32, I64:
		return AppendInt(b, e.Num)
	case Binary:
		return AppendBytes(b, e.Raw)
	}
	if e.Put != nil {
		return e.Put(b)
	}
	return append(b, e.Raw...)
}

// Rewrite appends the struct src, its stop byte included, with edits made, which must be in ascending order of their
// ids. Every other field, known or not, is kept byte for byte, and a field that does not exist stays away unless an edit sets
// it. Fields that are not in ascending order, which is allowed but done by no writer that we know, come out in it.
func Rewrite(b, src []byte, edits []Edit) ([]byte, error) {
	s := Scanner{Buf: src}
	var w StructWriter
	var id, last int16
	start, next := len(b), 0
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		if id <= last {
			return rewriteUnordered(b[:start], src, edits)
		}
		last = id
		for ; next < len(edits) && edits[next].ID < id; next++ { // new fields go where their number belongs
			b = edits[next].append(b, &w)
		}
		at := s.At
		if next == len(edits) || edits[next].ID != id {
			s.Skip(typ, 0)
			b = append(w.Field(b, id, typ), src[at:s.At]...)
			continue
		}
		if was := edits[next].Was; was.End > was.Start && int(was.Start) == at { // a field that occurs twice is elsewhere too
			s.Advance(int(was.End - was.Start))
		} else {
			s.Skip(typ, 0)
		}
		b = edits[next].append(b, &w)
		next++
	}
	for ; next < len(edits); next++ {
		b = edits[next].append(b, &w)
	}
	return w.Stop(b), s.Err
}

// rewriteUnordered is Rewrite for fields in any order: it sorts them first. Of a field that occurs twice the last
// one counts, as in every reader.
func rewriteUnordered(b, src []byte, edits []Edit) ([]byte, error) {
	type part struct {
		id    int16
		typ   byte
		value []byte
	}
	var parts []part
	s := Scanner{Buf: src}
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		at := s.At
		s.Skip(typ, 0)
		parts = slices.DeleteFunc(parts, func(p part) bool { return p.id == id })
		parts = append(parts, part{id, typ, src[at:s.At]})
	}
	if s.Err != nil {
		return b, s.Err
	}
	slices.SortFunc(parts, func(x, y part) int { return int(x.id) - int(y.id) })
	if len(parts) > 0 && parts[0].id <= 0 {
		return b, fmt.Errorf("field %d of a struct: fields are numbered from 1", parts[0].id)
	}
	var w StructWriter
	var sorted []byte
	for _, p := range parts {
		sorted = append(w.Field(sorted, p.id, p.typ), p.value...)
	}
	return Rewrite(b, w.Stop(sorted), edits)
}
