package page

import (
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

// Page types of the format, by number.
const (
	Data       = 0
	Dictionary = 2
	DataV2     = 3
)

// A Header is what readers need of a PageHeader of the format (parquet.thrift).
type Header struct {
	Kind         int64 // Data, Dictionary, DataV2, or another number
	Uncompressed int64 // bytes of the body, levels included
	Compressed   int64 // bytes of the body in the file
	crc          uint32
	hasCRC       bool
	hasBody      bool // the struct that belongs to its kind is there

	Values         int64 // entries, nulls included
	rows           int64 // v2; -1: not said; below: negative
	Encoding       int32 // of the values
	DefEnc, RepEnc int32 // of the levels
	DefLen, RepLen int64 // v2: bytes of the levels
	plainV2        bool  // v2: the values are not compressed
}

// ErrHeader is what every error about the fields of a page header is.
var ErrHeader = errors.New("page header")

func (h *Header) check(left, most int64) error {
	switch {
	case h.Compressed < 0 || h.Compressed > left:
		return fmt.Errorf("%w: %d bytes, but the column chunk has %d left", ErrHeader, h.Compressed, left)
	case h.Uncompressed < 0:
		return fmt.Errorf("%w: %d bytes uncompressed", ErrHeader, h.Uncompressed)
	case h.Uncompressed > most:
		return fmt.Errorf("a page of %d bytes uncompressed; at most %d are read, %d times --max-value-bytes: raise that", h.Uncompressed, most, ValuesWorth)
	case (h.Kind == Data || h.Kind == DataV2 || h.Kind == Dictionary) && !h.hasBody:
		return fmt.Errorf("%w: page type %d, but nothing about such a page", ErrHeader, h.Kind)
	case h.Values < 0 || h.Values > maxPageValues:
		return fmt.Errorf("%w: %d values; at most %d are read", ErrHeader, h.Values, maxPageValues)
	case h.rows < -1:
		return fmt.Errorf("%w: a negative number of rows", ErrHeader)
	case h.DefLen < 0 || h.RepLen < 0 || h.DefLen > h.Uncompressed || h.RepLen > h.Uncompressed-h.DefLen || h.DefLen+h.RepLen > h.Compressed:
		return fmt.Errorf("%w: levels of %d and %d bytes in a page of %d", ErrHeader, h.RepLen, h.DefLen, h.Compressed)
	}
	return nil
}

func scanHeader(s *thrift.Scanner) Header {
	h := Header{rows: -1, DefEnc: encoding.RLE, RepEnc: encoding.RLE}
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		switch {
		case typ == thrift.I32 && id == 1:
			h.Kind = s.Int()
		case typ == thrift.I32 && id == 2:
			h.Uncompressed = s.Int()
		case typ == thrift.I32 && id == 3:
			h.Compressed = s.Int()
		case typ == thrift.I32 && id == 4:
			h.crc, h.hasCRC = uint32(s.Int()), true
		case typ == thrift.Struct && (id == 5 && h.Kind == Data || id == 7 && h.Kind == Dictionary || id == 8 && h.Kind == DataV2):
			h.hasBody = true
			scanBody(s, &h)
		default:
			s.Skip(typ, 0)
		}
	}
	return h
}

// scanBody reads the struct of a data or dictionary page.
func scanBody(s *thrift.Scanner, h *Header) {
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		v2 := h.Kind == DataV2
		switch {
		case typ == thrift.False && v2 && id == 7:
			h.plainV2 = true
		case typ != thrift.I32:
			s.Skip(typ, 0)
		case id == 1:
			h.Values = s.Int()
		case id == 2 && !v2, id == 4 && v2:
			h.Encoding = int32(s.Int())
		case id == 3 && v2:
			if h.rows = s.Int(); h.rows < 0 {
				h.rows = -2
			}
		case id == 3 && h.Kind == Data:
			h.DefEnc = int32(s.Int())
		case id == 4 && h.Kind == Data:
			h.RepEnc = int32(s.Int())
		case id == 5 && v2:
			h.DefLen = s.Int()
		case id == 6 && v2:
			h.RepLen = s.Int()
		default:
			s.Skip(typ, 0)
		}
	}
}

func (h *Header) checksum(b []byte) error {
	if h.hasCRC && crc32.ChecksumIEEE(b) != h.crc {
		return fmt.Errorf("checksum mismatch: the page was damaged after it was written (CRC-32 %08x, its header says %08x)", crc32.ChecksumIEEE(b), h.crc)
	}
	return nil
}

// appendHeader appends the PageHeader of a v1 data page or a dictionary page. body is the page as it is stored; its
// checksum is taken here.
func appendHeader(b []byte, kind, enc int32, values, uncompressed int, body []byte) []byte {
	var w thrift.StructWriter
	b = w.Int(b, 1, thrift.I32, int64(kind))
	b = w.Int(b, 2, thrift.I32, int64(uncompressed))
	b = w.Int(b, 3, thrift.I32, int64(len(body)))
	b = w.Int(b, 4, thrift.I32, int64(int32(crc32.ChecksumIEEE(body))))
	var p thrift.StructWriter
	if kind == Dictionary {
		b = w.Field(b, 7, thrift.Struct)
		b = p.Int(b, 1, thrift.I32, int64(values))
		b = p.Int(b, 2, thrift.I32, int64(enc))
		return w.Stop(p.Stop(b))
	}
	b = w.Field(b, 5, thrift.Struct)
	b = p.Int(b, 1, thrift.I32, int64(values))
	b = p.Int(b, 2, thrift.I32, int64(enc))
	b = p.Int(b, 3, thrift.I32, encoding.RLE) // of definition levels
	b = p.Int(b, 4, thrift.I32, encoding.RLE) // of repetition levels
	return w.Stop(p.Stop(b))
}
