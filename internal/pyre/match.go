package pyre

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Budget is what matching may take. Steps are counted and not timed, so that a run can be repeated.
type Budget struct {
	Steps int         // those left
	Stop  func() bool // asked now and then; true ends the search with ErrStopped; nil: never
}

// ErrSteps says that the budget has no steps left, ErrStopped that Stop ended the search.
var (
	ErrSteps   = errors.New("the regular expression takes too many steps")
	ErrStopped = errors.New("the regular expression takes too long")
)

// maxFrames bounds the memory of a search: a frame has 16 bytes.
const maxFrames = 1 << 23

// ErrMemory says that the places to go back to need more memory than maxFrames.
var ErrMemory = fmt.Errorf("the regular expression needs more than %d MB", maxFrames>>16)

// fuelAtOnce is how many steps are taken before the budget is asked again.
const fuelAtOnce = 1 << 16

// A frame is what the machine goes back to, or a value that it restores on its way back.
type frame struct {
	kind frameKind
	pc   int32
	a, b int32
}

type frameKind int32

const (
	goOn     frameKind = iota // at pc, place a
	oldMark                   // mark pc was a
	oldLoop                   // loop pc was a, b
	shorter                   // opRep at pc has matched up to a, and may give back down to b
	longer                    // lazy opRep at pc has matched b characters, up to a
	again                     // lazy opUntil at pc, place a: the body once more
	boundary                  // opAssert or opAtomic at pc began at a; the boundary before is b
)

type loopState struct{ count, last int32 }

// A machine is one run of a program over a text.
type machine struct {
	re       *Regexp
	text     string
	marks    []int32
	loops    []loopState
	stack    []frame
	boundary int32 // of the current body, in stack; -1: none
	start    int
	full     bool // a match must reach the end
	advance  bool // a match must not be empty
	mustAt   int  // where re.must was found last; -1: not looked for
	fuel     int
	budget   *Budget
	err      error
}

func (re *Regexp) machine(text string, b *Budget) *machine {
	m, _ := re.machines.Get().(*machine)
	if m == nil {
		m = &machine{re: re, marks: make([]int32, 2*re.Groups), loops: make([]loopState, re.loops)}
	}
	m.text, m.budget, m.mustAt, m.full, m.advance, m.err = text, b, -1, false, false, nil
	m.fuel = max(0, min(fuelAtOnce, b.Steps)) // a short search need not ask Stop
	b.Steps -= m.fuel
	return m
}

// close gives back what is left of the fuel.
func (m *machine) close() {
	m.budget.Steps += max(0, m.fuel)
	m.text, m.budget = "", nil
	if cap(m.stack) < 1<<16 {
		m.re.machines.Put(m)
	}
}

// Find returns the first match: two byte places for each group, -1 where a group has no part in it. Without a match it is nil.
func (re *Regexp) Find(text string, mode Mode, b *Budget) ([]int, error) {
	if len(text) > maxText {
		return nil, ErrMemory
	}
	m := re.machine(text, b)
	defer m.close()
	var end int
	if mode == Search {
		end = m.search(0, false)
	} else {
		m.full = mode == FullMatch
		end = m.run(0, false)
	}
	if m.err != nil || end < 0 {
		return nil, m.err
	}
	return m.groups(end), nil
}

// All gives each match to f, as Python's finditer finds them, until f returns false or an error.
func (re *Regexp) All(text string, b *Budget, f func(at []int) (bool, error)) error {
	if len(text) > maxText {
		return ErrMemory
	}
	m := re.machine(text, b)
	defer m.close()
	for from, advance := 0, false; from <= len(text); {
		end := m.search(from, advance)
		if m.err != nil || end < 0 {
			return m.err
		}
		if more, err := f(m.groups(end)); err != nil || !more {
			return err
		}
		from, advance = end, m.start == end
	}
	return nil
}

func (m *machine) groups(end int) []int {
	at := make([]int, 2+len(m.marks))
	at[0], at[1] = m.start, end
	for g := 0; g < len(m.marks); g += 2 {
		at[g+2], at[g+3] = int(m.marks[g]), int(m.marks[g+1])
		if at[g+2] < 0 || at[g+3] < 0 {
			at[g+2], at[g+3] = -1, -1
		}
	}
	return at
}

// burn takes n steps, and reports whether the search may go on.
func (m *machine) burn(n int) bool {
	m.fuel -= n
	if m.fuel >= 0 {
		return true
	}
	need := max(fuelAtOnce, -m.fuel)
	switch {
	case m.err != nil:
		return false
	case m.budget.Stop != nil && m.budget.Stop():
		m.err = ErrStopped
	case m.budget.Steps < -m.fuel:
		m.err, m.budget.Steps = ErrSteps, 0
	default:
		need = min(need, m.budget.Steps)
		m.budget.Steps -= need
		m.fuel += need
		return true
	}
	m.fuel = 0
	return false
}

