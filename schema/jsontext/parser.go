// Package jsontext reads JSON text: a parser that walks it byte by byte, and on top of it the decoder of text to schema.Value. Nothing else in
// rlprep turns JSON into values, but for json.loads of map functions, which makes Starlark's values as Python does.
package jsontext

import (
	"encoding/binary"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/rlprep/rlprep/schema"
)

// MaxDepth is how deep JSON may be nested. Python gives up at about 1,000 as well.
const MaxDepth = 1000

// A Parser walks one JSON text. It takes what Python's json module takes, so NaN, Infinity and -Infinity too, and leaves
// the bytes of text as they are, valid UTF-8 or not. A method that returns false has noted a syntax error.
type Parser struct {
	Src []byte // the text
	Pos int    // the offset of the next byte

	ErrAt  int    // the offset of the first syntax error
	ErrMsg string // and what it is; "" for none

	Lone bool // the last text held half of a surrogate pair
	Keep bool // half a surrogate pair is kept, as the three bytes that UTF-8 would have for it and that no UTF-8 is

	key []byte // scratch: a key that has escapes
}

// Fail notes a syntax error at offset at; the first one counts.
func (p *Parser) Fail(at int, msg string) bool {
	if p.ErrMsg == "" {
		p.ErrAt, p.ErrMsg = min(at, len(p.Src)), msg
	}
	return false
}

// Unexpected notes what stands at p.Pos where what was expected.
func (p *Parser) Unexpected(what string) bool {
	if p.Pos >= len(p.Src) {
		return p.Fail(p.Pos, "unexpected end, expected "+what)
	}
	r, n := utf8.DecodeRune(p.Src[p.Pos:])
	if r == utf8.RuneError && n <= 1 {
		return p.Fail(p.Pos, "unexpected byte 0x"+strconv.FormatUint(uint64(p.Src[p.Pos]), 16)+", expected "+what)
	}
	return p.Fail(p.Pos, "unexpected "+strconv.QuoteRune(r)+", expected "+what)
}

