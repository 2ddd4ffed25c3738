package pipeline

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
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

func (h hit) append(b []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint16(b, h.rule)
	b = append(b, h.key[:]...)
	b = be.AppendUint32(b, h.file)
	b = be.AppendUint64(b, uint64(h.row))
	b = be.AppendUint32(b, uint32(h.group))
	b = be.AppendUint64(b, uint64(h.line))
	return be.AppendUint64(b, h.value)
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

// sieveKey is what the sieve takes for a hit: nearly as distinct as rule and key are.
func sieveKey(b []byte) uint64 {
	return binary.BigEndian.Uint64(b[2:]) ^ uint64(binary.BigEndian.Uint16(b))*0x9e3779b97f4a7c15
}

// An emitted is a run of hits, in the order in which they were emitted.
type emitted struct {
	spill.Run
	file int // that all of them are of; asWritten: they say it
}

const asWritten = -1

// addHits adds hits to a sieve.
func addHits(a *spill.Adder, hits []byte) {
	for ; len(hits) > 0; hits = hits[hitSize:] {
		a.Add(sieveKey(hits))
	}
}

// eachBlock calls f for all hits that were spilled, many at a time.
func eachBlock(spilled []emitted, f func(hits []byte) error) error {
	block := *blockPool.Get().(*[]byte)
	defer blockPool.Put(&block)
	for _, r := range spilled {
		if r.Len%hitSize != 0 {
			return fmt.Errorf("spill file: %d bytes hold no whole number of records", r.Len)
		}
		for at := int64(0); at < r.Len; {
			b := block[:min(int64(len(block)), r.Len-at)]
			if n, err := r.From.ReadAt(b, r.Off+at); n < len(b) {
				return fmt.Errorf("read spill file: %w", err)
			}
			at += int64(len(b))
			for i := 0; r.file != asWritten && i < len(b); i += hitSize {
				binary.BigEndian.PutUint32(b[i+keyPart:], uint32(r.file))
			}
			if err := f(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// siftHits calls add, in order, for the hits that keep wants; that is asked by several workers at once.
func siftHits(spilled []emitted, workers int, keep func(b []byte) bool, add func(b []byte) error) error {
	var pieces []emitted
	for _, r := range spilled {
		for at := int64(0); at < r.Len; at += pieceHits * hitSize {
			pieces = append(pieces, emitted{spill.Run{From: r.From, Off: r.Off + at, Len: min(pieceHits*hitSize, r.Len-at)}, r.file})
		}
	}
	type sifted struct {
		hits []byte
		err  error
	}
	results := make([]chan sifted, len(pieces))
	for i := range results {
		results[i] = make(chan sifted, 1)
	}
	window := make(chan struct{}, 2*workers) // bounds what is held
	stop := make(chan struct{})
	var next atomic.Int64
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	for range min(workers, len(pieces)) {
		wg.Go(func() {
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
				var out sifted
				out.err = eachBlock(pieces[i:i+1], func(b []byte) error {
					for ; len(b) > 0; b = b[hitSize:] {
						if keep(b[:hitSize]) {
							out.hits = append(out.hits, b[:hitSize]...)
						}
					}
					return nil
				})
				results[i] <- out
			}
		})
	}
	for _, c := range results {
		r := <-c
		if r.err != nil {
			return r.err
		}
		for b := range slices.Chunk(r.hits, hitSize) {
			if err := add(b); err != nil {
				return err
			}
		}
		<-window
	}
	return nil
}

// pieceHits is how many hits a worker sifts at a time.
const pieceHits = 8 * blockHits

// blockHits is how many hits are read at a time.
const blockHits = 4096

// blockPool holds memory for them.
var blockPool = sync.Pool{New: func() any { b := make([]byte, blockHits*hitSize); return &b }}

// A sorter cuts hits into sorted runs: the first in memory, the others in a file that has no name.
type sorter struct {
	hits []hit
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
	b := make([]byte, 0, len(s.hits)*hitSize)
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

// judge calls Group for every key that was spilled, of each rule of the channel that emitted it. Nearly all keys stand alone, and
// most rules do not mind those: they are sifted out before anything is sorted.
func (p *Plan) judge(spilled []emitted, sieve *spill.Sieve, sink func(rule.Finding)) error {
	listeners, lone := p.listeners(sink)
	s := &sorter{dir: p.Job.TempDir}
	defer s.close()
	err := siftHits(spilled, p.workers(), func(b []byte) bool { return lone[binary.BigEndian.Uint16(b)] || sieve.Many(sieveKey(b)) }, s.add)
	if err == nil {
		err = s.flush()
	}
	if err != nil {
		return err
	}
	return p.group(s.runs, listeners, lone)
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

// listeners are the checkers that are shown what a rule emits: its own, and those of the rules of its channel; lone says whether one
// of them looks at keys that were emitted once.
func (p *Plan) listeners(sink func(rule.Finding)) (out [][]rule.Checker, lone []bool) {
	out, lone = make([][]rule.Checker, len(p.Job.Rules)), make([]bool, len(p.Job.Rules))
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
		out[at] = append(out[at], pass.Rule.New(pass))
		lone[at] = lone[at] || pass.Rule.Lone
	}
	return out, lone
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