// search returns the end of the first match from a place on; -1: there is none. The first place must not match nothing if advance is set.
func (m *machine) search(from int, advance bool) int {
	for pos := from; m.err == nil; {
		next := m.candidate(pos)
		if next < 0 {
			return -1
		}
		if !m.burn(1 + (next-pos)>>3) {
			return -1
		}
		pos = next
		if end := m.run(pos, advance && pos == from); end >= 0 {
			return end
		}
		if m.re.anchored || pos >= len(m.text) {
			return -1
		}
		pos += m.width(pos)
	}
	return -1
}

// candidate is the next place where a match can begin; -1: there is none.
func (m *machine) candidate(pos int) int {
	re := m.re
	switch {
	case re.anchored && pos > 0:
		return -1
	case re.prefix != "":
		i := strings.Index(m.text[pos:], re.prefix)
		if i < 0 {
			m.burn((len(m.text) - pos) >> 5)
			return -1
		}
		pos += i
	case re.first != nil:
		from := pos
		for pos < len(m.text) && !re.first[m.text[pos]] {
			pos++
		}
		if pos == len(m.text) {
			m.burn((pos - from) >> 3)
			return -1
		}
	}
	if re.must != "" && m.mustAt < pos {
		i := strings.Index(m.text[pos:], re.must)
		if i < 0 {
			m.burn((len(m.text) - pos) >> 5)
			return -1
		}
		m.mustAt = pos + i
		m.burn(i >> 5)
	}
	return pos
}

func (m *machine) width(pos int) int {
	if m.text[pos] < utf8.RuneSelf {
		return 1
	}
	_, w := utf8.DecodeRuneInString(m.text[pos:])
	return w
}

// run matches at a place, and returns where the match ends; -1: it does not match.
func (m *machine) run(start int, advance bool) int {
	m.start, m.advance, m.boundary, m.stack = start, advance, -1, m.stack[:0]
	for i := range m.marks {
		m.marks[i] = -1
	}
	pc, pos := 0, start
	for {
		if m.fuel--; m.fuel < 0 && !m.burn(0) {
			return -1
		}
		if pc < 0 {
			if pc, pos = m.back(); pc < 0 {
				return -1
			}
		}
		in := &m.re.prog[pc]
		switch in.op {
		case opLit:
			if strings.HasPrefix(m.text[pos:], in.str) {
				pc, pos = pc+1, pos+len(in.str)
			} else {
				pc = -1
			}
		case opSet:
			pc, pos = m.set(in, pc, pos)
		case opMark:
			m.mark(in.x, pos)
			pc++
		case opRep:
			pc, pos = m.rep(in, pc, pos)
		case opSplit:
			m.push(frame{goOn, in.x, int32(pos), 0})
			pc++
		case opJump:
			pc = int(in.x)
		case opLoop:
			m.setLoop(in.x, loopState{-1, -1})
			pc = int(in.end)
		case opUntil:
			pc = m.until(in, pc, pos)
		case opAt:
			if m.at(in, pos) {
				pc++
			} else {
				pc = -1
			}
		case opAccept:
			if m.full && pos != len(m.text) || m.advance && pos == start {
				pc = -1
			} else {
				return pos
			}
		default:
			pc, pos = m.other(in, pc, pos)
		}
	}
}

// other runs the rare instructions.
func (m *machine) other(in *inst, pc, pos int) (int, int) {
	switch in.op {
	case opAssert:
		return m.assert(in, pc, pos)
	case opAtomic:
		m.push(frame{boundary, int32(pc), int32(pos), m.boundary})
		m.boundary = int32(len(m.stack) - 1)
		return pc + 1, pos
	case opClose:
		return m.closeBody(pc, pos)
	case opRef:
		return m.ref(in, pc, pos)
	case opCond:
		if s, e := m.marks[2*in.x-2], m.marks[2*in.x-1]; s < 0 || e < 0 || e < s {
			return int(in.y), pos
		}
		return pc + 1, pos
	}
	return -1, pos
}

func (m *machine) push(f frame) {
	if len(m.stack) >= maxFrames {
		m.err, m.fuel = ErrMemory, 0
		return
	}
	m.stack = append(m.stack, f)
}

func (m *machine) mark(i int32, pos int) {
	if len(m.stack) > 0 { // otherwise there is nothing to go back to
		m.push(frame{oldMark, i, m.marks[i], 0})
	}
	m.marks[i] = int32(pos)
}

func (m *machine) setLoop(i int32, to loopState) {
	if len(m.stack) > 0 {
		m.push(frame{oldLoop, i, m.loops[i].count, m.loops[i].last})
	}
	m.loops[i] = to
}

