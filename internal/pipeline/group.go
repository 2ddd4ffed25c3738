package pipeline

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rlprep/rlprep/internal/spill"
	"github.com/rlprep/rlprep/schema/rule"
)

// A hit is what a rule emitted for one row.
type hit struct {
	rule  uint16
	key   rule.Key
	file  uint32
	row   int64
	group int32
	line  int64
	value uint64
}

// hitSize is the size of a spilled hit; its first keyPart bytes name rule and key.
const (
	hitSize = 2 + 16 + 4 + 8 + 4 + 8 + 8
	keyPart = 2 + 16
)

func (h *hit) append(b []byte) []byte {
	n := len(b)
	b = slices.Grow(b, hitSize)[:n+hitSize]
	at, be := b[n:][:hitSize], binary.BigEndian
	be.PutUint16(at, h.rule)
	copy(at[2:], h.key[:])
	be.PutUint32(at[18:], h.file)
	be.PutUint64(at[22:], uint64(h.row))
	be.PutUint32(at[30:], uint32(h.group))
	be.PutUint64(at[34:], uint64(h.line))
	be.PutUint64(at[42:], h.value)
	return b
}

func readHit(b []byte) hit {
	be := binary.BigEndian
	return hit{rule: be.Uint16(b), key: rule.Key(b[2:18]), file: be.Uint32(b[18:]), row: int64(be.Uint64(b[22:])),
		group: int32(be.Uint32(b[30:])), line: int64(be.Uint64(b[34:])), value: be.Uint64(b[42:])}
}

// hitPool holds memory for the hits of a unit.
var hitPool = sync.Pool{New: func() any { return new([]byte) }}

func freeHits(b []byte) {
	if cap(b) > 0 {
		b = b[:0]
		hitPool.Put(&b)
	}
}

// An emitted is hits in the order in which they were emitted.
type emitted struct {
	spill.Run      // of spilled hits
	kept      Kept // or what a Cache has of a file; nil: the run
	file      int  // that all that is kept is of
}

// blockHits is how many hits are read at a time: 400 kB, of which a few are held by each worker.
const blockHits = 1 << 13

// pieces cuts e into what is read at a time.
func (e emitted) pieces() (out []piece, err error) {
	if e.kept != nil {
		for i := range e.kept.Blocks() {
			out = append(out, piece{e, i})
		}
		return out, nil
	}
	if e.Len%hitSize != 0 {
		return nil, fmt.Errorf("spill file: %d bytes hold no whole number of records", e.Len)
	}
	for at := int64(0); at < e.Len; at += blockHits * hitSize {
		out = append(out, piece{emitted: emitted{Run: spill.Run{From: e.From, Off: e.Off + at, Len: min(blockHits*hitSize, e.Len-at)}}})
	}
	return out, nil
}

// A piece is hits that are read at a time.
type piece struct {
	emitted
	block int // of what is kept
}

// hits reads the hits into b.
func (p piece) hits(b []byte) ([]byte, error) {
	if p.kept == nil {
		b = slices.Grow(b[:0], int(p.Len))[:p.Len]
		if n, err := p.From.ReadAt(b, p.Off); n < len(b) {
			return nil, fmt.Errorf("read spill file: %w", err)
		}
		return b, nil
	}
	b, err := p.kept.Records(p.block, b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKept, err)
	}
	for i := 0; i < len(b); i += hitSize {
		binary.BigEndian.PutUint32(b[i+keyPart:], uint32(p.file))
	}
	return b, nil
}

// always marks a hit that is to be judged even where no other has its key.
const always = ^uint64(0)

// mark is what a hit is sifted by: nearly as distinct as rule and key are.
func mark(hit []byte, lone []bool) uint64 {
	rule := binary.BigEndian.Uint16(hit)
	if lone[rule] {
		return always
	}
	return binary.BigEndian.Uint64(hit[2:]) ^ uint64(rule)*0x9e3779b97f4a7c15
}

// sift adds hits to a sieve.
func sift(to *spill.Adder, hits []byte, lone []bool) {
	for ; len(hits) > 0; hits = hits[hitSize:] {
		if m := mark(hits, lone); m != always {
			to.Add(m)
		}
	}
}

// A sifter tells which hits are to be judged: those that are always, and those whose key others have too. Of the few that the first sieve lets
// through for no reason the second, made of those that pass it, holds back nearly all.
type sifter struct {
	lone          []bool
	first, second *spill.Sieve
	marks, hits   []byte // of the piece at hand
}

// load reads the marks of p, and of spilled hits these themselves.
func (s *sifter) load(p piece) (err error) {
	if p.kept != nil {
		s.hits = s.hits[:0]
		if s.marks, err = p.kept.Marks(p.block, s.marks); err != nil {
			return fmt.Errorf("%w: %w", ErrKept, err)
		}
		return nil
	}
	if s.hits, err = p.hits(s.hits); err != nil {
		return err
	}
	s.marks = s.marks[:0]
	for b := s.hits; len(b) > 0; b = b[hitSize:] {
		s.marks = binary.LittleEndian.AppendUint64(s.marks, mark(b, s.lone))
	}
	return nil
}

