package pyre

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxNesting is how deep groups may lie in each other.
const maxNesting = 200

// infinite is the upper bound of a repetition that has none, and Python's limit of one that has.
const infinite = math.MaxUint32

// A node is a part of a pattern.
type node struct {
	kind     nodeKind
	r        rune   // literal
	set      []item // class
	single   bool   // class: [^a]
	negated  bool   // class, assertion
	min, max uint32 // repeat
	style    style  // repeat
	group    int    // capture, reference, condition
	add, del Flags  // group
	at       int32  // place
	behind   bool   // assertion
	subs     []seq  // branch: alternatives; condition: yes and no; others: the body
}

type seq []*node

type nodeKind int

const (
	literal   nodeKind = iota
	class              // one character of a set
	anyChar            // .
	place              // ^ $ \b
	repeat             // * + ? {m,n}
	group              // ( ) and (?: )
	atomic             // (?> )
	assertion          // (?= ) (?! ) (?<= ) (?<! )
	branch             // |
	reference          // \1
	condition          // (?(1)a|b)
)

type style int

const (
	greedy style = iota
	lazy
	possessive
)

// A syntaxError is what Python says of a pattern that it does not take.
type syntaxError struct {
	msg string
	at  int
}

func (e *syntaxError) Error() string {
	if e.at < 0 {
		return e.msg
	}
	return fmt.Sprintf("%s at position %d", e.msg, e.at)
}

// A token is a character of the pattern, or one with a backslash before it.
type token struct {
	r       rune
	escaped bool
	some    bool // false: the end of the pattern
}

func (t token) is(r rune) bool { return t.some && !t.escaped && t.r == r }

func (t token) in(set string) bool { return t.some && !t.escaped && strings.ContainsRune(set, t.r) }

func (t token) size() int {
	switch {
	case !t.some:
		return 0
	case t.escaped:
		return 2
	}
	return 1
}

