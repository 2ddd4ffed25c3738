package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/debug"
)

const (
	firstRead = 16 << 10 // doubled at each read
	readSize  = 1 << 20  // until there
)

// A rowScanner cuts a file into rows: lines that are not blank, or the elements of the one array that the file is. It
// looks only as deep as it must to do so.
type rowScanner struct {
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

// A spot is a place in a file where reading may begin: at the start of a line, or of an element.
type spot struct {
	row       int64 // rows before it
	offset    int64
	line      int64
	lineStart int64
}

func newRowScanner(file io.ReaderAt, array bool, at spot, limit int64) *rowScanner {
	return &rowScanner{file: file, array: array, limit: limit, base: at.offset, line: at.line, lineStart: at.lineStart}
}

// fill reads more behind what is in buf. It drops what was handed out. more is false at the end of the file.
func (s *rowScanner) fill() (more bool, err error) {
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
func (s *rowScanner) grow() {
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
func (s *rowScanner) shrink() {
	rest := s.buf[s.pos:]
	if cap(s.buf) < hugeRow || len(rest) >= hugeRow {
		return
	}
	s.base += int64(s.pos)
	s.buf, s.pos = append(make([]byte, 0, max(len(rest), readSize)), rest...), 0
	debug.FreeOSMemory()
}

func (s *rowScanner) tooLong() error {
	what := "line"
	if s.array {
		what = "object"
	}
	return &place{line: s.line, col: s.base + int64(s.pos) - s.lineStart,
		msg: fmt.Sprintf("this %s has more than %d bytes, which is the most that is read: raise --max-line-bytes", what, s.limit)}
}

// next returns the next row, valid until the next call; io.EOF at the end.
func (s *rowScanner) next() ([]byte, error) {
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

func (s *rowScanner) nextLine() ([]byte, error) {
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
func (s *rowScanner) began() {
	s.rowLine, s.rowStart = s.line, s.base+int64(s.pos)
	s.rowCol = s.rowStart - s.lineStart
}

// nextElement returns the next element of the array. Its opening bracket is passed by open, where reading begins at the
// start of the file.
func (s *rowScanner) nextElement() ([]byte, error) {
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
func (s *rowScanner) element() error {
	depth, i, inText := 0, s.pos, false
	for {
		for ; i < len(s.buf); i++ {
			if inText {
				if i = special(s.buf, i); i >= len(s.buf) {
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
			return &place{line: s.rowLine, col: s.rowCol, msg: "the file ends within this object: it is cut off"}
		}
		i += s.pos
	}
}

// newlines counts the lines that begin in buf[from:to].
func (s *rowScanner) newlines(from, to int) {
	part := s.buf[from:to]
	if n := bytes.Count(part, []byte{'\n'}); n > 0 {
		s.line += int64(n)
		s.lineStart = s.base + int64(from+bytes.LastIndexByte(part, '\n')+1)
	}
}

// within is skipSpace where the array is not yet closed.
func (s *rowScanner) within() (byte, error) {
	c, err := s.skipSpace()
	if err == io.EOF {
		err = &place{line: s.line, col: s.base + int64(s.pos) - s.lineStart, msg: "the file ends within its array: it is cut off"}
	}
	return c, err
}

// skipSpace moves pos to the next byte that is no white space and returns it; io.EOF where there is none.
func (s *rowScanner) skipSpace() (byte, error) {
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
func (s *rowScanner) endOfArray() error {
	s.pos++
	c, err := s.skipSpace()
	if err == nil {
		err = s.misplaced(c, "nothing more behind the array")
	}
	return err
}

// open passes the bracket that opens the array.
func (s *rowScanner) open() error {
	if _, err := s.within(); err != nil {
		return err
	}
	s.pos++
	return nil
}

// A place is a syntax error between rows.
type place struct {
	line, col int64 // col from 0
	msg       string
}

func (p *place) Error() string { return p.msg }

func (s *rowScanner) misplaced(c byte, want string) error {
	return &place{line: s.line, col: s.base + int64(s.pos) - s.lineStart, msg: fmt.Sprintf("unexpected %q, expected %s", rune(c), want)}
}

// position returns the line and the column, from 1, of offset at in the row that next returned.
func (s *rowScanner) position(row []byte, at int) (line int64, col int) {
	before := row[:at]
	if n := bytes.Count(before, []byte{'\n'}); n > 0 {
		return s.rowLine + int64(n), at - bytes.LastIndexByte(before, '\n')
	}
	return s.rowLine, int(s.rowCol) + at + 1
}

// A layout is where the rows of a file stand.
type layout struct {
	array bool
	rows  int64
	most  int    // bytes of the longest
	spots []spot // at the first row, and from there about every spotRows
	end   int64  // size of the text
}

const (
	spotRows  = 1024    // rows between two spots
	spotBytes = 1 << 20 // or bytes, whatever comes first
)

// scanRows walks all rows of the file from start on and calls each, where it is not nil.
func scanRows(ctx context.Context, file io.ReaderAt, array bool, start spot, limit int64, each func(s *rowScanner, row []byte) error) (*layout, error) {
	s := newRowScanner(file, array, start, limit)
	l := &layout{array: array}
	if array {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	for last := (spot{}); ; l.rows++ {
		if l.rows%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		row, err := s.next()
		if err == io.EOF {
			l.end = s.base + int64(len(s.buf))
			if s.buf = nil; l.most >= hugeRow {
				debug.FreeOSMemory()
			}
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		if l.rows == 0 || l.rows-last.row >= spotRows || s.rowStart-last.offset >= spotBytes {
			last = spot{row: l.rows, offset: s.rowStart, line: s.rowLine, lineStart: s.rowStart - s.rowCol}
			l.spots = append(l.spots, last)
		}
		l.most = max(l.most, len(row))
		if each != nil {
			if err := each(s, row); err != nil {
				return nil, err
			}
		}
	}
}
