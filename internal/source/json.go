package source

import (
	"encoding/binary"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/rlprep/rlprep/schema"
)

// maxDepth is how deep JSON may be nested. Python gives up at about 1,000 as well.
const maxDepth = 1000

// A parser walks one JSON text. It takes what Python's json module takes, so NaN, Infinity and -Infinity too, and leaves
// the bytes of text as they are, valid UTF-8 or not.
type parser struct {
	b []byte
	i int

	errAt  int
	errMsg string

	lone bool   // the last text held half of a surrogate pair
	keep bool   // half a surrogate pair is kept, as the three bytes that UTF-8 would have for it and that no UTF-8 is
	key  []byte // scratch: a key that has escapes
}

// fail notes a syntax error at offset at; the first one counts.
func (p *parser) fail(at int, msg string) bool {
	if p.errMsg == "" {
		p.errAt, p.errMsg = min(at, len(p.b)), msg
	}
	return false
}

// unexpected notes what stands at p.i where what was expected.
func (p *parser) unexpected(what string) bool {
	if p.i >= len(p.b) {
		return p.fail(p.i, "unexpected end, expected "+what)
	}
	r, n := utf8.DecodeRune(p.b[p.i:])
	if r == utf8.RuneError && n <= 1 {
		return p.fail(p.i, "unexpected byte 0x"+strconv.FormatUint(uint64(p.b[p.i]), 16)+", expected "+what)
	}
	return p.fail(p.i, "unexpected "+strconv.QuoteRune(r)+", expected "+what)
}

