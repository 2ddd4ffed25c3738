package parquetio

import (
	"errors"
	"fmt"
	"math"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

// metadata is what the footer says beside schema elements, row groups and column chunks.
type metadata struct {
	elements  []element
	rows      int64
	keyValues []KeyValue
	createdBy string
	writer    writer        // what it says
	orders    []thrift.Span // column_orders: one a leaf, or none
	groups    thrift.Span   // the list of row groups
	encrypted bool          // some field of the footer says so
}

// A KeyValue is one entry of the footer's key-value metadata.
type KeyValue struct {
	Key   string
	Value string
	// NoValue is an entry whose value is absent, which is not the same as empty.
	NoValue bool
}

// absentNumber is a scale or a precision that a SchemaElement does not have.
const absentNumber = math.MinInt32

// An element is one SchemaElement. Numbers that are absent are -1, but for those of which -1 is wrong in itself: they are absentNumber.
type element struct {
	raw       thrift.Span
	name      string
	physical  int32
	length    int32
	rep       int32
	children  int32
	converted int32
	scale     int32
	precision int32
	fieldID   int32
	logical   logicalType
	end       int32 // index of the element after the last one below it; set by the tree
}

// A logicalType is a LogicalType union. id 0: the element has none.
type logicalType struct {
	id        int16
	bits      int32 // INTEGER
	signed    bool  // INTEGER
	scale     int32 // DECIMAL
	precision int32 // DECIMAL
	utc       bool  // TIME, TIMESTAMP
	unit      int16 // TIME, TIMESTAMP: 1 ms, 2 us, 3 ns
	has       uint8 // which of its fields the union's member has, a bit each: DECIMAL, TIME, TIMESTAMP and INTEGER ask for 1 and 2
}

// The members of the LogicalType union.
const (
	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalUnknown   = 11
	logicalJSON      = 12
	logicalBSON      = 13
	logicalUUID      = 14
	logicalFloat16   = 15
	logicalVariant   = 16
	logicalGeometry  = 17
	logicalGeography = 18
)

var (
	errEncrypted = errors.New("the file is encrypted, and rlprep holds no keys: decrypt it first (parquet-cli, or pyarrow with its keys)")
)

// scanFooter reads the FileMetaData struct f.footer into f. It checks only what it needs to walk it; validate does the rest.
func (f *File) scanFooter() error {
	s := thrift.Scanner{Buf: f.footer}
	var id int16
	var hasRows, hasGroups bool
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		switch id {
		case 2:
			if s.Want(typ, thrift.List) {
				f.meta.elements = nil // of a field that occurs twice the last one counts, as in every reader
				f.scanElements(&s)
			}
		case 3:
			hasRows = s.Want(typ, thrift.I64)
			f.meta.rows = s.Int()
		case 4:
			if hasGroups = s.Want(typ, thrift.List); hasGroups {
				f.meta.groups.Start = uint32(s.At)
				f.scanRowGroups(&s)
				f.meta.groups.End = uint32(s.At)
			}
		case 5:
			if s.Want(typ, thrift.List) {
				f.meta.keyValues = nil
				f.scanKeyValues(&s)
			}
		case 6:
			if s.Want(typ, thrift.Binary) {
				f.meta.createdBy = string(s.Bytes())
				f.meta.writer = parseCreatedBy(f.meta.createdBy)
			}
		case 7:
			if s.Want(typ, thrift.List) {
				f.meta.orders = nil
				for n := s.ListOf(thrift.Struct); n > 0 && s.Err == nil; n-- {
					f.meta.orders = append(f.meta.orders, s.StructSpan())
				}
			}
		case 8, 9:
			f.meta.encrypted = true
			s.Skip(typ, 0)
		default:
			s.Skip(typ, 0)
		}
	}
	switch {
	case f.meta.encrypted:
		return errEncrypted
	case s.Err != nil:
		return fmt.Errorf("footer: %w", s.Err)
	case !hasRows || !hasGroups || len(f.meta.elements) == 0:
		return errors.New("footer: schema, row count or row groups are missing")
	case s.At != len(f.footer):
		return fmt.Errorf("footer: %d bytes are left over", len(f.footer)-s.At)
	}
	return nil
}

func (f *File) scanKeyValues(s *thrift.Scanner) {
	for n := s.ListOf(thrift.Struct); n > 0 && s.Err == nil; n-- {
		kv := KeyValue{NoValue: true}
		var id int16
		for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
			switch {
			case id == 1 && typ == thrift.Binary:
				kv.Key = string(s.Bytes())
			case id == 2 && typ == thrift.Binary:
				kv.Value, kv.NoValue = string(s.Bytes()), false
			default:
				s.Skip(typ, 0)
			}
		}
		f.meta.keyValues = append(f.meta.keyValues, kv)
	}
}

