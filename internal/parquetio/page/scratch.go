package page

import "github.com/rlprep/rlprep/internal/parquetio/compress"

// A Scratch is what the Encoders of one goroutine share: no page lives in it for longer than one flush.
type Scratch struct {
	body, packed, values []byte
	seen                 []bool
	spare                chan struct{}
}

// NewScratch returns the scratch of the leaves of one goroutine. spare has room for as many goroutines as may compress pages beside it, at the
// time; nil: none.
func NewScratch(spare chan struct{}) *Scratch { return &Scratch{spare: spare} }

// A packing is a page that is compressed elsewhere.
type packing struct {
	packed []byte
	err    error
	done   chan struct{}
}

// pack begins to compress a copy of body elsewhere; nil where nobody is free, and for a huge page, which is not held twice.
func (s *Scratch) pack(body []byte, codec compress.Codec) *packing {
	if codec == compress.None || len(body) < Limits.Aside || int64(len(body)) >= Limits.Huge {
		return nil
	}
	select {
	case s.spare <- struct{}{}:
	default:
		return nil // also where spare is nil
	}
	p := &packing{done: make(chan struct{})}
	src := append(GetBuffer(len(body)), body...)
	go func() {
		defer close(p.done)
		defer func() { <-s.spare }()
		defer Recover(&p.err, "compress a page")
		p.packed, p.err = compress.Compress(GetBuffer(len(src)/2), src, codec)
		PutBuffer(src)
	}()
	return p
}

// compress returns src as codec stores it: in memory of s, or src itself; a huge page in memory of its own.
func (s *Scratch) compress(src []byte, codec compress.Codec) ([]byte, error) {
	if codec == compress.None {
		return src, nil
	}
	packed, err := compress.Compress(s.packed, src, codec)
	if err == nil {
		s.packed = packed
	}
	if int64(len(src)) >= Limits.Huge {
		s.packed = nil // the chunk takes it
	}
	return packed, err
}
