package judge

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rlprep/rlprep/internal/spill"
	"github.com/rlprep/rlprep/schema/rule"
)

// A hit is what a rule or a barrier step emitted for one row.
type hit struct {
	emitter uint16 // number of the rule
	key     rule.Key
	file    uint32
	row     int64
	group   int32
	line    int64
	value   uint64
}

// hitSize is the size of a spilled hit; its first keyPart bytes name emitter and key. Hits are sorted by their bytes, so by
// emitter, key, file and row.
const (
	hitSize = 2 + 16 + 4 + 8 + 4 + 8 + 8
	keyPart = 2 + 16
)

func (h *hit) append(b []byte) []byte {
	n := len(b)
	b = slices.Grow(b, hitSize)[:n+hitSize]
	at, be := b[n:][:hitSize], binary.BigEndian
	be.PutUint16(at, h.emitter)
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
	return hit{emitter: be.Uint16(b), key: rule.Key(b[2:18]), file: be.Uint32(b[18:]), row: int64(be.Uint64(b[22:])),
		group: int32(be.Uint32(b[30:])), line: int64(be.Uint64(b[34:])), value: be.Uint64(b[42:])}
}

// hitPool holds memory for the hits of a unit of work.
var hitPool = sync.Pool{New: func() any { return new([]byte) }}

// emit adds a hit.
func (f *Found) emit(h hit) {
	if f.Hits == nil {
		f.Hits = *hitPool.Get().(*[]byte)
	}
	f.Hits = h.append(f.Hits)
}

func freeHits(b []byte) {
	if cap(b) > 0 {
		b = b[:0]
		hitPool.Put(&b)
	}
}

// EmitKey adds a key that a barrier step emits for the row of that number.
func (f *Found) EmitKey(key rule.Key, number int64, value uint64) {
	f.emit(hit{key: key, row: number, value: value})
}

// Keys collects what rules and barrier steps emit. Its memory is bounded: hits are in files, and a sieve knows which keys may
// have been emitted more than once. It is for one goroutine.
type Keys struct {
	rows       int64
	singletons []bool // by emitter: keys that were emitted once count too
	dir        string
	workers    int

	sieve   *spill.Sieve
	adder   *spill.Adder
	emitted []emitted
	open    []io.Closer
	spilled *os.File // by Spill
	at      int      // in emitted: its hits
}

// NewKeys returns an empty collection for a job of about so many rows. singletons says of each emitter whether keys that were emitted
// once count too. Files are made in dir ("": the system's).
func NewKeys(rows int64, singletons []bool, workers int, dir string) *Keys {
	k := &Keys{rows: rows, singletons: singletons, workers: workers, dir: dir, sieve: spill.NewSieve(rows)}
	k.adder = k.sieve.Adder()
	return k
}

// Note takes note of hits that are stored elsewhere; Stored says where.
func (k *Keys) Note(hits []byte) { note(k.adder, hits, k.singletons) }

func note(to *spill.Adder, hits []byte, singletons []bool) {
	for ; len(hits) > 0; hits = hits[hitSize:] {
		if m := mark(hits, singletons); m != judgeAlways {
			to.Add(m)
		}
	}
}

// Stored adds a file of hits that Note has seen. Close closes it.
func (k *Keys) Stored(f *os.File, size int64) {
	k.open = append(k.open, f)
	k.emitted = append(k.emitted, emitted{Run: spill.Run{From: f, Len: size}})
}

// Resume adds a file of hits that an earlier run stored.
func (k *Keys) Resume(f *os.File, size int64) error {
	k.Stored(f, size)
	return k.emitted[len(k.emitted)-1].each(func(hits []byte) error {
		k.Note(hits)
		return nil
	})
}

// Spill adds hits and stores them in a file of its own.
func (k *Keys) Spill(hits []byte) error {
	k.Note(hits)
	return k.spill(hits)
}

func (k *Keys) spill(hits []byte) error {
	if len(hits) == 0 {
		return nil
	}
	if k.spilled == nil {
		f, err := spill.Nameless(k.dir)
		if err != nil {
			return err
		}
		k.spilled, k.at = f, len(k.emitted)
		k.Stored(f, 0)
	}
	n, err := k.spilled.Write(hits)
	if err != nil {
		return fmt.Errorf("write spill file: %w", err)
	}
	k.emitted[k.at].Len += int64(n)
	return nil
}