func (f *File) scanElements(s *thrift.Scanner) {
	for n := s.ListOf(thrift.Struct); n > 0 && s.Err == nil; n-- {
		e := element{physical: -1, length: -1, rep: -1, children: -1, converted: -1, scale: absentNumber, precision: absentNumber, fieldID: -1}
		e.raw.Start = uint32(s.At)
		scanElement(s, &e)
		e.raw.End = uint32(s.At)
		f.meta.elements = append(f.meta.elements, e)
	}
}

func scanElement(s *thrift.Scanner, e *element) {
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		switch id {
		case 1:
			e.physical = s.Int32(typ)
		case 2:
			e.length = s.Int32(typ)
		case 3:
			e.rep = s.Int32(typ)
		case 4:
			if s.Want(typ, thrift.Binary) {
				e.name = string(s.Bytes())
			}
		case 5:
			e.children = s.Int32(typ)
		case 6:
			if e.converted = s.Signed32(typ); e.converted < 0 {
				e.converted = math.MaxInt32 // as unknown as other numbers that the format does not have
			}
		case 7:
			e.scale = s.Signed32(typ)
		case 8:
			e.precision = s.Signed32(typ)
		case 9:
			e.fieldID = -1
			if s.Want(typ, thrift.I32) {
				e.fieldID = int32(max(-1, min(s.Int(), math.MaxInt32)))
			}
		case 10:
			if s.Want(typ, thrift.Struct) {
				e.logical = logicalType{id: logicalUndefined}
				scanLogical(s, &e.logical)
			}
		default:
			s.Skip(typ, 0)
		}
	}
}

func scanLogical(s *thrift.Scanner, l *logicalType) {
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		if typ != thrift.Struct || id <= 0 || id > logicalGeography { // a member of a later version: readers go by the physical type
			s.Skip(typ, 0)
			continue
		}
		*l = logicalType{id: id}
		var sub int16
		for t, ok := s.Field(&sub); ok; t, ok = s.Field(&sub) {
			scanLogicalParam(s, l, sub, t)
		}
	}
}

func scanLogicalParam(s *thrift.Scanner, l *logicalType, id int16, typ byte) {
	isBool := typ == thrift.True || typ == thrift.False
	timed := l.id == logicalTime || l.id == logicalTimestamp
	switch {
	case l.id == logicalInteger && id == 1 && typ == thrift.I8:
		l.bits = int32(s.Byte())
	case l.id == logicalInteger && id == 2 && isBool:
		l.signed = typ == thrift.True
	case l.id == logicalDecimal && id == 1 && typ == thrift.I32:
		l.scale = s.Signed32(typ)
	case l.id == logicalDecimal && id == 2 && typ == thrift.I32:
		l.precision = s.Signed32(typ)
	case timed && id == 1 && isBool:
		l.utc = typ == thrift.True
	case timed && id == 2 && typ == thrift.Struct:
		var unit int16
		for t, ok := s.Field(&unit); ok; t, ok = s.Field(&unit) {
			if t == thrift.Struct {
				l.unit = unit
			}
			s.Skip(t, 0)
		}
	default:
		s.Skip(typ, 0)
		return
	}
	l.has |= 1 << id
}

func (f *File) scanRowGroups(s *thrift.Scanner) {
	n := s.ListOf(thrift.Struct)
	f.groups, f.chunks = make([]RowGroup, 0, min(n, 1<<16)), f.chunks[:0]
	for i := 0; i < n && s.Err == nil; i++ {
		g := RowGroup{Rows: -1, first: len(f.chunks)}
		g.raw.Start = uint32(s.At)
		f.scanRowGroup(s, &g, int32(i))
		g.raw.End = uint32(s.At)
		if s.Err != nil {
			s.Err = fmt.Errorf("row group %d: %w", i, s.Err)
		}
		for j := range f.chunks[g.first:] {
			g.Compressed += f.chunks[g.first+j].compressed
			g.Uncompressed += f.chunks[g.first+j].uncompressed
		}
		f.groups = append(f.groups, g)
	}
}

func (f *File) scanRowGroup(s *thrift.Scanner, g *RowGroup, number int32) {
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		switch id {
		case 1:
			if !s.Want(typ, thrift.List) {
				return
			}
			g.columns.Start = uint32(s.At)
			f.chunks = f.chunks[:g.first]
			n := s.ListOf(thrift.Struct)
			if f.chunks == nil {
				f.chunks = make([]Chunk, 0, min(n*cap(f.groups), len(s.Buf)/24)) // a chunk has 24 bytes at least
			}
			for i := 0; i < n && s.Err == nil; i++ {
				c := Chunk{file: f, rowGroup: number, leaf: int32(i)}
				c.forgetMeta()
				c.raw.Start = uint32(s.At)
				f.scanChunk(s, &c)
				c.raw.End = uint32(s.At)
				f.chunks = append(f.chunks, c)
			}
			g.columns.End = uint32(s.At)
		case 3:
			g.Rows = s.Int64(typ)
		default:
			s.Skip(typ, 0)
		}
	}
	g.leaves = len(f.chunks) - g.first
}

