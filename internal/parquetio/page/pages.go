package page

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
				p.parts = append(p.parts, GetBuffer(partSize))
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
		p.parts = append(p.parts, GetBuffer(min(n, partSize)))
		return
	}
	first := p.parts[0]
	if n = min(len(first)+n, partSize); n > cap(first) {
		p.parts[0] = append(GetBuffer(min(max(n, len(first)+len(first)/2), partSize)), first...)
		PutBuffer(first)
	}
}

// join appends the pages of q, which has none after it. Nothing may be added after.
func (p *Pages) join(q *Pages) {
	p.parts = append(p.parts, q.parts...)
	p.n += q.n
	*q = Pages{}
}

// Free gives the memory back. The parts may not be used after.
func (p *Pages) Free() {
	for _, b := range p.parts {
		PutBuffer(b)
	}
	*p = Pages{}
}

// Parts returns the pages in one slice after the other. They are the Pages' own.
func (p *Pages) Parts() [][]byte { return p.parts }
