package shard

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

const (
	streamBytes   = 1 << 20 // what is hashed and written at a time
	streamBuffers = 3       // one that is filled, one that is hashed and written, one between them
)

var streamPool = sync.Pool{New: func() any { b := make([]byte, 0, streamBytes); return &b }}

// A stream writes a file from front to back and hashes what it writes, while the caller makes more. The bytes stay in the page cache, where the first
// reader of the file finds them (testdata/bench/pagecache.py), and their way to the disk begins at once.
type stream struct {
	f      *os.File
	size   int64
	filled *[]byte      // nil: none
	full   chan *[]byte // nil: ended
	free   chan *[]byte
	more   int // buffers that may still be taken
	done   chan struct{}

	// Of the goroutine.
	sum    hash.Hash
	at     int64
	err    error
	failed atomic.Bool // err is set: nothing more is written
}

func newStream(f *os.File) *stream {
	s := &stream{f: f, full: make(chan *[]byte, streamBuffers), free: make(chan *[]byte, streamBuffers), more: streamBuffers,
		done: make(chan struct{}), sum: sha256.New()}
	go s.run(s.full)
	return s
}

// room returns a part of the current buffer that is not filled yet.
func (s *stream) room() ([]byte, error) {
	if s.failed.Load() || s.full == nil {
		return nil, cmp.Or(s.end(), os.ErrClosed)
	}
	if s.filled == nil {
		select {
		case s.filled = <-s.free:
		default:
			if s.more > 0 {
				s.more--
				s.filled = streamPool.Get().(*[]byte)
			} else {
				s.filled = <-s.free
			}
		}
		*s.filled = (*s.filled)[:0]
	}
	b := *s.filled
	return b[len(b):cap(b)], nil
}

// add says that n more bytes of the buffer are filled.
func (s *stream) add(n int) {
	*s.filled = (*s.filled)[:len(*s.filled)+n]
	s.size += int64(n)
	if len(*s.filled) == cap(*s.filled) {
		s.hand()
	}
}

// hand gives the buffer to the goroutine.
func (s *stream) hand() {
	if s.filled != nil {
		s.full <- s.filled
		s.filled = nil
	}
}

// Write implements io.Writer. What was written before and failed may be told only later.
func (s *stream) Write(b []byte) (n int, err error) {
	for n < len(b) {
		to, err := s.room()
		if err != nil {
			return n, err
		}
		k := copy(to, b[n:])
		s.add(k)
		n += k
	}
	return n, nil
}

// ReadFrom implements io.ReaderFrom: it reads to where it will be written from.
func (s *stream) ReadFrom(r io.Reader) (n int64, err error) {
	for {
		to, err := s.room()
		if err != nil {
			return n, err
		}
		k, err := r.Read(to)
		s.add(k)
		n += int64(k)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func (s *stream) run(full <-chan *[]byte) {
	defer close(s.done)
	for b := range full {
		if s.err == nil {
			wrote := make(chan error, 1)
			go func() { wrote <- s.put(*b) }()
			s.sum.Write(*b)
			if s.err = <-wrote; s.err != nil {
				s.failed.Store(true)
			}
		}
		s.free <- b
	}
}

// put writes b at the end of the file.
func (s *stream) put(b []byte) error {
	n, err := s.f.Write(b)
	if err == nil {
		writeBack(s.f, s.at, int64(n))
	}
	s.at += int64(n)
	return err
}

// end waits until all is written that was handed over, and gives the memory back.
func (s *stream) end() error {
	if s.full != nil {
		close(s.full)
		s.full = nil
		<-s.done
		for range len(s.free) {
			streamPool.Put(<-s.free)
		}
	}
	return s.err
}

// finish writes what is left and returns the hash and the size of all.
func (s *stream) finish() (sum string, bytes int64, err error) {
	if s.full != nil {
		s.hand()
	}
	if err := s.end(); err != nil {
		return "", 0, err
	}
	st, err := s.f.Stat()
	if err == nil && st.Size() != s.size {
		err = fmt.Errorf("%s: wrote %d bytes, but the file has %d", s.f.Name(), s.size, st.Size())
	}
	return hex.EncodeToString(s.sum.Sum(nil)), s.size, errors.Join(err, s.f.Sync())
}
