package parquetio

import (
	"hash/crc32"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

// Page types of the format, by number.
const (
	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3
)

// appendPageHeader appends the PageHeader of a v1 data page or a dictionary page. body is the page as it is stored; its
// checksum is taken here.
func appendPageHeader(b []byte, kind, enc int32, values, uncompressed int, body []byte) []byte {
	var w thrift.StructWriter
	b = w.Int(b, 1, thrift.I32, int64(kind))
	b = w.Int(b, 2, thrift.I32, int64(uncompressed))
	b = w.Int(b, 3, thrift.I32, int64(len(body)))
	b = w.Int(b, 4, thrift.I32, int64(int32(crc32.ChecksumIEEE(body))))
	var p thrift.StructWriter
	if kind == pageDictionary {
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
