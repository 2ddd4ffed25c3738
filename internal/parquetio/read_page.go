package parquetio

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/rlprep/rlprep/internal/parquetio/compress"
	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/freelist"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

const (
	maxGrown      = 256 << 20 // of one page in DELTA_BYTE_ARRAY, where few bytes may stand for many
	maxPageValues = 1 << 26   // of one page: levels are held as bytes
	maxHeader     = 16 << 20  // of one page header: statistics in it may be long
	readAhead     = 64 << 10
)

// A pageStream reads the pages of one column chunk, in order.
type pageStream struct {
	r        io.ReaderAt
	most     int64  // bytes of a page, uncompressed
	off, end int64  // of what is not in buf yet
	store    []byte // readAhead bytes, more for a long header
	buf      []byte // read, not used yet: a part of store
}

// position returns the offset in the file of the next byte.
func (s *pageStream) position() int64 { return s.off - int64(len(s.buf)) }

func (s *pageStream) left() int64 { return s.end - s.position() }

// peek returns at least n bytes, fewer at the end of the chunk.
func (s *pageStream) peek(n int) ([]byte, error) {
	if len(s.buf) >= n || s.off == s.end {
		return s.buf, nil
	}
	if len(s.store) < n {
		size := max(n, int(min(readAhead, s.left())))
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

func (s *pageStream) readAt(b []byte) error {
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
func (s *pageStream) read(b []byte) error {
	n := copy(b, s.buf)
	s.buf = s.buf[n:]
	if n == len(b) {
		return nil
	}
	return s.readAt(b[n:])
}

func (s *pageStream) skip(n int64) {
	k := min(n, int64(len(s.buf)))
	s.buf = s.buf[k:]
	s.off += n - k
}

// A pageHeader is what we need of PageHeader.
type pageHeader struct {
	kind         int64
	uncompressed int64
	compressed   int64
	crc          uint32
	hasCRC       bool
	hasBody      bool // the struct that belongs to its kind is there

	values         int64
	rows           int64 // v2; -1: not said; below: negative
	encoding       int32
	defEnc, repEnc int32
	defLen, repLen int64 // v2
	plainV2        bool  // v2: the values are not compressed
}

var errHeader = errors.New("page header")

// header reads the header of the next page.
func (s *pageStream) header() (pageHeader, error) {
	for n := 256; ; n *= 8 {
		b, err := s.peek(n)
		if err != nil {
			return pageHeader{}, err
		}
		sc := thrift.Scanner{Buf: b}
		h := scanPageHeader(&sc)
		if sc.Err == nil {
			s.buf = s.buf[sc.At:]
			return h, h.check(s.left(), s.most)
		}
		if len(b) < n || n >= maxHeader {
			return h, fmt.Errorf("%w: %w", errHeader, sc.Err)
		}
	}
}

func (h *pageHeader) check(left, most int64) error {
	switch {
	case h.compressed < 0 || h.compressed > left:
		return fmt.Errorf("%w: %d bytes, but the column chunk has %d left", errHeader, h.compressed, left)
	case h.uncompressed < 0:
		return fmt.Errorf("%w: %d bytes uncompressed", errHeader, h.uncompressed)
	case h.uncompressed > most:
		return fmt.Errorf("a page of %d bytes uncompressed; at most %d are read, %d times --max-value-bytes: raise that", h.uncompressed, most, pageValuesWorth)
	case (h.kind == pageData || h.kind == pageDataV2 || h.kind == pageDictionary) && !h.hasBody:
		return fmt.Errorf("%w: page type %d, but nothing about such a page", errHeader, h.kind)
	case h.values < 0 || h.values > maxPageValues:
		return fmt.Errorf("%w: %d values; at most %d are read", errHeader, h.values, maxPageValues)
	case h.rows < -1:
		return fmt.Errorf("%w: a negative number of rows", errHeader)
	case h.defLen < 0 || h.repLen < 0 || h.defLen > h.uncompressed || h.repLen > h.uncompressed-h.defLen || h.defLen+h.repLen > h.compressed:
		return fmt.Errorf("%w: levels of %d and %d bytes in a page of %d", errHeader, h.repLen, h.defLen, h.compressed)
	}
	return nil
}

func scanPageHeader(s *thrift.Scanner) pageHeader {
	h := pageHeader{rows: -1, defEnc: encoding.RLE, repEnc: encoding.RLE}
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		switch {
		case typ == thrift.I32 && id == 1:
			h.kind = s.Int()
		case typ == thrift.I32 && id == 2:
			h.uncompressed = s.Int()
		case typ == thrift.I32 && id == 3:
			h.compressed = s.Int()
		case typ == thrift.I32 && id == 4:
			h.crc, h.hasCRC = uint32(s.Int()), true
		case typ == thrift.Struct && (id == 5 && h.kind == pageData || id == 7 && h.kind == pageDictionary || id == 8 && h.kind == pageDataV2):
			h.hasBody = true
			scanPageBody(s, &h)
		default:
			s.Skip(typ, 0)
		}
	}
	return h
}

// scanPageBody reads the struct of a data or dictionary page.
func scanPageBody(s *thrift.Scanner, h *pageHeader) {
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		v2 := h.kind == pageDataV2
		switch {
		case typ == thrift.False && v2 && id == 7:
			h.plainV2 = true
		case typ != thrift.I32:
			s.Skip(typ, 0)
		case id == 1:
			h.values = s.Int()
		case id == 2 && !v2, id == 4 && v2:
			h.encoding = int32(s.Int())
		case id == 3 && v2:
			if h.rows = s.Int(); h.rows < 0 {
				h.rows = -2
			}
		case id == 3 && h.kind == pageData:
			h.defEnc = int32(s.Int())
		case id == 4 && h.kind == pageData:
			h.repEnc = int32(s.Int())
		case id == 5 && v2:
			h.defLen = s.Int()
		case id == 6 && v2:
			h.repLen = s.Int()
		default:
			s.Skip(typ, 0)
		}
	}
}

// pageBuffers is the memory of a Reader. It goes from one to the next: pages of a file are much alike.
type pageBuffers struct {
	packed  []byte // a page as it is stored; held no longer than a call
	numbers []uint32
	leaves  []leafBuffers
}

// leafBuffers is the memory of one leaf: its open page and, where the Reader may use them again, the values of its vectors.
type leafBuffers struct {
	page    []byte
	data    []byte
	offsets []int32

	otherData    []byte // in turn with these, where slices are read ahead
	otherOffsets []int32
}

var bufferPool = freelist.New(func() *pageBuffers { return &pageBuffers{} })

// takeBuffers returns memory for a Reader of so many leaves.
func takeBuffers(leaves int) *pageBuffers {
	b := bufferPool.Get()
	b.leaves = slices.Grow(b.leaves, max(0, leaves-len(b.leaves)))[:max(leaves, len(b.leaves))]
	return b
}

// keptBytes is how much memory is kept for other pages.
const keptBytes = 8 << 20

// giveBack keeps the memory for another Reader, but for what is uncommonly large.
func (b *pageBuffers) giveBack() {
	const most = keptBytes
	if cap(b.packed) > most {
		b.packed = nil
	}
	for i := range b.leaves {
		if l := &b.leaves[i]; cap(l.page)+cap(l.data)+cap(l.otherData)+4*(cap(l.offsets)+cap(l.otherOffsets)) > most {
			*l = leafBuffers{}
		}
	}
	bufferPool.Put(b)
}

// body reads the body of the page, checks it and decompresses it into dst, which is grown. The levels of a v2 page, which
// are not compressed, stand at its begin.
func (s *pageStream) body(h *pageHeader, codec Codec, dst []byte, shared *pageBuffers) ([]byte, error) {
	if codec == None && h.uncompressed != h.compressed {
		return nil, fmt.Errorf("%w: not compressed, but %d bytes are said to be %d", errHeader, h.compressed, h.uncompressed)
	}
	if codec == None {
		dst = sized(dst, int(h.uncompressed)) // bytes that are in the file
		if err := s.read(dst); err != nil {
			return nil, err
		}
		return dst, h.checksum(dst)
	}
	shared.packed = sized(shared.packed, int(h.compressed))
	packed := shared.packed
	if err := s.read(packed); err != nil {
		return nil, err
	}
	if err := h.checksum(packed); err != nil {
		return nil, err
	}
	levels := int(h.defLen + h.repLen)
	if h.plainV2 {
		codec = None
	}
	if err := compress.Check(packed[levels:], h.uncompressed-int64(levels), codec, hugePage); err != nil {
		return nil, err
	}
	dst = sized(dst, int(h.uncompressed))
	copy(dst, packed[:levels])
	packed = packed[levels:]
	if len(packed) == 0 && len(dst) == levels { // some writers leave out the frame of nothing
		return dst, nil
	}
	return dst, compress.Decompress(dst[levels:], packed, codec)
}

func (h *pageHeader) checksum(b []byte) error {
	if h.hasCRC && crc32.ChecksumIEEE(b) != h.crc {
		return fmt.Errorf("checksum mismatch: the page was damaged after it was written (CRC-32 %08x, its header says %08x)", crc32.ChecksumIEEE(b), h.crc)
	}
	return nil
}

// sized returns b with length n, its contents undefined. Pages differ in size a little: some room saves the next one memory.
func sized(b []byte, n int) []byte {
	if cap(b) < n {
		if int64(n) >= hugePage {
			return make([]byte, n)
		}
		return make([]byte, n, n+n/8)
	}
	return b[:n]
}
