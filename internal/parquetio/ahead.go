package parquetio

import (
	"fmt"

	"github.com/rlprep/rlprep/internal/record"
)

// aheadBytes is how large a slice may be for the next one to be read before it is given up: two are in memory then.
const aheadBytes = 16 << 20

// An ahead reads the next slice of a Reader while the caller works on the one before.
type ahead struct {
	rows   int           // of a slice
	spare  chan struct{} // what EncoderOptions.Spare is
	next   *aheadSlice   // nil: none is asked for
	beside bool          // the goroutine reads
}

// An aheadSlice is the next slice: read by a goroutine, unless that finds no place in time.
type aheadSlice struct {
	taken   chan struct{} // the caller does it: closed while the goroutine has no place
	done    chan struct{} // the goroutine has ended
	read    bool          // by the goroutine
	vectors []*record.Vector
	err     error
}

// Ahead lets the Reader read the next slice, of rows rows, beside the caller, in a goroutine that takes a place in spare for as long. Where
// spare has no place before the caller calls Next, nothing is gained or lost. Next is then called with that number of rows.
func (r *Reader) Ahead(rows int, spare chan struct{}) { r.ahead = ahead{rows: rows, spare: spare} }

// begin starts to read what comes behind vectors.
func (r *Reader) begin(vectors []*record.Vector) {
	if r.ahead.spare == nil || r.left == 0 || vectorBytes(vectors) > aheadBytes {
		return
	}
	s := &aheadSlice{taken: make(chan struct{}), done: make(chan struct{})}
	r.ahead.next = s
	go func() {
		defer close(s.done)
		select {
		case r.ahead.spare <- struct{}{}:
			defer func() { <-r.ahead.spare }()
			s.read, r.ahead.beside = true, true
			s.vectors, s.err = r.slice(r.ahead.rows)
			r.ahead.beside = false
		case <-s.taken:
		}
	}()
}

// end waits for the goroutine, or keeps it from its work where it has not begun. It returns nil where nothing was read.
func (r *Reader) end() *aheadSlice {
	s := r.ahead.next
	if s == nil {
		return nil
	}
	r.ahead.next = nil
	close(s.taken)
	<-s.done
	if !s.read {
		return nil
	}
	return s
}

// nextSlice returns the next slice, read ahead or not.
func (r *Reader) nextSlice(max int) ([]*record.Vector, error) {
	s := r.end()
	if s == nil {
		return r.slice(max)
	}
	if s.err == nil && max < s.vectors[0].Rows {
		return nil, fmt.Errorf("read rows: a slice of %d rows was asked for, but %d rows were read ahead", max, s.vectors[0].Rows)
	}
	return s.vectors, s.err
}

// vectorBytes is about how much memory the vectors hold.
func vectorBytes(vectors []*record.Vector) (n uint64) {
	for _, v := range vectors {
		n += uint64(len(v.Def) + len(v.Rep))
		if v.Values != nil {
			n += v.Values.Data().SizeInBytes()
		}
	}
	return n
}
