// Package pyre matches regular expressions as CPython 3.11's module re does: the same syntax, the same matches, groups and spans. A match
// is found by backtracking, as Python finds it, and every search has a budget of steps, so that no pattern runs without end.
package pyre

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
)

// Flags change what a pattern means. The numbers are Python's.
type Flags int

// The flags of Python's re for text patterns.
const (
	IgnoreCase Flags = 2
	Multiline  Flags = 8
	DotAll     Flags = 16
	Unicode    Flags = 32
	Verbose    Flags = 64
	ASCII      Flags = 256
)

const known = IgnoreCase | Multiline | DotAll | Unicode | Verbose | ASCII

// Mode says where in the text a match must lie.
type Mode int

// Search matches anywhere, Match at the start, FullMatch from start to end.
const (
	Search Mode = iota
	Match
	FullMatch
)

// maxSource is the largest pattern in bytes, and maxText the largest text: places are kept as 32-bit numbers.
const (
	maxSource = 1 << 16
	maxText   = math.MaxInt32 - 1
)

// A Regexp is a compiled pattern. It may be used by many goroutines at once.
type Regexp struct {
	Source string
	Flags  Flags
	Groups int            // without group 0
	Names  []string       // by group; "" where a group has no name
	Index  map[string]int // the group of each name

	prog     []inst
	loops    int
	prefix   string     // every match begins with it
	must     string     // every match holds it
	first    *[256]bool // the first bytes that a match can have; nil: any, or none
	anchored bool       // a match begins where the text begins
	machines sync.Pool
}

// Compile reads a pattern. Its errors are Python's, or name what is not supported.
func Compile(source string, flags Flags) (*Regexp, error) {
	switch {
	case len(source) > maxSource:
		return nil, fmt.Errorf("the pattern has %d bytes, the limit is %d", len(source), maxSource)
	case flags&^known != 0:
		return nil, errors.New("unsupported flag (supported: re.A, re.I, re.M, re.S, re.U, re.X)")
	case flags&ASCII != 0 && flags&Unicode != 0:
		return nil, errors.New("ASCII and UNICODE flags are incompatible")
	}
	p, body, err := parse(source, flags)
	if err != nil {
		return nil, err
	}
	re := &Regexp{Source: source, Groups: len(p.widths) - 1, Names: make([]string, len(p.widths)), Index: p.names}
	for name, g := range p.names {
		re.Names[g] = name
	}
	if re.Flags = p.flags; re.Flags&ASCII == 0 {
		re.Flags |= Unicode
	}
	c := compiler{parser: p}
	if err := c.compile(body, re.Flags); err != nil {
		return nil, err
	}
	c.emit(inst{op: opAccept})
	re.prog, re.loops = c.prog, c.loops
	re.study()
	return re, nil
}

// study finds what lets a search skip places where no match can begin.
func (re *Regexp) study() {
	var prefix strings.Builder
	pc := 0
	for ; re.prog[pc].op == opMark || re.prog[pc].op == opLit; pc++ {
		prefix.WriteString(re.prog[pc].str)
	}
	re.prefix = prefix.String()
	re.must = longestLiteral(re.prog, 0, len(re.prog))
	pc = 0
	for re.prog[pc].op == opMark {
		pc++
	}
	re.anchored = re.prog[pc].op == opAt && (re.prog[pc].x == atStart || re.prog[pc].x == atTextStart)
	var set [256]bool
	if budget := 10_000; re.firstBytes(0, &set, &budget) {
		re.first = &set
	}
}

// longestLiteral returns the longest text of prog[from:to] that no match goes around.
func longestLiteral(prog []inst, from, to int) (longest string) {
	take := func(s string) {
		if len(s) > len(longest) {
			longest = s
		}
	}
	for pc := from; pc < to; pc++ {
		switch in := &prog[pc]; in.op {
		case opLit:
			take(in.str)
		case opSplit, opCond, opAssert:
			pc = int(in.end) - 1
		case opLoop:
			if in.min > 0 {
				take(longestLiteral(prog, pc+1, int(in.end)))
			}
			pc = int(in.end)
		}
	}
	return longest
}

// firstBytes adds the bytes that a match from pc on can begin with, and reports whether these are all: false where it may be empty.
func (re *Regexp) firstBytes(pc int, set *[256]bool, budget *int) bool {
	for {
		if *budget--; *budget < 0 {
			return false
		}
		switch in := &re.prog[pc]; in.op {
		case opLit:
			set[in.str[0]] = true
			return true
		case opSet:
			in.set.firstBytes(set)
			return true
		case opRep:
			in.set.firstBytes(set)
			if in.min > 0 {
				return true
			}
			pc++
		case opMark, opAt, opAtomic, opClose:
			pc++
		case opAssert:
			pc = int(in.end)
		case opJump:
			pc = int(in.x)
		case opSplit:
			if !re.firstBytes(pc+1, set, budget) {
				return false
			}
			pc = int(in.x)
		case opLoop:
			if in.min > 0 {
				pc++
				continue
			}
			if !re.firstBytes(pc+1, set, budget) {
				return false
			}
			pc = int(in.end) + 1
		case opUntil: // the body was empty
			pc++
		case opFail:
			return true
		default:
			return false
		}
	}
}