func (m *machine) set(in *inst, pc, pos int) (int, int) {
	if pos >= len(m.text) {
		return -1, pos
	}
	if c := m.text[pos]; c < utf8.RuneSelf {
		if in.set.ascii[c] {
			return pc + 1, pos + 1
		}
		return -1, pos
	}
	r, w := utf8.DecodeRuneInString(m.text[pos:])
	if in.set.slow(r) {
		return pc + 1, pos + w
	}
	return -1, pos
}

// scan passes at most n characters of a set, and returns how many they were.
func (m *machine) scan(set *charset, pos int, n uint32) (end int, count uint32) {
	from := pos
	for ; count < n && pos < len(m.text); count++ {
		if c := m.text[pos]; c < utf8.RuneSelf {
			if !set.ascii[c] {
				break
			}
			pos++
			continue
		}
		r, w := utf8.DecodeRuneInString(m.text[pos:])
		if !set.slow(r) {
			break
		}
		pos += w
	}
	m.burn((pos - from) >> 3)
	return pos, count
}

// scanAll passes all characters of a set.
func (m *machine) scanAll(set *charset, pos int) int {
	end := len(m.text)
	switch {
	case set.all:
	case set.stop >= 0:
		if i := strings.IndexByte(m.text[pos:], byte(set.stop)); i >= 0 {
			end = pos + i
		}
	default:
		end, _ = m.scan(set, pos, infinite)
		return end
	}
	m.burn((end - pos) >> 5)
	return end
}

// rep matches a repetition of one character.
func (m *machine) rep(in *inst, pc, pos int) (int, int) {
	least := pos
	if in.min > 0 {
		var n uint32
		if least, n = m.scan(in.set, pos, in.min); n < in.min {
			return -1, pos
		}
	}
	if in.style == lazy {
		return m.lengthen(in, pc, least, in.min)
	}
	end := least
	if in.max == infinite {
		end = m.scanAll(in.set, least)
	} else if in.max > in.min {
		end, _ = m.scan(in.set, least, in.max-in.min)
	}
	if in.style == possessive {
		return pc + 1, end
	}
	return m.shorten(in, pc, end, least)
}

// shorten goes on behind a greedy repetition that ends at end, or before where the text that follows is found.
func (m *machine) shorten(in *inst, pc, end, least int) (int, int) {
	if in.look >= 0 && (end >= len(m.text) || m.text[end] != byte(in.look)) {
		i := strings.LastIndexByte(m.text[least:end], byte(in.look))
		m.burn((end - least - max(i, 0)) >> 3)
		if i < 0 {
			return -1, end
		}
		end = least + i
	}
	if end > least {
		m.push(frame{shorter, int32(pc), int32(end), int32(least)})
	}
	return pc + 1, end
}

// lengthen goes on behind a lazy repetition of count characters that ends at pos, or later where the text that follows is found.
func (m *machine) lengthen(in *inst, pc, pos int, count uint32) (int, int) {
	from := pos
	for in.look >= 0 && (pos >= len(m.text) || m.text[pos] != byte(in.look)) {
		if count >= in.max || pos >= len(m.text) {
			m.burn((pos - from) >> 2)
			return -1, pos
		}
		next, w := m.set(in, 0, pos)
		if next < 0 {
			m.burn((pos - from) >> 2)
			return -1, pos
		}
		pos, count = w, count+1
	}
	m.burn((pos - from) >> 2)
	if count < in.max && pos < len(m.text) {
		m.push(frame{longer, int32(pc), int32(pos), int32(count)})
	}
	return pc + 1, pos
}

// until ends a turn of a loop: the body again, or what follows. Behind an empty turn there is no other, as in Python.
func (m *machine) until(in *inst, pc, pos int) int {
	old := m.loops[in.x]
	count := old.count + 1
	switch {
	case uint32(count) < in.min:
		m.setLoop(in.x, loopState{count, old.last})
		return int(in.y)
	case in.style == lazy:
		m.push(frame{again, int32(pc), int32(pos), 0})
		return pc + 1
	case (uint32(count) < in.max || in.max == infinite) && int32(pos) != old.last:
		m.push(frame{oldLoop, in.x, old.count, old.last})
		m.push(frame{goOn, int32(pc + 1), int32(pos), 0})
		m.loops[in.x] = loopState{count, int32(pos)}
		return int(in.y)
	}
	return pc + 1
}