func (t token) String() string {
	if t.escaped {
		return `\` + string(t.r)
	}
	return string(t.r)
}

// A groupRef is a group that a condition names, and where it does.
type groupRef struct{ group, at int }

type width struct{ lo, hi uint64 }

// A parser reads a pattern by Python's rules. Faults are panics of *syntaxError, which parse recovers.
type parser struct {
	src    []rune
	index  int
	next   token
	flags  Flags
	names  map[string]int
	widths []*width   // of each group; nil while the group is open
	behind int        // groups before the current lookbehind; -1: in none
	refs   []groupRef // groups that conditions name
}

func parse(source string, flags Flags) (p *parser, body seq, err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *syntaxError:
			err = fault
		default:
			panic(fault)
		}
	}()
	p = &parser{src: []rune(source), flags: flags, names: map[string]int{}, widths: []*width{nil}, behind: -1}
	p.advance()
	body = p.alternatives(flags&Verbose != 0, 0)
	if p.flags&ASCII != 0 && p.flags&Unicode != 0 {
		return nil, nil, &syntaxError{"ASCII and UNICODE flags are incompatible", -1}
	}
	if p.next.some {
		p.fail(0, "unbalanced parenthesis")
	}
	for _, r := range p.refs {
		if r.group >= len(p.widths) {
			return nil, nil, &syntaxError{fmt.Sprintf("invalid group reference %d", r.group), r.at}
		}
	}
	return p, body, nil
}

// fail ends the parse; back is how far before the next token the fault lies.
func (p *parser) fail(back int, format string, args ...any) {
	panic(&syntaxError{fmt.Sprintf(format, args...), p.tell() - back})
}

func (p *parser) tell() int { return p.index - p.next.size() }

func (p *parser) seek(index int) {
	p.index = index
	p.advance()
}

func (p *parser) advance() {
	if p.index >= len(p.src) {
		p.next = token{}
		return
	}
	p.next = token{r: p.src[p.index], some: true}
	if p.next.r == '\\' {
		p.index++
		if p.index >= len(p.src) {
			panic(&syntaxError{"bad escape (end of pattern)", len(p.src) - 1})
		}
		p.next = token{r: p.src[p.index], escaped: true, some: true}
	}
	p.index++
}

func (p *parser) get() token {
	t := p.next
	p.advance()
	return t
}

func (p *parser) match(r rune) bool {
	if !p.next.is(r) {
		return false
	}
	p.advance()
	return true
}

// while reads at most n characters of a set.
func (p *parser) while(n int, set string) string {
	var b strings.Builder
	for ; n != 0 && p.next.in(set); n-- {
		b.WriteRune(p.get().r)
	}
	return b.String()
}

// until reads what comes before the terminator.
func (p *parser) until(terminator rune, name string) string {
	var b strings.Builder
	for n := 0; ; n++ {
		t := p.get()
		switch {
		case !t.some && n == 0:
			p.fail(0, "missing %s", name)
		case !t.some:
			p.fail(len([]rune(b.String())), "missing %c, unterminated name", terminator)
		case t.is(terminator) && n == 0:
			p.fail(1, "missing %s", name)
		case t.is(terminator):
			return b.String()
		}
		b.WriteString(t.String())
	}
}

func (p *parser) alternatives(verbose bool, nested int) seq {
	if nested > 2*maxNesting {
		p.fail(0, "groups are nested more than %d deep", maxNesting)
	}
	var all []seq
	for {
		all = append(all, p.sequence(verbose, nested+1, nested == 0 && all == nil))
		if !p.match('|') {
			break
		}
		if nested == 0 {
			verbose = p.flags&Verbose != 0
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	if set := asClass(all); set != nil {
		return seq{{kind: class, set: set}}
	}
	return seq{{kind: branch, subs: all}}
}

// asClass returns the set that alternatives of single characters are; nil where they are none.
func asClass(all []seq) (set []item) {
	for _, s := range all {
		switch {
		case len(s) == 1 && s[0].kind == literal && !s[0].negated:
			set = append(set, item{lo: s[0].r, hi: s[0].r})
		case len(s) == 1 && s[0].kind == class && !s[0].negated:
			set = append(set, s[0].set...)
		default:
			return nil
		}
	}
	return set
}

const whitespace = " \t\n\r\v\f"

func (p *parser) sequence(verbose bool, nested int, first bool) seq {
	var out seq
	for p.next.some && !p.next.in("|)") {
		this := p.get()
		switch {
		case verbose && this.in(whitespace):
		case verbose && this.is('#'):
			for t := p.get(); t.some && !t.is('\n'); t = p.get() {
			}
		case this.escaped:
			out = append(out, p.escape(this))
		case this.is('['):
			out = append(out, p.class())
		case this.in("*+?{"):
			out = p.repeat(this, out)
		case this.is('.'):
			out = append(out, &node{kind: anyChar})
		case this.is('('):
			n := p.group(&verbose, nested, first && out == nil)
			if n != nil {
				out = append(out, n)
			}
		case this.is('^'):
			out = append(out, &node{kind: place, at: atStart})
		case this.is('$'):
			out = append(out, &node{kind: place, at: atEnd})
		default:
			out = append(out, &node{kind: literal, r: this.r})
		}
	}
	return out
}

// repeat reads what follows this, one of * + ? {, and puts a repetition in place of the last node.
func (p *parser) repeat(this token, out seq) seq {
	here := p.tell()
	n := &node{kind: repeat, max: infinite}
	switch this.r {
	case '?':
		n.max = 1
	case '+':
		n.min = 1
	case '{':
		lo, hi, ok := p.bounds()
		if !ok {
			p.seek(here)
			return append(out, &node{kind: literal, r: '{'})
		}
		n.min, n.max = lo, hi
		if hi < lo {
			p.fail(p.tell()-here, "min repeat greater than max repeat")
		}
	}
	if len(out) == 0 || out[len(out)-1].kind == place {
		p.fail(p.tell()-here+1, "nothing to repeat")
	}
	last := out[len(out)-1]
	if last.kind == repeat {
		p.fail(p.tell()-here+1, "multiple repeat")
	}
	switch {
	case p.match('?'):
		n.style = lazy
	case p.match('+'):
		n.style = possessive
	}
	n.subs = []seq{{last}}
	out[len(out)-1] = n
	return out
}

// bounds reads m,n} behind a brace; ok is false where the brace is a literal.
func (p *parser) bounds() (lo, hi uint32, ok bool) {
	if p.next.is('}') {
		return 0, 0, false
	}
	const digits = "0123456789"
	first := p.while(-1, digits)
	second := first
	if p.match(',') {
		second = p.while(-1, digits)
	}
	if !p.match('}') {
		return 0, 0, false
	}
	number := func(s string, none uint32) uint32 {
		if s == "" {
			return none
		}
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil || n >= infinite {
			panic(&syntaxError{"the repetition number is too large", -1})
		}
		return uint32(n)
	}
	return number(first, 0), number(second, infinite), true
}

// group reads what follows a parenthesis; nil: nothing that matches.
func (p *parser) group(verbose *bool, nested int, first bool) *node {
	start := p.tell() - 1
	n := &node{kind: group}
	capture, name := true, ""
	if p.match('?') {
		t := p.get()
		switch {
		case !t.some:
			p.fail(0, "unexpected end of pattern")
		case t.is('P'):
			if p.match('=') {
				return p.named()
			}
			name = p.groupName()
		case t.is(':'):
			capture = false
		case t.is('#'):
			p.comment(start)
			return nil
		case t.in("=!<"):
			return p.assertion(t, *verbose, nested, start)
		case t.is('('):
			return p.condition(*verbose, nested, start)
		case t.is('>'):
			capture, n.kind = false, atomic
		case t.in("iLmsxatu-"):
			if p.inlineFlags(t, n) {
				if !first {
					p.fail(p.tell()-start, "global flags not at the start of the expression")
				}
				*verbose = p.flags&Verbose != 0
				return nil
			}
			capture = false
		default:
			p.fail(t.size()+1, "unknown extension ?%s", t)
		}
	}
	if capture {
		n.group = p.open(name)
	}
	inner := (*verbose || n.add&Verbose != 0) && n.del&Verbose == 0
	body := p.alternatives(inner, nested+1)
	p.closed(start)
	n.subs = []seq{body}
	if capture {
		w := p.width(body)
		p.widths[n.group] = &w
	}
	return n
}

func (p *parser) comment(start int) {
	for {
		if !p.next.some {
			p.fail(p.tell()-start, "missing ), unterminated comment")
		}
		if p.get().is(')') {
			return
		}
	}
}

func (p *parser) closed(start int) {
	if !p.match(')') {
		p.fail(p.tell()-start, "missing ), unterminated subpattern")
	}
}

func (p *parser) open(name string) int {
	g := len(p.widths)
	p.widths = append(p.widths, nil)
	if name == "" {
		return g
	}
	if other, ok := p.names[name]; ok {
		p.fail(len([]rune(name))+1, "redefinition of group name %s as group %d; was group %d", quoted(name), g, other)
	}
	p.names[name] = g
	return g
}

func quoted(s string) string { return "'" + s + "'" }

// identifier reports whether Python takes s for the name of a group.
func identifier(s string) bool {
	for i, r := range s {
		if r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) {
			continue
		}
		if i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) {
			return false
		}
	}
	return s != ""
}

// groupName reads <name> behind (?P.
func (p *parser) groupName() string {
	if !p.match('<') {
		t := p.get()
		if !t.some {
			p.fail(0, "unexpected end of pattern")
		}
		p.fail(t.size()+2, "unknown extension ?P%s", t)
	}
	name := p.until('>', "group name")
	if !identifier(name) {
		p.fail(len([]rune(name))+1, "bad character in group name %s", quoted(name))
	}
	return name
}

// named reads (?P=name).
func (p *parser) named() *node {
	name := p.until(')', "group name")
	back := len([]rune(name)) + 1
	if !identifier(name) {
		p.fail(back, "bad character in group name %s", quoted(name))
	}
	g, ok := p.names[name]
	if !ok {
		p.fail(back, "unknown group name %s", quoted(name))
	}
	if p.widths[g] == nil {
		p.fail(back, "cannot refer to an open group")
	}
	p.checkBehind(g)
	return &node{kind: reference, group: g}
}

// checkBehind refuses in a lookbehind a group that is defined in it.
func (p *parser) checkBehind(g int) {
	if p.behind < 0 {
		return
	}
	if g >= len(p.widths) || p.widths[g] == nil {
		p.fail(0, "cannot refer to an open group")
	}
	if g >= p.behind {
		p.fail(0, "cannot refer to group defined in the same lookbehind subpattern")
	}
}

func (p *parser) assertion(t token, verbose bool, nested, start int) *node {
	n := &node{kind: assertion}
	outer := p.behind
	if t.is('<') {
		n.behind = true
		t = p.get()
		if !t.some {
			p.fail(0, "unexpected end of pattern")
		}
		if !t.in("=!") {
			p.fail(t.size()+2, "unknown extension ?<%s", t)
		}
		if outer < 0 {
			p.behind = len(p.widths)
		}
	}
	n.negated = t.is('!')
	n.subs = []seq{p.alternatives(verbose, nested+1)}
	if n.behind {
		p.behind = outer
	}
	p.closed(start)
	return n
}

// condition reads (?(1)yes|no).
func (p *parser) condition(verbose bool, nested, start int) *node {
	name := p.until(')', "group name")
	back := len([]rune(name)) + 1
	g, ok := p.names[name]
	switch {
	case ok:
	case identifier(name):
		p.fail(back, "unknown group name %s", quoted(name))
	case strings.Trim(name, "0123456789") != "":
		p.fail(back, "bad character in group name %s", quoted(name))
	default:
		var err error
		if g, err = strconv.Atoi(name); err != nil || g > math.MaxInt32 {
			p.fail(back, "invalid group reference %s", name)
		}
		if g == 0 {
			p.fail(back, "bad group number")
		}
		p.refs = append(p.refs, groupRef{g, p.tell() - back})
	}
	p.checkBehind(g)
	n := &node{kind: condition, group: g, subs: []seq{p.sequence(verbose, nested+1, false)}}
	if p.match('|') {
		n.subs = append(n.subs, p.sequence(verbose, nested+1, false))
		if p.next.is('|') {
			p.fail(0, "conditional backref with more than two branches")
		}
	}
	p.closed(start)
	return n
}

var flagLetters = map[rune]Flags{'i': IgnoreCase, 'm': Multiline, 's': DotAll, 'x': Verbose, 'a': ASCII, 'u': Unicode}

// inlineFlags reads (?i), which is global, and (?i-s:, which it gives to n.
func (p *parser) inlineFlags(t token, n *node) (global bool) {
	for !t.is('-') {
		p.letter(t, &n.add)
		if n.add&ASCII != 0 && n.add&Unicode != 0 {
			p.fail(0, "bad inline flags: flags 'a', 'u' and 'L' are incompatible")
		}
		if t = p.get(); t.in(")-:") {
			break
		}
		p.flagExpected(t, "missing -, : or )")
	}
	if t.is(')') {
		p.flags |= n.add
		return true
	}
	if t.is('-') {
		t = p.get()
		p.flagExpected(t, "missing flag")
		for !t.is(':') {
			p.letter(t, &n.del)
			if n.del&(ASCII|Unicode) != 0 {
				p.fail(0, "bad inline flags: cannot turn off flags 'a', 'u' and 'L'")
			}
			if t = p.get(); !t.is(':') {
				p.flagExpected(t, "missing :")
			}
		}
	}
	if n.add&n.del != 0 {
		p.fail(1, "bad inline flags: flag turned on and off")
	}
	return false
}

func (p *parser) letter(t token, flags *Flags) {
	f, ok := flagLetters[t.r]
	switch {
	case ok:
		*flags |= f
	case t.is('L'):
		p.fail(0, "bad inline flags: cannot use 'L' flag with a str pattern")
	default:
		p.fail(0, "unsupported inline flag %q (supported: a, i, m, s, u, x)", t.r)
	}
}

func (p *parser) flagExpected(t token, missing string) {
	switch {
	case !t.some:
		p.fail(0, "%s", missing)
	case t.in("iLmsxatu"):
	case !t.escaped && unicode.IsLetter(t.r):
		p.fail(t.size(), "unknown flag")
	default:
		p.fail(t.size(), "%s", missing)
	}
}

// width returns how many characters a part matches, at least and at most.
func (p *parser) width(s seq) width {
	var out width
	for _, n := range s {
		w := p.nodeWidth(n)
		out = width{saturate(out.lo, w.lo), saturate(out.hi, w.hi)}
	}
	return out
}

func (p *parser) nodeWidth(n *node) width {
	switch n.kind {
	case literal, class, anyChar:
		return width{1, 1}
	case group, atomic:
		return p.width(n.subs[0])
	case reference:
		return *p.widths[n.group]
	case branch, condition:
		w := p.width(n.subs[0])
		for _, s := range n.subs[1:] {
			o := p.width(s)
			w = width{min(w.lo, o.lo), max(w.hi, o.hi)}
		}
		if n.kind == condition && len(n.subs) == 1 {
			w.lo = 0
		}
		return w
	case repeat:
		w := p.width(n.subs[0])
		out := width{times(w.lo, n.min), times(w.hi, n.max)}
		if n.max == infinite && w.hi > 0 {
			out.hi = math.MaxUint64
		}
		return out
	}
	return width{}
}

func saturate(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

func times(a uint64, b uint32) uint64 {
	if b > 0 && a > math.MaxUint64/uint64(b) {
		return math.MaxUint64
	}
	return a * uint64(b)
}

// captures reports whether a part has groups.
func (s seq) captures() bool {
	return slices.ContainsFunc(s, func(n *node) bool {
		return n.group > 0 && n.kind == group || slices.ContainsFunc(n.subs, seq.captures)
	})
}
