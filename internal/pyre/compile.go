package pyre

import (
	"errors"
	"math"
	"unicode/utf8"
)

type opcode int8

const (
	opLit    opcode = iota // the text str
	opSet                  // a character of set
	opRep                  // min to max characters of set
	opMark                 // mark x is here
	opSplit                // what follows, or else x; end is behind all alternatives
	opJump                 // to x
	opLoop                 // begins loop x, whose opUntil is at end
	opUntil                // the body of loop x, at y, again or not
	opAssert               // a body up to end, which matches y characters before
	opAtomic               // a body
	opClose                // ends the body of opAssert and opAtomic
	opRef                  // the text of group x again
	opCond                 // what follows if group x has matched, or else y
	opAt                   // the place x
	opAccept
	opFail
)

// The places where a match can be bound to.
const (
	atStart int32 = iota // ^
	atTextStart
	atEnd // $
	atTextEnd
	atBoundary
	atNoBoundary
	atLineStart // ^ and $ with Multiline
	atLineEnd
)

// An inst is one instruction of a compiled pattern.
type inst struct {
	op       opcode
	style    style // opRep, opUntil
	negated  bool  // opAssert
	behind   bool  // opAssert
	ascii    bool  // opAt
	fold     Flags // opRef: IgnoreCase, and ASCII
	look     int16 // opRep: the byte that must follow; -1: any
	x, y     int32
	end      int32
	min, max uint32
	str      string
	set      *charset
}

type compiler struct {
	*parser
	prog  []inst
	loops int
}

func (c *compiler) emit(in inst) int {
	c.prog = append(c.prog, in)
	return len(c.prog) - 1
}

func (c *compiler) here() int32 { return int32(len(c.prog)) }

// compile writes the instructions of a part; consecutive literals become one text.
func (c *compiler) compile(s seq, flags Flags) error {
	text := "" // literals, not written yet
	for _, n := range s {
		if n.kind == literal {
			if lit, ok := plain(n.r, flags); ok {
				text += lit
				continue
			}
		}
		if text != "" {
			c.literal(text)
			text = ""
		}
		if err := c.node(n, flags); err != nil {
			return err
		}
	}
	if text != "" {
		c.literal(text)
	}
	return nil
}

// literal writes a text. A repetition just before it need not stop where the text does not begin.
func (c *compiler) literal(text string) {
	at := c.emit(inst{op: opLit, str: text})
	for at--; at >= 0 && c.prog[at].op == opMark; at-- {
	}
	if at >= 0 && c.prog[at].op == opRep {
		c.prog[at].look = int16(text[0])
	}
}

// plain returns the text of a character that matches itself alone.
func plain(r rune, flags Flags) (string, bool) {
	if !utf8.ValidRune(r) {
		return "", false
	}
	if flags&IgnoreCase == 0 {
		return string(r), true
	}
	if flags&ASCII != 0 {
		return string(r), lowerASCII(r) == r && (r < 'a' || r > 'z')
	}
	l := lower(r)
	return string(r), l == r && upperCases()[l] == nil && extraCases[l] == nil
}

func (c *compiler) node(n *node, flags Flags) error {
	switch n.kind {
	case literal, class, anyChar:
		c.emit(inst{op: opSet, set: setOf(n, flags)})
	case place:
		at := n.at
		if flags&Multiline != 0 {
			switch at {
			case atStart:
				at = atLineStart
			case atEnd:
				at = atLineEnd
			}
		}
		c.emit(inst{op: opAt, x: at, ascii: flags&ASCII != 0})
	case group:
		return c.group(n, flags)
	case repeat:
		return c.repeat(n, flags)
	case atomic:
		return c.atomic(n.subs[0], flags)
	case assertion:
		return c.assertion(n, flags)
	case branch:
		return c.branch(n, flags)
	case reference:
		in := inst{op: opRef, x: int32(n.group)}
		if flags&IgnoreCase != 0 {
			in.fold = flags & (IgnoreCase | ASCII)
		}
		c.emit(in)
	case condition:
		return c.condition(n, flags)
	}
	return nil
}

