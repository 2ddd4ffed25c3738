package mutant

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

var pageKinds = []kind{
	{"page value", inHeader(changeNumber)},
	{"page field missing", inHeader(removeField)},
	{"page field twice", inHeader(repeatField)},
	{"page field of another type", inHeader(retype)},
	{"page field unknown", inHeader(addField)},
	{"page levels", inBody(changeLevels)},
	{"page body", inBody(changeBody)},
	{"page compression", inBody(changeFrame)},
	{"page order", movePages},
}

// onePage picks a page, dictionary pages and first pages oftener than their number.
func (s *Seed) onePage(r *rand.Rand) *page {
	if len(s.pages) == 0 {
		return nil
	}
	p := &s.pages[r.IntN(len(s.pages))]
	if r.IntN(2) == 0 { // by column
		i := slices.IndexFunc(s.pages, func(q page) bool { return q.group == p.group && q.column == p.column })
		p = &s.pages[min(len(s.pages)-1, i+r.IntN(2))]
	}
	return p
}

// inHeader makes mutants of a change of a page header.
func inHeader(c change) func(*rand.Rand, *Seed) *Mutant {
	return func(r *rand.Rand, s *Seed) *Mutant {
		p := s.onePage(r)
		if p == nil {
			return nil
		}
		header := p.header.clone()
		what, ok := c(r, header, "page ")
		if !ok {
			return nil
		}
		return &Mutant{Data: s.withPage(p, header.encode(nil), s.bodyOf(p)), What: what}
	}
}

// inBody makes mutants of a change of a page's body: sizes and checksum in its header are right.
func inBody(c func(r *rand.Rand, s *Seed, p *page, header *value, body []byte) ([]byte, string)) func(*rand.Rand, *Seed) *Mutant {
	return func(r *rand.Rand, s *Seed) *Mutant {
		p := s.onePage(r)
		if p == nil || p.end-p.body < 4 {
			return nil
		}
		header := p.header.clone()
		body, what := c(r, s, p, header, s.bodyOf(p))
		if body == nil {
			return nil
		}
		seal(header, body, s.codec(p))
		return &Mutant{Data: s.withPage(p, header.encode(nil), body), What: what}
	}
}

// changeLevels changes what stands before the values: lengths, levels, the width of what points into the dictionary.
func changeLevels(r *rand.Rand, s *Seed, p *page, _ *value, body []byte) ([]byte, string) {
	v1 := p.header.at(5).typ != 0
	if v1 && s.codec(p) != 0 {
		return nil, ""
	}
	if v1 && r.IntN(2) == 0 {
		n := binary.LittleEndian.Uint32(body)
		to := []uint32{0, 1, n - 1, n + 1, n * 2, uint32(len(body)), 1<<31 - 1, 1<<32 - 1, n + 4}[r.IntN(9)]
		binary.LittleEndian.PutUint32(body, to)
		return body, fmt.Sprintf("length %d to %d", n, to)
	}
	i := r.IntN(min(len(body), 16))
	from := body[i]
	body[i] = []byte{0, 1, 2, 3, 0x7f, 0x80, 0xff, from ^ 1<<r.IntN(8), from + 1, from - 1}[r.IntN(10)]
	return body, fmt.Sprintf("byte %d: %d to %d", i, from, body[i])
}

// changeBody changes bytes anywhere in a body that is not compressed.
func changeBody(r *rand.Rand, s *Seed, p *page, _ *value, body []byte) ([]byte, string) {
	if s.codec(p) != 0 {
		return nil, ""
	}
	switch r.IntN(4) {
	case 0:
		n := r.IntN(len(body))
		return append(body[:n:n], 0)[:max(1, n)], fmt.Sprintf("cut to %d of %d bytes", n, len(body))
	case 1:
		return append(body, make([]byte, 1+r.IntN(64))...), "longer"
	}
	n := 1 + r.IntN(4)
	for range n {
		body[r.IntN(len(body))] ^= 1 << r.IntN(8)
	}
	return body, fmt.Sprintf("%d bits", n)
}

// changeFrame changes the bytes that a decompressor gets.
func changeFrame(r *rand.Rand, s *Seed, p *page, header *value, body []byte) ([]byte, string) {
	if s.codec(p) == 0 {
		return nil, ""
	}
	switch r.IntN(4) {
	case 0:
		body[r.IntN(min(len(body), 8))] ^= 1 << r.IntN(8)
		return body, "a bit at its begin"
	case 1:
		return body[:1+r.IntN(len(body)-1)], "cut off"
	case 2:
		n := header.at(2)
		n.num = number(r, "", n.num)
		return body, fmt.Sprintf("uncompressed size %d", n.num)
	}
	return append(body, body...), "twice"
}

// movePages drops, repeats or exchanges pages of a chunk; the footer's sizes fit.
func movePages(r *rand.Rand, s *Seed) *Mutant {
	p := s.onePage(r)
	if p == nil {
		return nil
	}
	whole := s.Data[p.off:p.end]
	switch r.IntN(3) {
	case 0:
		return &Mutant{Data: s.withPage(p, nil, nil), What: "a page missing"}
	case 1:
		return &Mutant{Data: s.withPage(p, whole, whole), What: "a page twice"}
	}
	for i := range s.pages {
		if q := &s.pages[i]; q.off == p.end && q.group == p.group && q.column == p.column {
			data := slices.Concat(s.Data[:p.off], s.Data[q.off:q.end], whole, s.Data[q.end:])
			return &Mutant{Data: data, What: "two pages exchanged"}
		}
	}
	return nil
}
