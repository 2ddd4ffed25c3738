package pipeline

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

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

func sortHits(hits []hit) {
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.rule, b.rule), bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.file, b.file), cmp.Compare(a.row, b.row))
	})
}

// writeHits appends sorted hits to w and returns how many bytes they took.
func writeHits(w io.Writer, hits []hit) (int64, error) {
	if len(hits) == 0 {
		return 0, nil
	}
	b := make([]byte, 0, len(hits)*hitSize)
	for _, h := range hits {
		b = h.append(b)
	}
	n, err := w.Write(b)
	if err != nil {
		return int64(n), fmt.Errorf("write spill file: %w", err)
	}
	return int64(n), nil
}

// judge calls Group for every key in runs, of each rule of the channel that emitted it.
func (p *Plan) judge(runs []spill.Run, sink func(rule.Finding)) error {
	listeners := p.listeners(sink)
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
		for _, c := range listeners[binary.BigEndian.Uint16(g.key[:])] {
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
	}
	return out
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
