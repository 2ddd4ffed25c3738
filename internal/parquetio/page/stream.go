package page

import (
	"fmt"
	"io"

	"github.com/rlprep/rlprep/internal/parquetio/compress"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

const (
	maxGrown      = 256 << 20 // of one page in DELTA_BYTE_ARRAY, where few bytes may stand for many
	maxPageValues = 1 << 26   // of one page: levels are held as bytes
	maxHeader     = 16 << 20  // of one page header: statistics in it may be long
	readAhead     = 64 << 10
)

// A Stream reads the pages of one column chunk, in order.
type Stream struct {
	r        io.ReaderAt
	Most     int64  // bytes of a page, uncompressed
	off, end int64  // of what is not in buf yet
	store    []byte // readAhead bytes, more for a long header
	buf      []byte // read, not used yet: a part of store
}

// NewStream returns a stream of the pages in bytes [from, to) of r. most is how many bytes a page may have, uncompressed; buf is
// memory to read into, nil for its own.
func NewStream(r io.ReaderAt, from, to, most int64, buf []byte) Stream {
	return Stream{r: r, off: from, end: to, Most: most, store: buf}
}

// Position returns the offset in the file of the next byte.
func (s *Stream) Position() int64 { return s.off - int64(len(s.buf)) }

// Left returns how many bytes of the chunk follow.
func (s *Stream) Left() int64 { return s.end - s.Position() }

// peek returns at least n bytes, fewer at the end of the chunk.
func (s *Stream) peek(n int) ([]byte, error) {
	if len(s.buf) >= n || s.off == s.end {
		return s.buf, nil
	}
	if len(s.store) < n {
		size := max(n, int(min(readAhead, s.Left())))
		s.store = append(make([]byte, 0, size), s.buf...)[:size]
	} else {
		copy(s.store, s.buf)
	}
	have := len(s.buf)
	want := int(min(int64(len(s.store)-have), s.end-s.off))
	if err := s.readAt(s.store[have : have+want]); err != nil {
		return nil, err
	}
	s.buf = s.store[:have+want]
	return s.buf, nil
}

func (s *Stream) readAt(b []byte) error {
	n, err := s.r.ReadAt(b, s.off)
	if n < len(b) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	s.off += int64(n)
	return nil
}

// read fills b.
func (s *Stream) read(b []byte) error {
	n := copy(b, s.buf)
	s.buf = s.buf[n:]
	if n == len(b) {
		return nil
	}
	return s.readAt(b[n:])
}

// Skip passes over n bytes.
func (s *Stream) Skip(n int64) {
	k := min(n, int64(len(s.buf)))
	s.buf = s.buf[k:]
	s.off += n - k
}

// Header reads the header of the next page.
func (s *Stream) Header() (Header, error) {
	for n := 256; ; n *= 8 {
		b, err := s.peek(n)
		if err != nil {
			return Header{}, err
		}
		sc := thrift.Scanner{Buf: b}
		h := scanHeader(&sc)
		if sc.Err == nil {
			s.buf = s.buf[sc.At:]
			return h, h.check(s.Left(), s.Most)
		}
		if len(b) < n || n >= maxHeader {
			return h, fmt.Errorf("%w: %w", ErrHeader, sc.Err)
		}
	}
}

// Body reads the body of the page, checks it and decompresses it into dst, which is grown. The levels of a v2 page, which
// are not compressed, stand at its begin.
func (s *Stream) Body(h *Header, codec compress.Codec, dst []byte, shared *Buffers) ([]byte, error) {
	if codec == compress.None && h.Uncompressed != h.Compressed {
		return nil, fmt.Errorf("%w: not compressed, but %d bytes are said to be %d", ErrHeader, h.Compressed, h.Uncompressed)
	}
	if codec == compress.None {
		dst = Sized(dst, int(h.Uncompressed)) // bytes that are in the file
		if err := s.read(dst); err != nil {
			return nil, err
		}
		return dst, h.checksum(dst)
	}
	shared.packed = Sized(shared.packed, int(h.Compressed))
	packed := shared.packed
	if err := s.read(packed); err != nil {
		return nil, err
	}
	if err := h.checksum(packed); err != nil {
		return nil, err
	}
	levels := int(h.DefLen + h.RepLen)
	if h.plainV2 {
		codec = compress.None
	}
	if err := compress.Check(packed[levels:], h.Uncompressed-int64(levels), codec, Limits.Huge); err != nil {
		return nil, err
	}
	dst = Sized(dst, int(h.Uncompressed))
	copy(dst, packed[:levels])
	packed = packed[levels:]
	if len(packed) == 0 && len(dst) == levels { // some writers leave out the frame of nothing
		return dst, nil
	}
	return dst, compress.Decompress(dst[levels:], packed, codec)
}

// Sized returns b with length n, its contents undefined. Pages differ in size a little: some room saves the next one memory.
func Sized(b []byte, n int) []byte {
	if cap(b) < n {
		if int64(n) >= Limits.Huge {
			return make([]byte, n)
		}
		return make([]byte, n, n+n/8)
	}
	return b[:n]
}