// Close removes and closes the files.
func (k *Keys) Close() {
	for _, f := range k.open {
		f.Close()
	}
}

// An emitted is hits in the order in which they were emitted.
type emitted struct {
	spill.Run            // of spilled hits
	cached    CachedFile // or what a Cache has of a file; nil: the run
	file      int        // number of that file
}

// blockHits is how many hits are read at a time: 400 kB, of which a few are held by each worker.
const blockHits = 1 << 13

// pieces cuts e into what is read at a time.
func (e emitted) pieces() (out []piece, err error) {
	if e.cached != nil {
		for i := range e.cached.Blocks() {
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

// each calls visit for the hits of e, many at a time.
func (e emitted) each(visit func(hits []byte) error) error {
	all, err := e.pieces()
	var b []byte
	for _, p := range all {
		if b, err = p.hits(b); err != nil {
			return err
		}
		if err = visit(b); err != nil {
			return err
		}
	}
	return err
}

// A piece is hits that are read at a time.
type piece struct {
	emitted
	block int // of the cached file
}

// hits reads the hits into b.
func (p piece) hits(b []byte) ([]byte, error) {
	if p.cached == nil {
		b = slices.Grow(b[:0], int(p.Len))[:p.Len]
		if n, err := p.From.ReadAt(b, p.Off); n < len(b) {
			return nil, fmt.Errorf("read spill file: %w", err)
		}
		return b, nil
	}
	b, err := p.cached.Records(p.block, b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCache, err)
	}
	for i := 0; i < len(b); i += hitSize {
		binary.BigEndian.PutUint32(b[i+keyPart:], uint32(p.file))
	}
	return b, nil
}

// judgeAlways marks a hit that is judged even where no other hit has its key.
const judgeAlways = ^uint64(0)

// mark is what a hit is sifted by: nearly as distinct as emitter and key are.
func mark(hit []byte, singletons []bool) uint64 {
	emitter := binary.BigEndian.Uint16(hit)
	if singletons[emitter] {
		return judgeAlways
	}
	return binary.BigEndian.Uint64(hit[2:]) ^ uint64(emitter)*0x9e3779b97f4a7c15
}

// A sifter finds the hits that are judged: those that always are, and those whose key other hits have too. The first sieve lets a
// few others through; the second, made of those that pass the first, holds nearly all of these back.
type sifter struct {
	singletons    []bool
	first, second *spill.Sieve
	marks, hits   []byte // of the current piece
}

// load reads the marks of p, and of spilled hits these themselves.
func (s *sifter) load(p piece) (err error) {
	if p.cached != nil {
		s.hits = s.hits[:0]
		if s.marks, err = p.cached.Marks(p.block, s.marks); err != nil {
			return fmt.Errorf("%w: %w", ErrCache, err)
		}
		return nil
	}
	if s.hits, err = p.hits(s.hits); err != nil {
		return err
	}
	s.marks = s.marks[:0]
	for b := s.hits; len(b) > 0; b = b[hitSize:] {
		s.marks = binary.LittleEndian.AppendUint64(s.marks, mark(b, s.singletons))
	}
	return nil
}

// addSecond adds what passes the first sieve to the second.
func (s *sifter) addSecond(to *spill.Adder, p piece) error {
	if err := s.load(p); err != nil {
		return err
	}
	for b := s.marks; len(b) > 0; b = b[8:] {
		if m := binary.LittleEndian.Uint64(b); m != judgeAlways && s.first.Many(m) {
			to.Add(secondMark(m))
		}
	}
	return nil
}

// secondMark is the mark for the second sieve: the first looks at its upper half.
func secondMark(mark uint64) uint64 { return bits.RotateLeft64(mark, 32) }

// pick returns the hits of p that are judged.
func (s *sifter) pick(p piece) (out []byte, err error) {
	if err := s.load(p); err != nil {
		return nil, err
	}
	out = slices.Grow((*hitPool.Get().(*[]byte))[:0], len(s.marks)/8*hitSize) // growing step by step would leave much garbage
	for i := range len(s.marks) / 8 {
		m := binary.LittleEndian.Uint64(s.marks[8*i:])
		if m != judgeAlways && (!s.first.Many(m) || !s.second.Many(secondMark(m))) {
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

// sift calls add, in order, for the hits that are judged.
func (k *Keys) sift(add func(b []byte) error) error {
	var all []piece
	for _, e := range k.emitted {
		some, err := e.pieces()
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	second := spill.NewSieve(k.rows / 8)
	none := func([]byte) error { return nil }
	err := eachPiece(all, k.workers, func() (func(piece) ([]byte, error), func()) {
		s, adder := &sifter{singletons: k.singletons, first: k.sieve}, second.Adder()
		return func(p piece) ([]byte, error) { return nil, s.addSecond(adder, p) }, adder.Flush
	}, none)
	if err != nil {
		return err
	}
	second.Seal()
	return eachPiece(all, k.workers, func() (func(piece) ([]byte, error), func()) {
		return (&sifter{singletons: k.singletons, first: k.sieve, second: second}).pick, func() {}
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

// eachPiece has workers do pieces and collects what they return, in order. start makes a worker: what it does with a piece, and at the end.
func eachPiece(pieces []piece, workers int, start func() (do func(piece) ([]byte, error), end func()), collect func([]byte) error) error {
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
			if err := collect(r.hits); err != nil {
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

// manyRows is how many rows a run has at least that returns memory to the system between its phases: it takes some 10 ms.
const manyRows = 1 << 20

// Each calls visit for every key that was emitted more than once, or by an emitter whose singletons count, in order of emitter and
// key. Nearly all keys are emitted once and most emitters do not mind those: they are sifted out before anything is sorted.
func (k *Keys) Each(visit func(*Group)) error {
	if len(k.emitted) == 0 {
		return nil
	}
	k.adder.Flush()
	k.sieve.Seal()
	if k.rows >= manyRows {
		debug.FreeOSMemory() // sorting has no use for the buffers of reading and writing
	}
	s := spill.NewSorter(hitSize, sortedHits, k.rows, func() (*os.File, error) { return spill.Nameless(k.dir) })
	defer s.Close()
	if err := k.sift(s.Add); err != nil {
		return err
	}
	m, err := s.Merge()
	if err != nil {
		return err
	}
	return k.groups(m, visit)
}

// sortedHits is how many hits are sorted in memory at a time.
const sortedHits = 1 << 16

// groups calls visit for the keys of sorted hits.
func (k *Keys) groups(m *spill.Merger, visit func(*Group)) error {
	g := &Group{from: m}
	b, err := m.Next()
	for err == nil {
		copy(g.key[:], b)
		g.held = g.held[:0]
		for err == nil && g.same(b) && len(g.held) < maxHeld {
			g.held = append(g.held, readHit(b))
			b, err = m.Next()
		}
		g.more = err == nil && g.same(b)
		if len(g.held) > 1 || k.singletons[g.Emitter()] {
			if visit(g); g.err != nil {
				return g.err
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

// maxHeld is how many hits of one key are held in memory; the others are read again for each who looks at them.
const maxHeld = 4096

// A Group is the hits of one key of one emitter, in order of files and rows. It is valid during visit.
type Group struct {
	key  [keyPart]byte
	held []hit
	more bool // there are more hits than are held: from has them, and the one at which it is is the first
	from *spill.Merger
	err  error
}

// Emitter is the number of the rule or step that emitted the key.
func (g *Group) Emitter() int { return int(binary.BigEndian.Uint16(g.key[:])) }

// Key is what the hits have in common.
func (g *Group) Key() rule.Key { return rule.Key(g.key[2:]) }

func (g *Group) same(b []byte) bool { return bytes.Equal(b[:keyPart], g.key[:]) }

// Rows are the numbers and values that EmitKey was given.
func (g *Group) Rows() iter.Seq2[int64, uint64] {
	return func(yield func(int64, uint64) bool) {
		g.each(func(h hit) bool { return yield(h.row, h.value) })
	}
}

// hits are the hits as rules see them.
func (g *Group) hits(files []*rule.File) iter.Seq[rule.Hit] {
	return func(yield func(rule.Hit) bool) {
		g.each(func(h hit) bool {
			return yield(rule.Hit{File: files[h.file], RowGroup: int(h.group), Row: h.row, Line: h.line, Value: h.value})
		})
	}
}

func (g *Group) each(yield func(hit) bool) {
	for _, h := range g.held {
		if !yield(h) {
			return
		}
	}
	if !g.more {
		return
	}
	more, err := g.from.Clone()
	for err == nil {
		var b []byte
		if b, err = more.Next(); err == nil && (!g.same(b) || !yield(readHit(b))) {
			return
		}
	}
	if err != io.EOF {
		g.err = err
	}
}