// Peek skips white space and returns the byte there, 0 at the end.
func (p *Parser) Peek() byte {
	for p.Pos < len(p.Src) {
		c := p.Src[p.Pos]
		if c > ' ' || (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
			return c
		}
		p.Pos++
	}
	return 0
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Special returns the offset, from i on, of the first byte that text cannot hold as it is: a quote, a backslash or a
// control character; len(b) where there is none. It looks at eight bytes at a time.
func Special(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		q, s := w^(ones*'"'), w^(ones*'\\')
		if ((q-ones)&^q|(s-ones)&^s|(w-ones*0x20)&^w)&highs != 0 {
			break
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

// AppendText appends to dst the text whose opening quote stands at p.Pos. Half a surrogate pair sets p.Lone and becomes U+FFFD, but where p.Keep is set.
func (p *Parser) AppendText(dst []byte) ([]byte, bool) {
	p.Lone = false
	open := p.Pos
	for i := p.Pos + 1; ; {
		j := Special(p.Src, i)
		dst = append(dst, p.Src[i:j]...)
		if j >= len(p.Src) {
			return dst, p.Fail(open, "text without a closing quote")
		}
		switch p.Src[j] {
		case '"':
			p.Pos = j + 1
			return dst, true
		case '\\':
			var ok bool
			if dst, i, ok = p.escape(dst, j); !ok {
				return dst, false
			}
		default:
			return dst, p.Fail(j, "control character "+strconv.QuoteRune(rune(p.Src[j]))+" in text, which JSON writes as an escape")
		}
	}
}

// unescaped maps the byte after a backslash to what it stands for; 0: no such escape.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape appends what the escape at offset j stands for and returns the offset behind it.
func (p *Parser) escape(dst []byte, j int) ([]byte, int, bool) {
	if j+1 < len(p.Src) {
		if c := unescaped[p.Src[j+1]]; c != 0 {
			return append(dst, c), j + 2, true
		}
	}
	r, ok := p.hex(j)
	if !ok {
		return dst, j, p.Fail(j, `wrong escape in text`)
	}
	j += 6
	if r&0xF800 == 0xD800 {
		low, ok := p.hex(j)
		if r < 0xDC00 && ok && low&0xFC00 == 0xDC00 {
			r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
			j += 6
		} else {
			p.Lone = true
			if p.Keep {
				return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF), j, true
			}
			r = utf8.RuneError
		}
	}
	return utf8.AppendRune(dst, r), j, true
}

// hex returns the number of the \uXXXX at offset j.
func (p *Parser) hex(j int) (rune, bool) {
	if j+6 > len(p.Src) || p.Src[j] != '\\' || p.Src[j+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range p.Src[j+2 : j+6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// SkipText passes over the text whose opening quote stands at p.Pos.
func (p *Parser) SkipText() bool {
	open := p.Pos
	for i := p.Pos + 1; ; {
		j := Special(p.Src, i)
		if j >= len(p.Src) {
			return p.Fail(open, "text without a closing quote")
		}
		switch p.Src[j] {
		case '"':
			p.Pos = j + 1
			return true
		case '\\':
			if j+1 < len(p.Src) && unescaped[p.Src[j+1]] != 0 {
				i = j + 2
			} else if _, ok := p.hex(j); ok {
				i = j + 6
			} else {
				return p.Fail(j, "wrong escape in text")
			}
		default:
			return p.Fail(j, "control character "+strconv.QuoteRune(rune(p.Src[j]))+" in text, which JSON writes as an escape")
		}
	}
}

// Member reads the key at p.Pos and the colon behind it. The key is valid until the next call.
func (p *Parser) Member() ([]byte, bool) {
	if p.Peek() != '"' {
		return nil, p.Unexpected("a key in double quotes")
	}
	var key []byte
	j := Special(p.Src, p.Pos+1)
	if j < len(p.Src) && p.Src[j] == '"' {
		key, p.Pos = p.Src[p.Pos+1:j], j+1
	} else {
		var ok bool
		if p.key, ok = p.AppendText(p.key[:0]); !ok {
			return nil, false
		}
		key = p.key
	}
	if p.Peek() != ':' {
		return nil, p.Unexpected("':'")
	}
	p.Pos++
	return key, true
}

// More passes the comma behind an element or member and reports whether another one follows; close is the bracket that
// ends the whole.
func (p *Parser) More(close byte) (again, ok bool) {
	switch p.Peek() {
	case ',':
		p.Pos++
		return true, true
	case close:
		p.Pos++
		return false, true
	}
	return false, p.Unexpected("',' or '" + string(rune(close)) + "'")
}

// A Number is a token: an integer, or something with a fraction or an exponent, or one of Python's names.
type Number struct {
	Text  []byte
	Float bool // it has a fraction or an exponent, or is one of the names
	Named bool // NaN, Infinity, -Infinity
}

// Number reads the number at p.Pos.
func (p *Parser) Number() (Number, bool) {
	b, i := p.Src, p.Pos
	start := i
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && '1' <= b[i] && b[i] <= '9':
		i = digits(b, i)
	default:
		return p.namedNumber(start, i)
	}
	var n Number
	if i < len(b) && b[i] == '.' {
		j := digits(b, i+1)
		if j == i+1 {
			return n, p.Fail(j, "a number needs a digit behind its point")
		}
		i, n.Float = j, true
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		j := i + 1
		if j < len(b) && (b[j] == '+' || b[j] == '-') {
			j++
		}
		if i = digits(b, j); i == j {
			return n, p.Fail(j, "a number needs a digit in its exponent")
		}
		n.Float = true
	}
	n.Text, p.Pos = b[start:i], i
	return n, true
}

func (p *Parser) namedNumber(start, i int) (Number, bool) {
	for _, name := range [...]string{"Infinity", "NaN"} {
		if end := i + len(name); end <= len(p.Src) && string(p.Src[i:end]) == name && (name != "NaN" || i == start) {
			p.Pos = end
			return Number{Text: p.Src[start:end], Float: true, Named: true}, true
		}
	}
	p.Pos = i
	return Number{}, p.Unexpected("a value")
}

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

// Int returns the integer, and false where it does not fit int64.
func (n Number) Int() (int64, bool) {
	t := n.Text
	neg := t[0] == '-'
	if neg {
		t = t[1:]
	}
	if len(t) > 18 {
		v, err := strconv.ParseInt(unsafeString(n.Text), 10, 64)
		return v, err == nil
	}
	var v int64
	for _, c := range t {
		v = v*10 + int64(c-'0')
	}
	if neg {
		v = -v
	}
	return v, true
}

// In returns the integer that a float of so many bits makes of n, and whether that is n. What is no integer counts as exact: it is the
// nearest number.
func (n Number) In(bits int) (became string, exact bool) {
	if n.Float || bits == 64 && len(n.Text) < 16 || len(n.Text) < 8 { // below 2^53, below 2^24
		return "", true
	}
	v := n.Double()
	if bits == 32 {
		v = float64(float32(v))
	}
	became = strconv.FormatFloat(v, 'f', 0, 64)
	return schema.Cut(became, 40), became == string(n.Text)
}

// Double returns the nearest number; what is too large is infinite, as in Python.
func (n Number) Double() float64 {
	if len(n.Text) < 16 && !n.Float {
		v, _ := n.Int()
		if v != 0 || n.Text[0] != '-' {
			return float64(v)
		}
	}
	v, _ := strconv.ParseFloat(unsafeString(n.Text), 64) // an error says out of range, with ±Inf or 0
	return v
}

// unsafeString views b as a string, for a call that does not keep it.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Literal passes the word that begins at p.Pos.
func (p *Parser) Literal(word string) bool {
	if end := p.Pos + len(word); end <= len(p.Src) && string(p.Src[p.Pos:end]) == word {
		p.Pos = end
		return true
	}
	return p.Unexpected("a value")
}

// Skip passes over any value, checking it.
func (p *Parser) Skip(depth int) bool {
	switch c := p.Peek(); c {
	case '"':
		return p.SkipText()
	case '{', '[':
		if depth >= MaxDepth {
			return p.Fail(p.Pos, "nested more than "+strconv.Itoa(MaxDepth)+" deep")
		}
		p.Pos++
		if c == '{' {
			return p.skipMembers(depth + 1)
		}
		return p.skipElements(depth + 1)
	case 't':
		return p.Literal("true")
	case 'f':
		return p.Literal("false")
	case 'n':
		return p.Literal("null")
	default:
		_, ok := p.Number()
		return ok
	}
}

func (p *Parser) skipMembers(depth int) bool {
	if p.Peek() == '}' {
		p.Pos++
		return true
	}
	for {
		if p.Peek() != '"' {
			return p.Unexpected("a key in double quotes")
		}
		if !p.SkipText() {
			return false
		}
		if p.Peek() != ':' {
			return p.Unexpected("':'")
		}
		p.Pos++
		if !p.Skip(depth) {
			return false
		}
		if again, ok := p.More('}'); !again {
			return ok
		}
	}
}

func (p *Parser) skipElements(depth int) bool {
	if p.Peek() == ']' {
		p.Pos++
		return true
	}
	for {
		if !p.Skip(depth) {
			return false
		}
		if again, ok := p.More(']'); !again {
			return ok
		}
	}
}
