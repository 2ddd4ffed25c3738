package parquetio

import (
	"math/bits"
	"sync"
)

// partSize is the size of the parts that pages stand in, but for the first of a chunk, which has what it needs while that is less.
const partSize = 256 << 10

// Pages are the pages of a chunk: header and body of each, one after the other, in parts. In one piece they would be moved whenever
// they outgrow it, and memory of so many sizes would seldom be of use again: both were most of the peak with large row groups.
type Pages struct {
	parts [][]byte
	n     int64
}

// Len returns how many bytes the pages have.
func (p *Pages) Len() int64 { return p.n }

// add appends copies of a page's header and body.
func (p *Pages) add(header, body []byte) {
	p.n += int64(len(header) + len(body))
	if len(p.parts) < 2 {
		p.growFirst(len(header) + len(body))
	}
	for _, b := range [2][]byte{header, body} {
		for len(b) > 0 {
			last := &p.parts[len(p.parts)-1]
			if len(*last) == cap(*last) {
				p.parts = append(p.parts, pageBuffer(partSize))
				continue
			}
			n := min(len(b), cap(*last)-len(*last))
			*last = append(*last, b[:n]...)
			b = b[n:]
		}
	}
}

// addOwned is add for a body that nobody else uses any more: it becomes a part as it is.
func (p *Pages) addOwned(header, body []byte) {
	p.add(header, nil)
	p.n += int64(len(body))
	p.parts = append(p.parts, body[:len(body):len(body)])
}

// growFirst makes room for n more bytes, or as many as the first part may have.
func (p *Pages) growFirst(n int) {
	if len(p.parts) == 0 {
		p.parts = append(p.parts, pageBuffer(min(n, partSize)))
		return
	}
	first := p.parts[0]
	if n = min(len(first)+n, partSize); n > cap(first) {
		p.parts[0] = append(pageBuffer(min(max(n, len(first)+len(first)/2), partSize)), first...)
		freePages(first)
	}
}

// join appends the pages of q, which has none after it. Nothing may be added after.
func (p *Pages) join(q *Pages) {
	p.parts = append(p.parts, q.parts...)
	p.n += q.n
	*q = Pages{}
}

// free gives the memory back.
func (p *Pages) free() {
	for _, b := range p.parts {
		freePages(b)
	}
	*p = Pages{}
}

// pooledPages is the least size of a buffer of pages that is worth keeping.
const pooledPages = 64 << 10

// pagePools hold buffers by size: four classes from one power of two to the next, so that none is much larger than it need be.
var pagePools [4 * 40]sync.Pool // *[]byte

// pageClass returns the size of the least class that holds n bytes, and its number.
func pageClass(n int) (size, class int) {
	power := bits.Len(uint(max(n, pooledPages) - 1)) // n <= 1<<power
	quarter := 1 << (power - 3)                      // of the way from the power below
	steps := (max(n, pooledPages) - 1<<(power-1) + quarter - 1) / quarter
	return 1<<(power-1) + steps*quarter, 4*(power-16) + steps
}

// pageBuffer returns an empty buffer for n bytes of pages.
func pageBuffer(n int) []byte {
	if n < pooledPages/4 {
		return make([]byte, 0, n)
	}
	size, class := pageClass(n)
	if p, _ := pagePools[class].Get().(*[]byte); p != nil {
		return (*p)[:0]
	}
	return make([]byte, 0, size)
}

func freePages(b []byte) {
	if size, class := pageClass(cap(b)); size == cap(b) {
		pagePools[class].Put(&b)
	}
}