// again adds what passes the first sieve to the second.
func (s *sifter) again(to *spill.Adder, p piece) error {
	if err := s.load(p); err != nil {
		return err
	}
	for b := s.marks; len(b) > 0; b = b[8:] {
		if m := binary.LittleEndian.Uint64(b); m != always && s.first.Many(m) {
			to.Add(otherwise(m))
		}
	}
	return nil
}

// otherwise is a mark for the second sieve: the first looks at its upper half.
func otherwise(mark uint64) uint64 { return bits.RotateLeft64(mark, 32) }

// pick returns the hits of p that are to be judged.
func (s *sifter) pick(p piece) (out []byte, err error) {
	if err := s.load(p); err != nil {
		return nil, err
	}
	out = slices.Grow((*hitPool.Get().(*[]byte))[:0], len(s.marks)/8*hitSize) // what grows leaves much behind
	for i := range len(s.marks) / 8 {
		m := binary.LittleEndian.Uint64(s.marks[8*i:])
		if m != always && (!s.first.Many(m) || !s.second.Many(otherwise(m))) {
			continue
		}
		if len(s.hits) == 0 {
			if s.hits, err = p.hits(s.hits); err != nil {
				return nil, err
			}
		}
		out = append(out, s.hits[i*hitSize:(i+1)*hitSize]...)
	}
	return out, nil
}

// siftHits calls add, in order, for the hits that are to be judged.
func (p *Plan) siftHits(spilled []emitted, first *spill.Sieve, add func(b []byte) error) error {
	var all []piece
	for _, e := range spilled {
		some, err := e.pieces()
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	second := spill.NewSieve(p.Rows / 8)
	lone := p.lone()
	none := func([]byte) error { return nil }
	err := eachPiece(all, p.workers(), func() (func(piece) ([]byte, error), func()) {
		s, adder := &sifter{lone: lone, first: first}, second.Adder()
		return func(p piece) ([]byte, error) { return nil, s.again(adder, p) }, adder.Flush
	}, none)
	if err != nil {
		return err
	}
	second.Seal()
	return eachPiece(all, p.workers(), func() (func(piece) ([]byte, error), func()) {
		return (&sifter{lone: lone, first: first, second: second}).pick, func() {}
	}, func(hits []byte) error {
		defer freeHits(hits)
		for b := range slices.Chunk(hits, hitSize) {
			if err := add(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachPiece has workers do pieces and takes what they give, in order. start makes a worker: what it does, and what it does in the end.
func eachPiece(pieces []piece, workers int, start func() (do func(piece) ([]byte, error), end func()), take func([]byte) error) error {
	type done struct {
		hits []byte
		err  error
	}
	results := make([]chan done, len(pieces))
	for i := range results {
		results[i] = make(chan done, 1)
	}
	window := make(chan struct{}, 2*workers) // bounds what is held
	stop := make(chan struct{})
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(pieces)) {
		wg.Go(func() {
			do, end := start()
			defer end()
			for {
				select {
				case window <- struct{}{}:
				case <-stop:
					return
				}
				i := int(next.Add(1)) - 1
				if i >= len(pieces) {
					return
				}
				hits, err := do(pieces[i])
				results[i] <- done{hits, err}
			}
		})
	}
	err := func() error {
		for _, c := range results {
			r := <-c
			if r.err != nil {
				return r.err
			}
			if err := take(r.hits); err != nil {
				return err
			}
			<-window
		}
		return nil
	}()
	close(stop)
	wg.Wait()
	return err
}

// A sorter cuts hits into sorted runs: the first in memory, the others in a file that has no name.
type sorter struct {
	hits []hit
	buf  []byte // of what is written
	runs []spill.Run
	file *os.File
	size int64
	dir  string // of file; "": the system's
}

// sortedHits is how many hits are sorted in memory at a time.
const sortedHits = 1 << 16

func (s *sorter) add(b []byte) error {
	s.hits = append(s.hits, readHit(b))
	if len(s.hits) < sortedHits {
		return nil
	}
	return s.flush()
}

func (s *sorter) flush() (err error) {
	if len(s.hits) == 0 {
		return nil
	}
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.rule, b.rule), bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.file, b.file), cmp.Compare(a.row, b.row))
	})
	b := slices.Grow(s.buf[:0], len(s.hits)*hitSize)
	for _, h := range s.hits {
		b = h.append(b)
	}
	s.hits = s.hits[:0]
	if len(s.runs) == 0 {
		s.runs = append(s.runs, spill.Run{From: bytes.NewReader(b), Len: int64(len(b))})
		return nil
	}
	if s.file == nil {
		if s.file, err = nameless(s.dir); err != nil {
			return err
		}
	}
	s.buf = b
	if _, err := s.file.Write(b); err != nil {
		return fmt.Errorf("write spill file: %w", err)
	}
	s.runs = append(s.runs, spill.Run{From: s.file, Off: s.size, Len: int64(len(b))})
	s.size += int64(len(b))
	return nil
}

