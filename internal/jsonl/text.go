// Package jsonl reads JSON Lines and files that are one array of JSON objects: it cuts text into rows, finds out their columns, and reads
// ranges of rows into columns. It is the sibling of parquetio. Where the text comes from is its caller's to say.
package jsonl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"

	"github.com/rlprep/rlprep/schema/jsontext"
)

// A Text is the decompressed text of one file.
type Text struct {
	At    io.ReaderAt
	Size  int64 // bytes
	Limit int64 // bytes of one row
	// SkipBroken takes a line that is no JSON object for a row that cannot be read: Infer lists it, and a Reader returns it as a fault. It does
	// not hold for an array, whose elements have no end that a syntax error leaves certain.
	SkipBroken bool

	// Start and Array are what Begin found: where reading begins, and whether the text is one array.
	Start Spot
	Array bool
}

// An Error is text that cannot be read as rows.
type Error struct {
	Line    int64 // from 1; 0: the whole text
	Column  int   // from 1, in bytes
	Message string
	OneLine bool // it is about one line: SkipBroken skips it
}

// Error returns "LINE:COLUMN: message".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return strconv.FormatInt(e.Line, 10) + ":" + strconv.Itoa(e.Column) + ": " + e.Message
}

var bom = []byte{0xef, 0xbb, 0xbf}

// Begin finds out where the rows of the text begin, behind a byte order mark, and whether they are the elements of an array.
func (t *Text) Begin() error {
	t.Start = Spot{Line: 1}
	head := make([]byte, 4096)
	n, err := t.At.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	head = head[:n]
	if encoding := notUTF8(head); encoding != "" {
		return &Error{Message: fmt.Sprintf("text in %.6s, not UTF-8: convert it with: iconv -f %s -t UTF-8", encoding, encoding)}
	}
	if bytes.HasPrefix(head, bom) {
		t.Start.Offset, t.Start.LineStart = int64(len(bom)), int64(len(bom))
		head = head[len(bom):]
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	t.Array = len(head) > 0 && head[0] == '['
	return nil
}

// notUTF8 returns the encoding of JSON text that begins with head where that is UTF-16 or UTF-32, told by its byte order mark or by the zeros
// around the first character, which is ASCII; else "".
func notUTF8(head []byte) string {
	for _, e := range []struct{ mark, name string }{
		{"\xff\xfe\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"},
	} {
		if bytes.HasPrefix(head, []byte(e.mark)) {
			return e.name
		}
	}
	if len(head) < 4 {
		return ""
	}
	zero := [4]bool{head[0] == 0, head[1] == 0, head[2] == 0, head[3] == 0}
	return map[[4]bool]string{
		{false, true, true, true}: "UTF-32LE", {true, true, true, false}: "UTF-32BE",
		{false, true, false, true}: "UTF-16LE", {true, false, true, false}: "UTF-16BE",
		{false, true, false, false}: "UTF-16LE", {true, false, false, false}: "UTF-16BE", // the second character is no ASCII
	}[zero]
}

// A Spot is a place in a text where reading may begin: at the start of a line, or of an element.
type Spot struct {
	Row       int64 // rows before it
	Offset    int64
	Line      int64 // from 1
	LineStart int64 // offset at which the line begins
}

// A Layout is where the rows of a text are.
type Layout struct {
	Rows    int64
	Longest int      // bytes of the longest row
	Spots   []Spot   // at the first row, and from there about every spotRows
	End     int64    // size of the text
	Keys    []string // of the first row that has any, in order; empty where none has, nil without rows
	Broken  []Broken // the rows that SkipBroken skipped, in order; Scan does not look for them
}

// A Broken is a row that is no JSON object.
type Broken struct {
	Row int64 // from 0
	*Error
}

// maxBroken is how many broken rows of a text are listed. A text with more is no JSON Lines.
const maxBroken = 10_000

const (
	spotRows  = 1024    // rows between two spots
	spotBytes = 1 << 20 // or bytes, whatever comes first
)

// Scan walks all rows of the text without reading their values.
func (t *Text) Scan(ctx context.Context) (*Layout, error) { return t.scan(ctx, nil) }

// scan walks all rows of the text and calls each, where it is not nil.
func (t *Text) scan(ctx context.Context, each func(s *scanner, row []byte) error) (*Layout, error) {
	s := t.scanner(t.Start)
	l := &Layout{}
	if t.Array {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	for last := (Spot{}); ; l.Rows++ {
		if l.Rows%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		row, err := s.next()
		if err == io.EOF {
			l.End = s.base + int64(len(s.buf))
			if s.buf = nil; l.Longest >= hugeRow {
				debug.FreeOSMemory()
			}
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		if l.Rows == 0 || l.Rows-last.Row >= spotRows || s.rowStart-last.Offset >= spotBytes {
			last = Spot{Row: l.Rows, Offset: s.rowStart, Line: s.rowLine, LineStart: s.rowStart - s.rowCol}
			l.Spots = append(l.Spots, last)
		}
		l.Longest = max(l.Longest, len(row))
		if len(l.Keys) == 0 {
			l.Keys = keys(row)
		}
		if each != nil {
			if err := each(s, row); err != nil {
				return nil, err
			}
		}
	}
}

// keys returns the keys of the object in row, in order; none where it is no object.
func keys(row []byte) []string {
	out := []string{}
	p := jsontext.Parser{Src: row}
	if p.Peek() != '{' {
		return out
	}
	p.Pos++
	for again := p.Peek() == '"'; again; {
		key, ok := p.Member()
		if !ok || !p.Skip(1) {
			return out
		}
		out = append(out, string(key))
		again, _ = p.More('}')
	}
	return out
}

// syntaxError places the error that p holds about the row that s returned; first is the line of the text's first row.
func (t *Text) syntaxError(s *scanner, row []byte, p *jsontext.Parser, first int64) *Error {
	line, col := s.position(row, p.ErrAt)
	msg := p.ErrMsg
	if !s.array && p.ErrAt >= len(row) && s.rowLine == first && s.rowStart+int64(len(row)) < t.Size {
		msg += " (one object a line, or one array of objects, is what can be read)"
	}
	return &Error{Line: line, Column: col, Message: msg, OneLine: !s.array}
}
