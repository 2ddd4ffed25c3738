package pyre

import (
	"slices"
	"sync"
	"unicode"
)

// An item is a part of a set: a character, a range, or a category such as \w.
type item struct {
	lo, hi   rune
	ranged   bool // written as a range
	exact    bool // lo is compared with the lower case of the text as it is
	category byte // d, D, s, S, w, W; 0: none
}

// A charset is the set of characters that one place of a pattern matches.
type charset struct {
	ascii   [128]bool // the answer below 128
	items   []item
	negated bool
	flags   Flags // IgnoreCase and ASCII
	all     bool  // every character is in it
	stop    int   // the one ASCII character that is not in it; -1: not such a set
}

func newCharset(items []item, negated bool, flags Flags) *charset {
	c := &charset{items: items, negated: negated, flags: flags & (IgnoreCase | ASCII), stop: -1}
	for r := range rune(128) {
		c.ascii[r] = c.slow(r)
	}
	return c
}

var (
	allSet  = &charset{negated: true, all: true, stop: -1}
	lineSet = newCharset([]item{{lo: '\n', hi: '\n'}}, true, 0)
)

func init() {
	for i := range allSet.ascii {
		allSet.ascii[i] = true
	}
	lineSet.stop = '\n'
}

// setOf returns the set that a node of one character is.
func setOf(n *node, flags Flags) *charset {
	switch {
	case n.kind == anyChar && flags&DotAll != 0:
		return allSet
	case n.kind == anyChar:
		return lineSet
	case n.kind == literal:
		return newCharset(folded(n.r, flags), false, flags)
	case n.single:
		c := newCharset(folded(n.set[0].lo, flags), n.negated, flags)
		if r := n.set[0].lo; r < 128 && len(c.items) == 1 && (flags&IgnoreCase == 0 || !unicode.IsLetter(r)) {
			c.stop = int(r)
		}
		return c
	}
	items := n.set
	if flags&IgnoreCase != 0 {
		items = nil
		for _, it := range n.set {
			it.exact = it.category == 0 && !it.ranged && it.lo > 0xffff // so Python does, whatever its case
			items = append(items, it)
		}
	}
	return newCharset(items, n.negated, flags)
}

// folded are the lower-case characters that a character matches as itself.
func folded(r rune, flags Flags) []item {
	switch {
	case flags&IgnoreCase == 0:
		return []item{{lo: r, hi: r}}
	case flags&ASCII != 0:
		return []item{{lo: lowerASCII(r), hi: lowerASCII(r), exact: true}}
	}
	out := []item{{lo: lower(r), exact: true}}
	for _, other := range extraCases[lower(r)] {
		out = append(out, item{lo: other, exact: true})
	}
	return out
}

func (c *charset) slow(r rune) bool {
	if c.flags&IgnoreCase != 0 {
		if c.flags&ASCII != 0 {
			r = lowerASCII(r)
		} else {
			r = lower(r)
		}
	}
	for i := range c.items {
		if c.holds(&c.items[i], r) {
			return !c.negated
		}
	}
	return c.negated
}

// holds reports whether an item matches r, which is in lower case where case is ignored.
func (c *charset) holds(it *item, r rune) bool {
	switch {
	case it.category != 0:
		return inCategory(it.category, r, c.flags&ASCII != 0)
	case it.exact:
		return r == it.lo
	case it.lo <= r && r <= it.hi:
		return true
	case c.flags&IgnoreCase == 0:
		return false
	case c.flags&ASCII != 0:
		return r >= 'a' && r <= 'z' && it.lo <= r-32 && r-32 <= it.hi
	}
	for _, x := range upperCases()[r] {
		if it.lo <= x && x <= it.hi {
			return true
		}
	}
	for _, other := range extraCases[r] {
		if it.lo <= other && other <= it.hi {
			return true
		}
		for _, x := range upperCases()[other] {
			if it.lo <= x && x <= it.hi {
				return true
			}
		}
	}
	u := upper(r)
	return it.hi > 0xffff && it.lo <= u && u <= it.hi
}

// firstBytes adds the bytes that a character of the set can begin with.
func (c *charset) firstBytes(set *[256]bool) {
	beyond := c.beyondASCII()
	for b := range set {
		if b >= 128 && beyond || b < 128 && c.ascii[b] {
			set[b] = true
		}
	}
}

// beyondASCII reports whether the set may hold characters from 128 on.
func (c *charset) beyondASCII() bool {
	return c.negated || c.flags&ASCII == 0 && c.flags&IgnoreCase != 0 || slices.ContainsFunc(c.items, func(it item) bool {
		return it.hi >= 128 || it.exact && it.lo >= 128 || it.category != 0 && !(c.flags&ASCII != 0 && it.category >= 'a')
	})
}

func inCategory(category byte, r rune, ascii bool) bool {
	switch category {
	case 'd':
		return isDigit(r, ascii)
	case 'D':
		return !isDigit(r, ascii)
	case 's':
		return isSpace(r, ascii)
	case 'S':
		return !isSpace(r, ascii)
	case 'w':
		return isWord(r, ascii)
	}
	return !isWord(r, ascii)
}

func isDigit(r rune, ascii bool) bool {
	if ascii || r < 128 {
		return r >= '0' && r <= '9'
	}
	return unicode.Is(unicode.Nd, r)
}

func isSpace(r rune, ascii bool) bool {
	switch {
	case r >= '\t' && r <= '\r' || r == ' ':
		return true
	case ascii:
		return false
	case r >= 0x1c && r <= 0x1f, r == 0x85, r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}

func isWord(r rune, ascii bool) bool {
	if r < 128 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return !ascii && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

func lowerASCII(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 32
	}
	return r
}

func lower(r rune) rune {
	if r < 128 {
		return lowerASCII(r)
	}
	return unicode.ToLower(r)
}

// upper is the first character of Python's upper case, where that matters: for ranges that go beyond U+FFFF.
func upper(r rune) rune {
	if r == 'ŉ' {
		return 'ʼ'
	}
	return unicode.ToUpper(r)
}

// upperCases are the characters of each lower case, other than itself.
var upperCases = sync.OnceValue(func() map[rune][]rune {
	out := map[rune][]rune{}
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			if l := lower(r); l != r {
				out[l] = append(out[l], r)
			}
		}
	}
	return out
})

// extraCases are lower-case characters that have an upper case in common, as Python's re has them beside lower().
var extraCases = map[rune][]rune{}

func init() {
	for _, same := range []string{"iı", "sſ", "µμ", "\u0345ι\u1fbe", "ΐ\u1fd3", "ΰ\u1fe3", "βϐ", "εϵ", "θϑ", "κϰ", "πϖ", "ρϱ", "ςσ", "φϕ", "вᲀ", "дᲁ", "оᲂ", "сᲃ", "тᲄᲅ", "ъᲆ", "ѣᲇ",
		"\u1c88\ua64b", "ṡẛ", "\ufb05\ufb06"} {
		for _, r := range same {
			for _, other := range same {
				if other != r {
					extraCases[r] = append(extraCases[r], other)
				}
			}
		}
	}
}