func (f *File) scanChunk(s *thrift.Scanner, c *Chunk) {
	var id int16
	c.columnIndex, c.offsetIndex = section{}, section{}
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		switch id {
		case 1:
			c.elsewhere = s.Want(typ, thrift.Binary) && len(s.Bytes()) > 0
		case 3:
			if s.Want(typ, thrift.Struct) {
				c.forgetMeta()
				c.meta.Start = uint32(s.At)
				scanChunkMeta(s, c)
				c.meta.End = uint32(s.At)
			}
		case 4:
			c.offsetIndex.offset = s.Int64(typ)
		case 5:
			c.offsetIndex.length = int64(s.Int32(typ))
		case 6:
			c.columnIndex.offset = s.Int64(typ)
		case 7:
			c.columnIndex.length = int64(s.Int32(typ))
		case 8, 9:
			f.meta.encrypted = true
			s.Skip(typ, 0)
		default:
			s.Skip(typ, 0)
		}
	}
}

// forgetMeta sets what ColumnMetaData says to "not said".
func (c *Chunk) forgetMeta() {
	*c = Chunk{file: c.file, rowGroup: c.rowGroup, leaf: c.leaf, raw: c.raw, columnIndex: c.columnIndex, offsetIndex: c.offsetIndex,
		elsewhere: c.elsewhere, nulls: -1, values: -1, codec: -1, dataPage: -1, compressed: -1, stored: -1}
}

func scanChunkMeta(s *thrift.Scanner, c *Chunk) {
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		switch id {
		case 1:
			c.stored = encoding.Physical(s.Int32(typ))
		case 2:
			c.encodings = scanEncodings(s, typ)
		case 3:
			c.path.Start = uint32(s.At)
			s.Skip(typ, 0)
			c.path.End = uint32(s.At)
		case 4:
			c.codec = Codec(s.Int32(typ))
		case 5:
			c.values = s.Int64(typ)
		case 6:
			c.uncompressed = s.Int64(typ)
		case 7:
			c.compressed = s.Int64(typ)
		case 9:
			c.dataPage = s.Int64(typ)
		case 10:
			c.indexPage = s.Int64(typ)
		case 11:
			c.dictPage = s.Int64(typ)
		case 12:
			if s.Want(typ, thrift.Struct) {
				c.stats.Start = uint32(s.At)
				c.nulls = scanNullCount(s)
				c.stats.End = uint32(s.At)
			}
		case 13:
			if s.Want(typ, thrift.List) {
				c.pages = scanPageEncodings(s)
			}
		case 14:
			c.bloom.offset = s.Int64(typ)
			if c.bloom.length == 0 {
				c.bloom.length = -1
			}
		case 15:
			c.bloom.length = int64(s.Int32(typ))
		default:
			s.Skip(typ, 0)
		}
	}
}

func scanEncodings(s *thrift.Scanner, typ byte) (mask uint32) {
	if !s.Want(typ, thrift.List) {
		return 0
	}
	for n := s.ListOf(thrift.I32); n > 0 && s.Err == nil; n-- {
		if e := s.Int(); e >= 0 && e < 32 {
			mask |= 1 << e
		}
	}
	return mask
}

// scanNullCount returns the null_count of a Statistics struct, -1 where there is none.
func scanNullCount(s *thrift.Scanner) int64 {
	nulls := int64(-1)
	var id int16
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		if id == 3 && typ == thrift.I64 {
			nulls = s.Int()
		} else {
			s.Skip(typ, 0)
		}
	}
	return nulls
}

var errPageEncodings = errors.New("encoding_stats lack a field that the format asks for")

// scanPageEncodings reads encoding_stats.
func scanPageEncodings(s *thrift.Scanner) pageEncodings {
	seen := pagesUnknown
	for n := s.ListOf(thrift.Struct); n > 0 && s.Err == nil; n-- {
		kind, enc, count := int64(-1), int64(-1), int64(0)
		var id, has int16
		for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
			switch {
			case typ != thrift.I32 || id < 1 || id > 3:
				s.Skip(typ, 0)
				continue
			case id == 1:
				kind = s.Int()
			case id == 2:
				enc = s.Int()
			default:
				count = s.Int()
			}
			has |= 1 << id
		}
		if has != 1<<1|1<<2|1<<3 && s.Err == nil {
			s.Fail(errPageEncodings) // readers refuse a footer without
		}
		dict := enc == encoding.PlainDictionary || enc == encoding.RLEDictionary
		switch {
		case (kind != page.Data && kind != page.DataV2) || count <= 0:
		case dict && seen == pagesUnknown:
			seen = pagesDict
		case !dict:
			seen = pagesMixed
		}
	}
	return seen
}