// back goes to the last place where the match can go on otherwise; pc is -1 where there is none.
func (m *machine) back() (pc, pos int) {
	for len(m.stack) > 0 {
		top := len(m.stack) - 1
		f := m.stack[top]
		m.stack = m.stack[:top]
		pc, pos = -1, int(f.a)
		switch f.kind {
		case goOn:
			return int(f.pc), pos
		case oldMark:
			m.marks[f.pc] = f.a
		case oldLoop:
			m.loops[f.pc] = loopState{f.a, f.b}
		case shorter:
			_, w := utf8.DecodeLastRuneInString(m.text[f.b:f.a])
			pc, pos = m.shorten(&m.re.prog[f.pc], int(f.pc), pos-w, int(f.b))
		case longer:
			in := &m.re.prog[f.pc]
			if next, end := m.set(in, 0, pos); next >= 0 {
				pc, pos = m.lengthen(in, int(f.pc), end, uint32(f.b)+1)
			}
		case again:
			pc = m.once(int(f.pc), pos)
		case boundary:
			m.boundary = f.b
			if in := &m.re.prog[f.pc]; in.negated {
				pc = int(in.end)
			}
		}
		if pc >= 0 {
			return pc, pos
		}
		if m.fuel--; m.fuel < 0 && !m.burn(0) {
			break
		}
	}
	return -1, 0
}

// once has a lazy loop match its body once more.
func (m *machine) once(pc, pos int) int {
	in := &m.re.prog[pc]
	old := m.loops[in.x]
	count := old.count + 1
	if in.max != infinite && uint32(count) >= in.max || int32(pos) == old.last {
		return -1
	}
	m.setLoop(in.x, loopState{count, int32(pos)})
	return int(in.y)
}

func (m *machine) assert(in *inst, pc, pos int) (int, int) {
	from := pos
	for n := in.y; n > 0; n-- {
		if from == 0 {
			if in.negated {
				return int(in.end), pos
			}
			return -1, pos
		}
		_, w := utf8.DecodeLastRuneInString(m.text[:from])
		from -= w
	}
	m.burn(int(in.y) >> 3)
	m.push(frame{boundary, int32(pc), int32(pos), m.boundary})
	m.boundary = int32(len(m.stack) - 1)
	return pc + 1, from
}

// closeBody ends the body of an assertion or an atomic group: it is not gone back into.
func (m *machine) closeBody(pc, pos int) (int, int) {
	at := m.boundary
	if at < 0 || int(at) >= len(m.stack) { // the stack was full
		return -1, pos
	}
	f := m.stack[at]
	in := &m.re.prog[f.pc]
	body := m.stack[at+1:]
	m.boundary = f.b
	m.burn(len(body) >> 2)
	if in.negated {
		for i := len(body) - 1; i >= 0; i-- {
			switch o := body[i]; o.kind {
			case oldMark:
				m.marks[o.pc] = o.a
			case oldLoop:
				m.loops[o.pc] = loopState{o.a, o.b}
			}
		}
		m.stack = m.stack[:at]
		return -1, pos
	}
	m.stack = m.stack[:at]
	for _, o := range body {
		if o.kind == oldMark || o.kind == oldLoop {
			m.stack = append(m.stack, o)
		}
	}
	if in.op == opAssert {
		return int(in.end), int(f.a)
	}
	return pc + 1, pos
}

func (m *machine) ref(in *inst, pc, pos int) (int, int) {
	s, e := int(m.marks[2*in.x-2]), int(m.marks[2*in.x-1])
	if s < 0 || e < s {
		return -1, pos
	}
	m.burn((e - s) >> 3)
	was := m.text[s:e]
	if in.fold == 0 {
		if strings.HasPrefix(m.text[pos:], was) {
			return pc + 1, pos + len(was)
		}
		return -1, pos
	}
	fold := lower
	if in.fold&ASCII != 0 {
		fold = lowerASCII
	}
	for _, r := range was {
		if pos >= len(m.text) {
			return -1, pos
		}
		x, w := utf8.DecodeRuneInString(m.text[pos:])
		if fold(x) != fold(r) {
			return -1, pos
		}
		pos += w
	}
	return pc + 1, pos
}

func (m *machine) at(in *inst, pos int) bool {
	text := m.text
	switch in.x {
	case atStart, atTextStart:
		return pos == 0
	case atTextEnd:
		return pos == len(text)
	case atEnd:
		return pos == len(text) || pos == len(text)-1 && text[pos] == '\n'
	case atLineStart:
		return pos == 0 || text[pos-1] == '\n'
	case atLineEnd:
		return pos == len(text) || text[pos] == '\n'
	}
	if text == "" { // Python 3.11 has no border there, and no place without one
		return false
	}
	before, after := false, false
	if pos > 0 {
		r, _ := utf8.DecodeLastRuneInString(text[:pos])
		before = isWord(r, in.ascii)
	}
	if pos < len(text) {
		r, _ := utf8.DecodeRuneInString(text[pos:])
		after = isWord(r, in.ascii)
	}
	return (before != after) == (in.x == atBoundary)
}
