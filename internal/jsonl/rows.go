package jsonl

import (
	"bytes"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/rlprep/rlprep/schema/jsontext"
)

const (
	firstRead = 16 << 10 // doubled at each read
	readSize  = 1 << 20  // until there
)

// A scanner cuts a file into rows: lines that are not blank, or the elements of the one array that the file is. It
// looks only as deep as it must to do so.
type scanner struct {
	file  io.ReaderAt
	array bool
	limit int64 // bytes of one row

	buf  []byte
	base int64 // offset in the file of buf[0]
	pos  int   // of what is not yet handed out
	eof  bool

	line      int64 // number of the line at pos, from 1
	lineStart int64 // offset at which it begins
	after     bool  // array: an element stands before pos

	// Of the row that next returned:
	rowLine  int64
	rowStart int64 // offset of its first byte
	rowCol   int64 // offset within the line, of its first byte
}

func (t *Text) scanner(at Spot) *scanner {
	return &scanner{file: t.At, array: t.Array, limit: t.Limit, base: at.Offset, line: at.Line, lineStart: at.LineStart}
}

// fill reads more behind what is in buf. It drops what was handed out. more is false at the end of the file.
func (s *scanner) fill() (more bool, err error) {
	if s.eof {
		return false, nil
	}
	if s.pos > 0 {
		n := copy(s.buf, s.buf[s.pos:])
		s.buf, s.base, s.pos = s.buf[:n], s.base+int64(s.pos), 0
	}
	n := len(s.buf)
	if int64(n) > s.limit {
		return false, s.tooLong()
	}
	if cap(s.buf) < readSize || cap(s.buf)-n < readSize/2 {
		s.grow()
	}
	got, err := s.file.ReadAt(s.buf[n:cap(s.buf)], s.base+int64(n))
	s.buf = s.buf[:n+got]
	if err == io.EOF {
		s.eof, err = true, nil
	}
	return got > 0, err
}

// grow makes room for more, at least for a piece of readSize: doubled each time, but hardly more than a row may have.
func (s *scanner) grow() {
	size := max(firstRead, 2*cap(s.buf))
	if most := s.limit + 1 + readSize; int64(size) > most {
		size = max(int(most), len(s.buf)+readSize)
	}
	if size >= hugeRow {
		debug.FreeOSMemory() // smaller buffers are not to be in memory beside it
	}
	grown := make([]byte, len(s.buf), size)
	copy(grown, s.buf)
	s.buf = grown
}

// hugeRow is the size from which on the memory of a row is not kept for the next.
const hugeRow = 64 << 20

// shrink gives up the buffer of a huge row that was handed out.
func (s *scanner) shrink() {
	rest := s.buf[s.pos:]
	if cap(s.buf) < hugeRow || len(rest) >= hugeRow {
		return
	}
	s.base += int64(s.pos)
	s.buf, s.pos = append(make([]byte, 0, max(len(rest), readSize)), rest...), 0
	debug.FreeOSMemory()
}

func (s *scanner) tooLong() error {
	what := "line"
	if s.array {
		what = "object"
	}
	return &Error{Line: s.line, Column: int(s.base+int64(s.pos)-s.lineStart) + 1,
		Message: fmt.Sprintf("this %s has more than %d bytes, which is the most that is read: raise --max-line-bytes", what, s.limit)}
}

// next returns the next row, valid until the next call; io.EOF at the end.
func (s *scanner) next() ([]byte, error) {
	if s.array {
		return s.nextElement()
	}
	for {
		line, err := s.nextLine()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
			return line, nil
		}
	}
}

func (s *scanner) nextLine() ([]byte, error) {
	for from := 0; ; {
		if end := bytes.IndexByte(s.buf[s.pos+from:], '\n'); end >= 0 {
			end += s.pos + from
			line := s.buf[s.pos:end]
			if int64(len(line)) > s.limit {
				return nil, s.tooLong()
			}
			s.began()
			s.pos = end + 1
			s.line++
			s.lineStart = s.base + int64(s.pos)
			return line, nil
		}
		from = len(s.buf) - s.pos
		more, err := s.fill()
		if err != nil {
			return nil, err
		}
		if !more && s.eof {
			line := s.buf[s.pos:]
			if len(line) == 0 {
				return nil, io.EOF
			}
			if int64(len(line)) > s.limit {
				return nil, s.tooLong()
			}
			s.began()
			s.pos = len(s.buf)
			return line, nil
		}
	}
}

