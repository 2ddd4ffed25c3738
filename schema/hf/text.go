package hf

import (
	"encoding/binary"
	"unicode/utf8"
	"unsafe"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// What a text may hold that is worth a second look; the bits of a mark.
type mark uint8

const (
	beyondASCII mark = 1 << iota // a byte from 0x80
	control                      // a byte below 0x20 that is no tab, line feed or carriage return, or 0x7f
)

// A textJudge looks at one text, of which marks are known, and says what is wrong with it; "" for nothing.
type textJudge struct {
	marks mark // looks only at texts that have one of these
	judge func(s string) string
}

// A crew is the text rules of one task. The text of a row is scanned once for all of them, by the one that came first: most
// of a dataset's bytes are text, and nearly none of it has anything in it.
type crew struct {
	paths   []schema.Path
	members []*textRule
	marks   mark
}

// textPaths returns the leaves of the file that hold text.
func textPaths(p *rule.Pass) []schema.Path {
	if p.Schema == nil {
		return nil
	}
	var paths []schema.Path
	for _, l := range p.Schema.Leaves() {
		if l.Type.Kind == schema.Text {
			if _, ok := p.Schema.Lookup(l.Path); ok {
				paths = append(paths, l.Path)
			}
		}
	}
	return paths
}

// newTextRule returns the Checker of a rule over all text. All of a task are made before its first row.
func newTextRule(j textJudge) func(*rule.Pass) rule.Checker {
	return func(p *rule.Pass) rule.Checker {
		r := &textRule{Pass: p, textJudge: j}
		if p.Schema == nil {
			return r
		}
		r.crew = rule.Share(p, "hf.text", func() *crew { return &crew{paths: textPaths(p)} })
		r.crew.members = append(r.crew.members, r)
		r.crew.marks |= j.marks
		return r
	}
}

type textRule struct {
	*rule.Pass
	textJudge
	crew   *crew
	closed []bool // reads that need no look in this row group
}

func (c *textRule) leads() bool { return c.crew != nil && c.crew.members[0] == c }

// Prejudge implements rule.Checker: a column whose dictionary is clean needs no reading.
func (c *textRule) Prejudge(k *rule.RowGroupFacts) bool {
	if !c.leads() {
		return true
	}
	if c.closed == nil {
		c.closed = make([]bool, len(c.crew.paths))
	}
	done := true
	for i := range c.crew.paths {
		at := k.At(i)
		c.closed[i] = at.Missing || at.Dict != nil && c.crew.clean(at.Dict)
		if c.closed[i] {
			k.Answer(i)
		}
		done = done && c.closed[i]
	}
	return done
}

func (w *crew) clean(dict []schema.Value) bool {
	for _, v := range dict {
		if m := scan(v.Text()) & w.marks; m != 0 && w.fault(v.Text(), m) {
			return false
		}
	}
	return true
}

// fault reports whether a member has anything to say of s.
func (w *crew) fault(s string, m mark) bool {
	for _, c := range w.members {
		if m&c.marks != 0 && c.judge(s) != "" {
			return true
		}
	}
	return false
}

// Scans implements rule.Scanner.
func (c *textRule) Scans(int) bool { return true }

// Scan implements rule.Scanner: only rows with a fault are looked at again.
func (c *textRule) Scan(_ int, t schema.Texts, hits []int) []int {
	if !c.leads() {
		return hits
	}
	all, text := t.All(), 0
	for at := next(all); at < len(all); at += next(all[at:]) {
		text = t.IndexAt(at, text)
		if s := t.At(text); c.crew.fault(s, scan(s)) {
			hits = append(hits, text)
		}
		at = t.End(text)
	}
	return hits
}

// Row implements rule.Checker: one finding a row and column for each member.
func (c *textRule) Row(r schema.Row) {
	if !c.leads() {
		return
	}
	for i, path := range c.crew.paths {
		if c.closed != nil && c.closed[i] {
			continue
		}
		v := r.At(i)
		if m := scanValue(v) & c.crew.marks; m != 0 {
			for _, member := range c.crew.members {
				if m&member.marks != 0 {
					member.look(r, path, v)
				}
			}
		}
	}
}

// look reports the first text in v that the rule finds at fault.
func (c *textRule) look(r schema.Row, path schema.Path, v schema.Value) bool {
	if v.Kind() == schema.List {
		for i := range v.Len() {
			if c.look(r, path, v.Elem(i)) {
				return true
			}
		}
		return false
	}
	if v.Kind() != schema.Text || scan(v.Text())&c.marks == 0 {
		return false
	}
	what := c.judge(v.Text())
	if what == "" {
		return false
	}
	c.Reportf(r.Pos().At(path), v, "%s: %s", what, c.Consequence)
	return true
}

func scanValue(v schema.Value) mark {
	switch v.Kind() {
	case schema.Text:
		return scan(v.Text())
	case schema.List:
		var m mark
		for i := range v.Len() {
			m |= scanValue(v.Elem(i))
		}
		return m
	}
	return 0
}

const (
	high = 0x8080808080808080
	low7 = 0x7f7f7f7f7f7f7f7f
	ones = 0x0101010101010101
)

// scan returns what s has.
func scan(s string) mark {
	var m mark
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for n := next(b); n < len(b); n = next(b) {
		b = b[n:]
		end := min(len(b), block)
		m |= scanBytes(b[:end])
		b = b[end:]
	}
	return m
}

// block is how many bytes next looks at together.
const block = 32

// next returns where in b a block begins that has a mark, or what is left of one at the end; len(b) where nothing has.
func next(b []byte) int {
	at := 0
	for ; at+block <= len(b); at += block {
		r := b[at : at+block : at+block]
		w0, w1, w2, w3 := binary.LittleEndian.Uint64(r), binary.LittleEndian.Uint64(r[8:]), binary.LittleEndian.Uint64(r[16:]), binary.LittleEndian.Uint64(r[24:])
		if (odd(w0)|odd(w1)|odd(w2)|odd(w3))&high == 0 {
			continue
		}
		if (w0|w1|w2|w3)&high != 0 || controls(w0)|controls(w1)|controls(w2)|controls(w3) != 0 {
			return at
		}
	}
	if scanBytes(b[at:]) == 0 {
		return len(b)
	}
	return at
}

// odd sets the highest bit of some bytes of w where any is no printable ASCII and no line feed, and else of none. In bytes of ASCII +1 sets
// that bit for 0x7f, +0x60 for 0x20 and what is above it, and +0x7f for all but 0; no sum carries into the next byte.
func odd(w uint64) uint64 {
	return w | (w + ones) | (((w ^ '\n'*ones) + low7) &^ (w + 0x60*ones))
}

// ascii returns how many bytes of ASCII s begins with.
func ascii(s string) int {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for len(b) >= 8 && binary.LittleEndian.Uint64(b)&high == 0 {
		b = b[8:]
	}
	for len(b) > 0 && b[0] < utf8.RuneSelf {
		b = b[1:]
	}
	return len(s) - len(b)
}

// controls sets the highest bit of each byte of w that is a control character and no tab, line feed or carriage return.
func controls(w uint64) uint64 {
	v := w & low7
	below := ^(v + 0x60*ones) &^ w
	del := (v + ones) &^ w
	if below&high != 0 {
		below &^= equal8(v, '\t') | equal8(v, '\n') | equal8(v, '\r')
	}
	return (below | del) & high
}

// equal8 sets the highest bit of each byte of v, all below 0x80, that is c.
func equal8(v, c uint64) uint64 { return ^((v ^ c*ones) + low7) }

func scanBytes(b []byte) mark {
	var m mark
	for _, c := range b {
		switch {
		case c >= 0x80:
			m |= beyondASCII
		case c < 0x20 && c != '\n' && c != '\t' && c != '\r', c == 0x7f:
			m |= control
		}
	}
	return m
}
