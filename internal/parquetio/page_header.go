package parquetio

import (
	"hash/crc32"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
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
	var w structWriter
	b = w.int(b, 1, thriftI32, int64(kind))
	b = w.int(b, 2, thriftI32, int64(uncompressed))
	b = w.int(b, 3, thriftI32, int64(len(body)))
	b = w.int(b, 4, thriftI32, int64(int32(crc32.ChecksumIEEE(body))))
	var p structWriter
	if kind == pageDictionary {
		b = w.field(b, 7, thriftStruct)
		b = p.int(b, 1, thriftI32, int64(values))
		b = p.int(b, 2, thriftI32, int64(enc))
		return w.stop(p.stop(b))
	}
	b = w.field(b, 5, thriftStruct)
	b = p.int(b, 1, thriftI32, int64(values))
	b = p.int(b, 2, thriftI32, int64(enc))
	b = p.int(b, 3, thriftI32, encoding.RLE) // of definition levels
	b = p.int(b, 4, thriftI32, encoding.RLE) // of repetition levels
	return w.stop(p.stop(b))
}