// began notes that a row begins at pos.
func (s *scanner) began() {
	s.rowLine, s.rowStart = s.line, s.base+int64(s.pos)
	s.rowCol = s.rowStart - s.lineStart
}

// nextElement returns the next element of the array. Its opening bracket is passed by open, where reading begins at the
// start of the file.
func (s *scanner) nextElement() ([]byte, error) {
	c, err := s.within()
	if err != nil {
		return nil, err
	}
	if c == ']' {
		return nil, s.endOfArray()
	}
	if s.after {
		if c != ',' {
			return nil, s.misplaced(c, "',' or ']' behind an element")
		}
		s.pos++
		if c, err = s.within(); err != nil {
			return nil, err
		}
	}
	if c != '{' {
		return nil, s.misplaced(c, "an object")
	}
	s.began()
	if err := s.element(); err != nil {
		return nil, err
	}
	s.after = true
	start := int(s.rowStart - s.base)
	if int64(s.pos-start) > s.limit {
		s.pos, s.line, s.lineStart = start, s.rowLine, s.rowStart-s.rowCol
		return nil, s.tooLong()
	}
	return s.buf[start:s.pos], nil
}

// element moves pos behind the object at pos, counting only its braces and minding text.
func (s *scanner) element() error {
	depth, i, inText := 0, s.pos, false
	for {
		for ; i < len(s.buf); i++ {
			if inText {
				if i = jsontext.Special(s.buf, i); i >= len(s.buf) {
					break
				}
			}
			switch s.buf[i] {
			case '"':
				inText = !inText
			case '\\':
				if inText {
					i++ // may step over the end of buf; what is escaped is then read later
				}
			case '{':
				depth++
			case '}':
				if depth--; depth == 0 && !inText {
					s.newlines(s.pos, i)
					s.pos = i + 1
					return nil
				}
			}
		}
		i -= s.pos
		more, err := s.fill()
		if err != nil {
			return err
		}
		if !more && s.eof {
			return &Error{Line: s.rowLine, Column: int(s.rowCol) + 1, Message: "the file ends within this object: it is cut off"}
		}
		i += s.pos
	}
}

// newlines counts the lines that begin in buf[from:to].
func (s *scanner) newlines(from, to int) {
	part := s.buf[from:to]
	if n := bytes.Count(part, []byte{'\n'}); n > 0 {
		s.line += int64(n)
		s.lineStart = s.base + int64(from+bytes.LastIndexByte(part, '\n')+1)
	}
}

// within is skipSpace where the array is not yet closed.
func (s *scanner) within() (byte, error) {
	c, err := s.skipSpace()
	if err == io.EOF {
		err = &Error{Line: s.line, Column: int(s.base+int64(s.pos)-s.lineStart) + 1, Message: "the file ends within its array: it is cut off"}
	}
	return c, err
}

// skipSpace moves pos to the next byte that is no white space and returns it; io.EOF where there is none.
func (s *scanner) skipSpace() (byte, error) {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch c := s.buf[s.pos]; c {
			case '\n':
				s.line++
				s.lineStart = s.base + int64(s.pos) + 1
			case ' ', '\t', '\r':
			default:
				return c, nil
			}
		}
		more, err := s.fill()
		if err != nil {
			return 0, err
		}
		if !more && s.eof {
			return 0, io.EOF
		}
	}
}

// endOfArray checks that nothing follows the bracket at pos.
func (s *scanner) endOfArray() error {
	s.pos++
	c, err := s.skipSpace()
	if err == nil {
		err = s.misplaced(c, "nothing more behind the array")
	}
	return err
}

// open passes the bracket that opens the array.
func (s *scanner) open() error {
	if _, err := s.within(); err != nil {
		return err
	}
	s.pos++
	return nil
}

func (s *scanner) misplaced(c byte, want string) error {
	return &Error{Line: s.line, Column: int(s.base+int64(s.pos)-s.lineStart) + 1, Message: fmt.Sprintf("unexpected %q, expected %s", rune(c), want)}
}

// position returns the line and the column, from 1, of offset at in the row that next returned.
func (s *scanner) position(row []byte, at int) (line int64, col int) {
	before := row[:at]
	if n := bytes.Count(before, []byte{'\n'}); n > 0 {
		return s.rowLine + int64(n), at - bytes.LastIndexByte(before, '\n')
	}
	return s.rowLine, int(s.rowCol) + at + 1
}