func (s *sorter) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// nameless returns a file in dir that is gone when it is closed.
func nameless(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".rlprep-*.keys")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// manyRows is how many rows a run has at least that gives memory back between its phases: it takes some 10 ms.
const manyRows = 1 << 20

// judge calls Group for every key that was spilled, of each rule of the channel that emitted it. Nearly all keys stand alone, and
// most rules do not mind those: they are sifted out before anything is sorted.
func (p *Plan) judge(spilled []emitted, sieve *spill.Sieve, sink func(rule.Finding)) error {
	if p.Rows >= manyRows {
		debug.FreeOSMemory() // what rows were read and written with is of no use here, and other sizes are asked for: both are not to be held
	}
	s := &sorter{dir: p.Job.TempDir, hits: make([]hit, 0, min(p.Rows, sortedHits))}
	defer s.close()
	err := p.siftHits(spilled, sieve, s.add)
	if err == nil {
		err = s.flush()
	}
	if err != nil {
		return err
	}
	return p.group(s.runs, p.listeners(sink), p.lone())
}

// group calls Group for the keys of sorted runs.
func (p *Plan) group(runs []spill.Run, listeners [][]rule.Checker, lone []bool) error {
	m, err := spill.NewMerger(hitSize, runs)
	if err != nil {
		return err
	}
	g := &groupReader{files: p.Job.Source.Files()}
	b, err := m.Next()
	for err == nil {
		copy(g.key[:], b)
		g.hits = g.hits[:0]
		for err == nil && g.same(b) && len(g.hits) < maxHeld {
			g.hits = append(g.hits, g.read(b))
			b, err = m.Next()
		}
		rest := err == nil && g.same(b)
		number := binary.BigEndian.Uint16(g.key[:])
		if len(g.hits) == 1 && !lone[number] {
			continue
		}
		for _, c := range listeners[number] {
			if err := g.call(c, m, rest); err != nil {
				return err
			}
		}
		for err == nil && g.same(b) {
			b, err = m.Next()
		}
	}
	if err != io.EOF {
		return err
	}
	return nil
}

// listeners are the checkers that are shown what a rule emits: its own, and those of the rules of its channel.
func (p *Plan) listeners(sink func(rule.Finding)) [][]rule.Checker {
	out := make([][]rule.Checker, len(p.Job.Rules))
	p.eachListener(sink, func(emitter int, pass *rule.Pass) { out[emitter] = append(out[emitter], pass.Rule.New(pass)) })
	return out
}

// lone says of each rule that emits whether one that is shown it looks at keys that were emitted once.
func (p *Plan) lone() []bool {
	out := make([]bool, len(p.Job.Rules))
	p.eachListener(func(rule.Finding) {}, func(emitter int, pass *rule.Pass) { out[emitter] = out[emitter] || pass.Rule.Lone })
	return out
}

// eachListener visits the passes of all rules with the number of the rule that emits what they are shown: the first of a channel.
func (p *Plan) eachListener(sink func(rule.Finding), visit func(emitter int, pass *rule.Pass)) {
	leader := map[string]int{}
	for i, pass := range p.Job.passes(nil, sink) {
		if pass == nil {
			continue
		}
		at := i
		if ch := pass.Rule.Channel; ch != "" {
			if first, ok := leader[ch]; ok {
				at = first
			} else {
				leader[ch] = i
			}
		}
		visit(at, pass)
	}
}

// maxHeld is how many hits of one key are held in memory; the rest is read once more for each rule that looks at it.
const maxHeld = 4096

// A groupReader hands the hits of one key to Group.
type groupReader struct {
	files []*rule.File
	key   [keyPart]byte
	hits  []rule.Hit
}

func (g *groupReader) same(b []byte) bool { return bytes.Equal(b[:keyPart], g.key[:]) }

func (g *groupReader) read(b []byte) rule.Hit {
	h := readHit(b)
	return rule.Hit{File: g.files[h.file], RowGroup: int(h.group), Row: h.row, Line: h.line, Value: h.value}
}

// call shows c the hits held and, where there are more, those that a copy of m has still to give; the one at which m stands
// is the first of them.
func (g *groupReader) call(c rule.Checker, m *spill.Merger, rest bool) error {
	var failed error
	c.Group(rule.Key(g.key[2:]), func(yield func(rule.Hit) bool) {
		for _, h := range g.hits {
			if !yield(h) {
				return
			}
		}
		if !rest {
			return
		}
		more, err := m.Clone()
		for err == nil {
			var b []byte
			if b, err = more.Next(); err == nil && (!g.same(b) || !yield(g.read(b))) {
				return
			}
		}
		if err != io.EOF {
			failed = err
		}
	})
	return failed
}