func (c *compiler) group(n *node, flags Flags) error {
	if combine(n, flags)&ASCII != flags&ASCII {
		return errors.New("(?a:…) and (?u:…) for a part of a pattern are not supported: give re.A to the whole pattern") // Python 3.11 searches for them wrongly
	}
	if n.group > 0 {
		c.emit(inst{op: opMark, x: int32(2*n.group - 2)})
		defer func() { c.emit(inst{op: opMark, x: int32(2*n.group - 1)}) }()
	}
	return c.compile(n.subs[0], combine(n, flags))
}

// combine is flags as a group changes them.
func combine(n *node, flags Flags) Flags {
	if n.add&(ASCII|Unicode) != 0 {
		flags &^= ASCII | Unicode
	}
	return (flags | n.add) &^ n.del
}

func (c *compiler) atomic(body seq, flags Flags) error {
	c.emit(inst{op: opAtomic})
	err := c.compile(body, flags)
	c.emit(inst{op: opClose})
	return err
}

// one returns the set that a part matches one character of, if that is all that it does.
func one(s seq, flags Flags) *charset {
	if len(s) != 1 {
		return nil
	}
	switch n := s[0]; n.kind {
	case literal, class, anyChar:
		return setOf(n, flags)
	case group:
		if n.group == 0 && combine(n, flags)&ASCII == flags&ASCII {
			return one(n.subs[0], combine(n, flags))
		}
	}
	return nil
}

func (c *compiler) repeat(n *node, flags Flags) error {
	body := n.subs[0]
	if set := one(body, flags); set != nil {
		c.emit(inst{op: opRep, set: set, min: n.min, max: n.max, style: n.style, look: -1})
		return nil
	}
	if n.style == possessive {
		if body.captures() {
			return errors.New("a group in a possessive repetition is not supported: write (?>…) around a greedy one")
		}
		// Neither an iteration nor their number is tried again.
		again := *n
		again.style, again.subs = greedy, []seq{{{kind: atomic, subs: n.subs}}}
		return c.atomic(seq{&again}, flags)
	}
	loop := int32(c.loops)
	c.loops++
	start := c.emit(inst{op: opLoop, x: loop, min: n.min, max: n.max})
	if err := c.compile(body, flags); err != nil {
		return err
	}
	end := c.emit(inst{op: opUntil, x: loop, y: int32(start + 1), min: n.min, max: n.max, style: n.style})
	c.prog[start].end = int32(end)
	return nil
}

func (c *compiler) assertion(n *node, flags Flags) error {
	in := inst{op: opAssert, negated: n.negated, behind: n.behind}
	if n.behind {
		w := c.width(n.subs[0])
		if w.lo > math.MaxUint32 {
			return errors.New("looks too much behind")
		}
		if w.lo != w.hi {
			return errors.New("look-behind requires fixed-width pattern")
		}
		in.y = int32(min(w.lo, math.MaxInt32))
	}
	start := c.emit(in)
	if err := c.compile(n.subs[0], flags); err != nil {
		return err
	}
	c.emit(inst{op: opClose})
	c.prog[start].end = c.here()
	return nil
}

func (c *compiler) branch(n *node, flags Flags) error {
	var splits, jumps []int
	for i, s := range n.subs {
		last := i == len(n.subs)-1
		if !last {
			splits = append(splits, c.emit(inst{op: opSplit}))
		}
		if err := c.compile(s, flags); err != nil {
			return err
		}
		if !last {
			jumps = append(jumps, c.emit(inst{op: opJump}))
			c.prog[splits[i]].x = c.here()
		}
	}
	for _, at := range splits {
		c.prog[at].end = c.here()
	}
	for _, at := range jumps {
		c.prog[at].x = c.here()
	}
	return nil
}

func (c *compiler) condition(n *node, flags Flags) error {
	start := c.emit(inst{op: opCond, x: int32(n.group)})
	if err := c.compile(n.subs[0], flags); err != nil {
		return err
	}
	c.prog[start].y, c.prog[start].end = c.here(), c.here()
	if len(n.subs) == 1 {
		return nil
	}
	jump := c.emit(inst{op: opJump})
	c.prog[start].y = c.here()
	if err := c.compile(n.subs[1], flags); err != nil {
		return err
	}
	c.prog[jump].x, c.prog[start].end = c.here(), c.here()
	return nil
}