// peek skips white space and returns the byte there, 0 at the end.
func (p *parser) peek() byte {
	for p.i < len(p.b) {
		c := p.b[p.i]
		if c > ' ' || (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
			return c
		}
		p.i++
	}
	return 0
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special returns the offset, from i on, of the first byte that text cannot hold as it is: a quote, a backslash or a
// control character; len(b) where there is none. It looks at eight bytes at a time.
func special(b []byte, i int) int {
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

// text appends to dst the text whose opening quote stands at p.i. Half a surrogate pair sets p.lone and becomes U+FFFD, but where p.keep is set.
func (p *parser) text(dst []byte) ([]byte, bool) {
	p.lone = false
	open := p.i
	for i := p.i + 1; ; {
		j := special(p.b, i)
		dst = append(dst, p.b[i:j]...)
		if j >= len(p.b) {
			return dst, p.fail(open, "text without a closing quote")
		}
		switch p.b[j] {
		case '"':
			p.i = j + 1
			return dst, true
		case '\\':
			var ok bool
			if dst, i, ok = p.escape(dst, j); !ok {
				return dst, false
			}
		default:
			return dst, p.fail(j, "control character "+strconv.QuoteRune(rune(p.b[j]))+" in text, which JSON writes as an escape")
		}
	}
}

// unescaped maps the byte after a backslash to what it stands for; 0: no such escape.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape appends what the escape at offset j stands for and returns the offset behind it.
func (p *parser) escape(dst []byte, j int) ([]byte, int, bool) {
	if j+1 < len(p.b) {
		if c := unescaped[p.b[j+1]]; c != 0 {
			return append(dst, c), j + 2, true
		}
	}
	r, ok := p.hex(j)
	if !ok {
		return dst, j, p.fail(j, `wrong escape in text`)
	}
	j += 6
	if r&0xF800 == 0xD800 {
		low, ok := p.hex(j)
		if r < 0xDC00 && ok && low&0xFC00 == 0xDC00 {
			r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
			j += 6
		} else {
			p.lone = true
			if p.keep {
				return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF), j, true
			}
			r = utf8.RuneError
		}
	}
	return utf8.AppendRune(dst, r), j, true
}

// hex returns the number of the \uXXXX at offset j.
func (p *parser) hex(j int) (rune, bool) {
	if j+6 > len(p.b) || p.b[j] != '\\' || p.b[j+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range p.b[j+2 : j+6] {
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

// skipText passes over the text whose opening quote stands at p.i.
func (p *parser) skipText() bool {
	open := p.i
	for i := p.i + 1; ; {
		j := special(p.b, i)
		if j >= len(p.b) {
			return p.fail(open, "text without a closing quote")
		}
		switch p.b[j] {
		case '"':
			p.i = j + 1
			return true
		case '\\':
			if j+1 < len(p.b) && unescaped[p.b[j+1]] != 0 {
				i = j + 2
			} else if _, ok := p.hex(j); ok {
				i = j + 6
			} else {
				return p.fail(j, "wrong escape in text")
			}
		default:
			return p.fail(j, "control character "+strconv.QuoteRune(rune(p.b[j]))+" in text, which JSON writes as an escape")
		}
	}
}

// member reads the key at p.i and the colon behind it. The key is valid until the next call.
func (p *parser) member() ([]byte, bool) {
	if p.peek() != '"' {
		return nil, p.unexpected("a key in double quotes")
	}
	var key []byte
	j := special(p.b, p.i+1)
	if j < len(p.b) && p.b[j] == '"' {
		key, p.i = p.b[p.i+1:j], j+1
	} else {
		var ok bool
		if p.key, ok = p.text(p.key[:0]); !ok {
			return nil, false
		}
		key = p.key
	}
	if p.peek() != ':' {
		return nil, p.unexpected("':'")
	}
	p.i++
	return key, true
}

// more passes the comma behind an element or member and reports whether another one follows; close is the bracket that
// ends the whole.
func (p *parser) more(close byte) (again, ok bool) {
	switch p.peek() {
	case ',':
		p.i++
		return true, true
	case close:
		p.i++
		return false, true
	}
	return false, p.unexpected("',' or '" + string(rune(close)) + "'")
}

// A number is a token at p.i: an integer, or something with a fraction or an exponent, or one of Python's names.
type number struct {
	text  []byte
	float bool
	named bool // NaN, Infinity, -Infinity
}

// number reads the number at p.i.
func (p *parser) number() (number, bool) {
	b, i := p.b, p.i
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
	var n number
	if i < len(b) && b[i] == '.' {
		j := digits(b, i+1)
		if j == i+1 {
			return n, p.fail(j, "a number needs a digit behind its point")
		}
		i, n.float = j, true
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		j := i + 1
		if j < len(b) && (b[j] == '+' || b[j] == '-') {
			j++
		}
		if i = digits(b, j); i == j {
			return n, p.fail(j, "a number needs a digit in its exponent")
		}
		n.float = true
	}
	n.text, p.i = b[start:i], i
	return n, true
}

func (p *parser) namedNumber(start, i int) (number, bool) {
	for _, name := range [...]string{"Infinity", "NaN"} {
		if end := i + len(name); end <= len(p.b) && string(p.b[i:end]) == name && (name != "NaN" || i == start) {
			p.i = end
			return number{text: p.b[start:end], float: true, named: true}, true
		}
	}
	p.i = i
	return number{}, p.unexpected("a value")
}

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

// int returns the integer, and false where it does not fit int64.
func (n number) int() (int64, bool) {
	t := n.text
	neg := t[0] == '-'
	if neg {
		t = t[1:]
	}
	if len(t) > 18 {
		v, err := strconv.ParseInt(unsafeString(n.text), 10, 64)
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

// in returns the integer that a float of so many bits makes of n, and whether that is n. What is no integer counts as exact: it is the
// nearest number.
func (n number) in(bits int) (became string, exact bool) {
	if n.float || bits == 64 && len(n.text) < 16 || len(n.text) < 8 { // below 2^53, below 2^24
		return "", true
	}
	v := n.double()
	if bits == 32 {
		v = float64(float32(v))
	}
	became = strconv.FormatFloat(v, 'f', 0, 64)
	return schema.Cut(became, 40), became == string(n.text)
}

// double returns the nearest number; what is too large is infinite, as in Python.
func (n number) double() float64 {
	if len(n.text) < 16 && !n.float {
		v, _ := n.int()
		if v != 0 || n.text[0] != '-' {
			return float64(v)
		}
	}
	v, _ := strconv.ParseFloat(unsafeString(n.text), 64) // an error says out of range, with ±Inf or 0
	return v
}

// unsafeString views b as a string, for a call that does not keep it.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// literal passes the word that begins at p.i.
func (p *parser) literal(word string) bool {
	if end := p.i + len(word); end <= len(p.b) && string(p.b[p.i:end]) == word {
		p.i = end
		return true
	}
	return p.unexpected("a value")
}

// skip passes over any value, checking it.
func (p *parser) skip(depth int) bool {
	switch c := p.peek(); c {
	case '"':
		return p.skipText()
	case '{', '[':
		if depth >= maxDepth {
			return p.fail(p.i, "nested more than "+strconv.Itoa(maxDepth)+" deep")
		}
		p.i++
		if c == '{' {
			return p.skipMembers(depth + 1)
		}
		return p.skipElements(depth + 1)
	case 't':
		return p.literal("true")
	case 'f':
		return p.literal("false")
	case 'n':
		return p.literal("null")
	default:
		_, ok := p.number()
		return ok
	}
}

func (p *parser) skipMembers(depth int) bool {
	if p.peek() == '}' {
		p.i++
		return true
	}
	for {
		if p.peek() != '"' {
			return p.unexpected("a key in double quotes")
		}
		if !p.skipText() {
			return false
		}
		if p.peek() != ':' {
			return p.unexpected("':'")
		}
		p.i++
		if !p.skip(depth) {
			return false
		}
		if again, ok := p.more('}'); !again {
			return ok
		}
	}
}

func (p *parser) skipElements(depth int) bool {
	if p.peek() == ']' {
		p.i++
		return true
	}
	for {
		if !p.skip(depth) {
			return false
		}
		if again, ok := p.more(']'); !again {
			return ok
		}
	}
}
