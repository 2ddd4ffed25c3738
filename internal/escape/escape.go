// Package escape stands between text that rlprep did not write (values, names of columns and files, metadata, scripts, what a Hub
// answers) and a terminal, a log or a report. It makes visible what would move a cursor, break a line, turn the direction of
// text or be invisible, and it takes their meaning from the commands that CI systems read in logs.
package escape

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text returns s fit for one line of text: every character that is not safe to show is written as an escape of Go and Python, "\n",
// "\x1b", "\u202e"; so are bytes that are not UTF-8. Text that is safe comes back as it is, so Text may be applied twice.
func Text(s string) string { return convert(s, style{rune: goEscape, invalid: goInvalid}) }

// Lines is Text for a text of several lines: its line feeds stay.
func Lines(s string) string {
	return convert(s, style{rune: goEscape, invalid: goInvalid, lines: true})
}

// JSON returns JSON in which every unsafe character is a JSON escape: the same values, safe to show. Line feeds between values
// stay.
func JSON(b []byte) []byte {
	return []byte(convert(string(b), style{rune: jsonEscape, invalid: func(dst []byte, _ byte) []byte { return append(dst, `\ufffd`...) }, lines: true}))
}

// XML returns XML in which every unsafe character is a reference: the same values, safe to show. What XML cannot hold at all must
// have gone through XMLText before.
func XML(b []byte) []byte {
	reference := func(dst []byte, r rune) []byte { return fmt.Appendf(dst, "&#x%x;", r) }
	return []byte(convert(string(b), style{rune: reference, invalid: func(dst []byte, _ byte) []byte { return append(dst, "&#xfffd;"...) }, lines: true}))
}

// XMLText returns s with the characters that XML cannot hold, not as references either, written as Text writes them.
func XMLText(s string) string {
	var dst []byte
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = goInvalid(dst, s[i])
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == '\uFFFE', r == '\uFFFF':
			dst = goEscape(dst, r)
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return string(dst)
}

// A style is how unsafe characters are written.
type style struct {
	rune    func(dst []byte, r rune) []byte
	invalid func(dst []byte, b byte) []byte
	lines   bool // line feeds stay
}

func goEscape(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf && unicode.IsPrint(r) { // unsafe by its place alone
		return fmt.Appendf(dst, `\x%02x`, r)
	}
	q := strconv.QuoteRuneToASCII(r)
	return append(dst, q[1:len(q)-1]...)
}

func goInvalid(dst []byte, b byte) []byte { return fmt.Appendf(dst, `\x%02x`, b) }

func jsonEscape(dst []byte, r rune) []byte {
	if r >= 0x10000 {
		r -= 0x10000
		return fmt.Appendf(dst, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}

// convert returns s, which begins a line, in a style.
func convert(s string, how style) string {
	if !suspect(s, how.lines) {
		return s
	}
	var c context
	return string(c.append(make([]byte, 0, len(s)+16), s, how))
}

// suspect reports whether s may hold anything unsafe. It is quick for nearly all text.
func suspect(s string, lines bool) bool {
	for i := range len(s) {
		if b := s[i]; b < ' ' && !(lines && b == '\n') || b >= 0x7f {
			return true
		}
	}
	return strings.Contains(s, "::") || strings.Contains(s, "##")
}

// A context is what of the text before a character decides whether it is safe. The zero context is the beginning of a line.
type context struct {
	line place
	mark mark
	flag bool // in a flag made of tags, such as that of Wales
}

// A place is how much of "::" the line begins with, after blanks: GitHub takes the rest of such a line for a command.
type place uint8

const (
	blank place = iota
	colon
	within
)

// A mark is how much of "##[", "##vso[" or "##teamcity[" was read: Azure, GitHub and TeamCity look for such a command anywhere in a
// line.
type mark uint8

const (
	none mark = iota
	hash
	hashes
)

// append appends s to dst and moves on.
func (c *context) append(dst []byte, s string, how style) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = how.invalid(dst, s[i])
			c.step('\\')
		case r == '\n' && how.lines:
			dst = append(dst, '\n')
			*c = context{}
		case c.safe(r):
			dst = append(dst, s[i:i+n]...)
			c.step(r)
		default:
			dst = how.rune(dst, r)
			c.step('\\')
		}
		i += n
	}
	return dst
}

// safe reports whether r may be shown where it is.
func (c *context) safe(r rune) bool {
	switch {
	case r == ':':
		return c.line != colon
	case r == '[':
		return c.mark != hashes
	case ' ' <= r && r < 0x7f:
		return true
	case 0xE0020 <= r && r <= 0xE007F:
		return c.flag
	}
	return visible(r)
}

// joiners are invisible and are part of ordinary words and emoji.
const joiners = "\u200c\u200d"

// visible reports whether r is not of ASCII's controls, C1, marks of direction, separators of lines, characters without width, and
// those that Unicode will never assign.
func visible(r rune) bool {
	switch {
	case unicode.IsControl(r), unicode.Is(unicode.Noncharacter_Code_Point, r), r == '\u2028', r == '\u2029':
		return false
	case unicode.Is(unicode.Cf, r):
		return strings.ContainsRune(joiners, r) || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	}
	return true
}

// step moves behind r, as it was written.
func (c *context) step(r rune) {
	switch {
	case c.line == blank && unicode.IsSpace(r):
	case c.line == blank && r == ':':
		c.line = colon
	default:
		c.line = within
	}
	switch {
	case r == '#' && c.mark != none, c.mark == hashes && isLetter(r):
		c.mark = hashes
	case r == '#':
		c.mark = hash
	default:
		c.mark = none
	}
	c.flag = r == '\U0001F3F4' || c.flag && 0xE0020 <= r && r < 0xE007F
}

func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

// A Writer lets text for people through to another writer, safe: a second net below Fprintf, for what no one formatted with it. Its
// methods may be called from many goroutines.
type Writer struct {
	to      io.Writer
	mu      sync.Mutex
	at      context
	pending []byte // the beginning of a character
}

// NewWriter returns a Writer to w, which is at the beginning of a line.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.pending, p...)
	cut := incomplete(text)
	w.pending = bytes.Clone(text[cut:])
	if err := w.put(text[:cut]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what the last Write left of a character that was cut off.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := w.pending
	w.pending = nil
	return w.put(rest)
}

func (w *Writer) put(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := w.to.Write(w.at.append(nil, string(text), style{rune: goEscape, invalid: goInvalid, lines: true}))
	return err
}

// incomplete returns where the last character of text begins if it is not whole, else the length of text.
func incomplete(text []byte) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}
