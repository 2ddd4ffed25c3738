package hydra

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// lex splits the text into tokens: keys up to the first "=", values after it.
func (p *overrideParser) lex() error {
	rest := p.text
	value := false
	for rest != "" {
		var t tok
		if value {
			t = valueToken(rest)
		} else {
			t = keyToken(rest)
		}
		if t.text == "" {
			r, _ := utf8.DecodeRuneInString(rest)
			return fmt.Errorf("column %d: unexpected character %q (put the value in quotes)", len(p.text)-len(rest)+1, r)
		}
		p.toks = append(p.toks, t)
		rest = rest[len(t.text):]
		value = value || t.kind == tEqual
	}
	p.toks = append(p.toks, tok{kind: tEOF})
	return nil
}

// longest keeps the longest match; the first of equally long ones stays.
func longest(best *tok, kind tokKind, s string, n int) {
	if n > len(best.text) {
		*best = tok{kind, s[:n]}
	}
}

func keyToken(s string) tok {
	var t tok
	switch s[0] {
	case '=':
		return tok{tEqual, s[:1+blanks(s[1:])]}
	case '~':
		longest(&t, tTilde, s, 1)
	case '+':
		longest(&t, tPlus, s, 1)
	case '@':
		longest(&t, tAt, s, 1)
	case ':':
		longest(&t, tColon, s, 1)
	case '/':
		longest(&t, tSlash, s, 1)
	}
	longest(&t, tID, s, ident(s))
	longest(&t, tKeySpecial, s, special(s))
	longest(&t, tDotPath, s, dotPath(s))
	return t
}

func blanks(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// ident: (CHAR|'_') (CHAR|DIGIT|'_'|'-')*
func ident(s string) int {
	n := 0
	for n < len(s) && (letter(s[n]) || s[n] == '_' || n > 0 && (digit(s[n]) || s[n] == '-')) {
		n++
	}
	return n
}

// special: as ident, with '$'.
func special(s string) int {
	n := 0
	for n < len(s) && (letter(s[n]) || s[n] == '_' || s[n] == '$' || n > 0 && (digit(s[n]) || s[n] == '-')) {
		n++
	}
	return n
}

// dotPath: (KEY_SPECIAL | INT_UNSIGNED) ('.' (KEY_SPECIAL | INT_UNSIGNED))+
func dotPath(s string) int {
	part := func(s string) int { return max(special(s), unsigned(s)) }
	n := part(s)
	if n == 0 {
		return 0
	}
	dots := 0
	for n < len(s) && s[n] == '.' {
		k := part(s[n+1:])
		if k == 0 {
			break
		}
		n += 1 + k
		dots++
	}
	if dots == 0 {
		return 0
	}
	return n
}

// unsigned: '0' | [1-9] (('_')? DIGIT)*
func unsigned(s string) int {
	if s == "" || !digit(s[0]) {
		return 0
	}
	if s[0] == '0' {
		return 1
	}
	return digits(s)
}

// digits: DIGIT (('_')? DIGIT)*
func digits(s string) int {
	if s == "" || !digit(s[0]) {
		return 0
	}
	n := 1
	for n < len(s) {
		switch {
		case digit(s[n]):
			n++
		case s[n] == '_' && n+1 < len(s) && digit(s[n+1]):
			n += 2
		default:
			return n
		}
	}
	return n
}

// pointFloat: INT_UNSIGNED '.' | INT_UNSIGNED? '.' DIGIT (('_')? DIGIT)*
func pointFloat(s string) int {
	n := unsigned(s)
	if n >= len(s) || s[n] != '.' {
		return 0
	}
	if k := digits(s[n+1:]); k > 0 {
		return n + 1 + k
	}
	if n > 0 {
		return n + 1
	}
	return 0
}

// float: [+-]? (POINT_FLOAT | EXPONENT_FLOAT | inf | nan)
func float(s string) int {
	sign := 0
	if s[0] == '+' || s[0] == '-' {
		sign, s = 1, s[1:]
	}
	best := pointFloat(s)
	for _, m := range []int{unsigned(s), best} {
		if m == 0 || m >= len(s) || s[m]|0x20 != 'e' {
			continue
		}
		k := m + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if d := digits(s[k:]); d > 0 {
			best = max(best, k+d)
		}
	}
	if len(s) >= 3 && (strings.EqualFold(s[:3], "inf") || strings.EqualFold(s[:3], "nan")) {
		best = max(best, 3)
	}
	if best == 0 {
		return 0
	}
	return sign + best
}

func valueToken(s string) tok {
	var t tok
	w := blanks(s)
	after := func(n int) int { return n + blanks(s[n:]) }
	if w < len(s) {
		switch s[w] {
		case '(':
			longest(&t, tPOpen, s, after(w+1))
		case ',':
			longest(&t, tComma, s, after(w+1))
		case ')':
			longest(&t, tPClose, s, w+1)
		case ']':
			longest(&t, tBracketClose, s, w+1)
		case '}':
			longest(&t, tBraceClose, s, w+1)
		case ':':
			longest(&t, tColon, s, after(w+1))
		case '=':
			longest(&t, tEqual, s, after(w+1))
		}
	}
	switch s[0] {
	case '[':
		longest(&t, tBracketOpen, s, after(1))
	case '{':
		longest(&t, tBraceOpen, s, after(1))
	}
	longest(&t, tFloat, s, float(s))
	if s[0] == '+' || s[0] == '-' {
		if n := unsigned(s[1:]); n > 0 {
			longest(&t, tInt, s, 1+n)
		}
	} else {
		longest(&t, tInt, s, unsigned(s))
	}
	for _, word := range []string{"true", "false"} {
		if len(s) >= len(word) && strings.EqualFold(s[:len(word)], word) {
			longest(&t, tBool, s, len(word))
		}
	}
	if len(s) >= 4 && strings.EqualFold(s[:4], "null") {
		longest(&t, tNull, s, 4)
	}
	if strings.IndexByte(`/-\+.$%*@?|`, s[0]) >= 0 {
		longest(&t, tUnquoted, s, 1)
	}
	longest(&t, tID, s, ident(s))
	longest(&t, tEsc, s, escapes(s))
	longest(&t, tWS, s, w)
	longest(&t, tQuoted, s, quoted(s))
	if strings.HasPrefix(s, "${") {
		if end := strings.IndexByte(s, '}'); end > 2 {
			longest(&t, tInterpolation, s, end+1)
		}
	}
	return t
}

// escapes: one or more of \\ \( \) \[ \] \{ \} \: \= \, \blank \tab
func escapes(s string) int {
	n := 0
	for n+1 < len(s) && s[n] == '\\' && strings.IndexByte("\\()[]{}:=, \t", s[n+1]) >= 0 {
		n += 2
	}
	return n
}

// quoted: from a quote to the first one of its kind that an even number of backslashes stands before.
func quoted(s string) int {
	q := s[0]
	if q != '"' && q != '\'' {
		return 0
	}
	slashes := 0
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == q && slashes%2 == 0:
			return i + 1
		case s[i] == '\\':
			slashes++
			continue
		}
		slashes = 0
	}
	return 0
}
