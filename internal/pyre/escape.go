package pyre

import (
	"slices"
	"strconv"
	"unicode"
)

const (
	octal = "01234567"
	hex   = "0123456789abcdefABCDEF"
)

var controls = map[rune]rune{'a': '\a', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\'}

var places = map[rune]int32{'A': atTextStart, 'b': atBoundary, 'B': atNoBoundary, 'Z': atTextEnd}

// escape reads an escape outside of a class.
func (p *parser) escape(t token) *node {
	if at, ok := places[t.r]; ok {
		return &node{kind: place, at: at}
	}
	switch t.r {
	case 'd', 'D', 's', 'S', 'w', 'W':
		return &node{kind: class, set: []item{{category: byte(t.r)}}}
	case '0':
		n, _ := strconv.ParseInt("0"+p.while(2, octal), 8, 32)
		return &node{kind: literal, r: rune(n)}
	}
	if t.r >= '1' && t.r <= '9' {
		return p.numbered(t.r)
	}
	return &node{kind: literal, r: p.character(t)}
}

// numbered reads \1 to \99, which is a group, and \123, which is a character.
func (p *parser) numbered(first rune) *node {
	digits := string(first)
	if p.next.in("0123456789") {
		digits += string(p.get().r)
		if first < '8' && digits[1] < '8' && p.next.in(octal) {
			digits += string(p.get().r)
			return &node{kind: literal, r: p.octal(digits)}
		}
	}
	g, _ := strconv.Atoi(digits)
	if g >= len(p.widths) {
		p.fail(len(digits), "invalid group reference %d", g)
	}
	if p.widths[g] == nil {
		p.fail(len(digits)+1, "cannot refer to an open group")
	}
	p.checkBehind(g)
	return &node{kind: reference, group: g}
}

func (p *parser) octal(digits string) rune {
	n, _ := strconv.ParseInt(digits, 8, 32)
	if n > 0o377 {
		p.fail(len(digits)+1, `octal escape value \%s outside of range 0-0o377`, digits)
	}
	return rune(n)
}

// character reads an escape that means one character, in a class and outside.
func (p *parser) character(t token) rune {
	if c, ok := controls[t.r]; ok {
		return c
	}
	switch t.r {
	case 'x':
		return p.hex(t.r, 2)
	case 'u':
		return p.hex(t.r, 4)
	case 'U':
		return p.hex(t.r, 8)
	case 'N':
		p.fail(2, `\N{…} is not supported: write the character itself, or \u and its number`)
	}
	if t.r < unicode.MaxASCII && (unicode.IsLetter(t.r) || unicode.IsDigit(t.r)) {
		p.fail(2, `bad escape \%c`, t.r)
	}
	return t.r
}

func (p *parser) hex(letter rune, n int) rune {
	digits := p.while(n, hex)
	if len(digits) != n {
		p.fail(len(digits)+2, `incomplete escape \%c%s`, letter, digits)
	}
	r, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || r > unicode.MaxRune {
		p.fail(n+2, `bad escape \%c%s`, letter, digits)
	}
	return rune(r)
}

// class reads a set, behind its bracket.
func (p *parser) class() *node {
	here := p.tell() - 1
	n, ranged := &node{kind: class}, false
	n.negated = p.match('^')
	end := func() { p.fail(p.tell()-here, "unterminated character set") }
	for {
		this := p.get()
		if !this.some {
			end()
		}
		if this.is(']') && n.set != nil {
			break
		}
		from := p.classItem(this)
		if !p.match('-') {
			n.set = append(n.set, from)
			continue
		}
		that := p.get()
		if !that.some {
			end()
		}
		if that.is(']') {
			n.set = append(n.set, from, item{lo: '-', hi: '-'})
			break
		}
		to := p.classItem(that)
		if from.category != 0 || to.category != 0 || to.lo < from.lo {
			p.fail(this.size()+1+that.size(), "bad character range %s-%s", this, that)
		}
		n.set, ranged = append(n.set, item{lo: from.lo, hi: to.lo, ranged: true}), true
	}
	n.set = distinct(n.set)
	n.single = len(n.set) == 1 && n.set[0].category == 0 && !ranged
	if n.single && !n.negated {
		return &node{kind: literal, r: n.set[0].lo}
	}
	return n
}

func distinct(set []item) (out []item) {
	for _, it := range set {
		if !slices.Contains(out, it) {
			out = append(out, it)
		}
	}
	return out
}

func (p *parser) classItem(t token) item {
	r := t.r
	if t.escaped {
		switch {
		case r == 'b':
			r = '\b'
		case r == 'd' || r == 'D' || r == 's' || r == 'S' || r == 'w' || r == 'W':
			return item{category: byte(r)}
		case r >= '0' && r <= '7':
			r = p.octal(string(r) + p.while(2, octal))
		default:
			r = p.character(t)
		}
	}
	return item{lo: r, hi: r}
}
