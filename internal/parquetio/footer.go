package parquetio

import (
	"errors"
	"fmt"
	"math"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
)

// metadata is what the footer says beside schema elements, row groups and column chunks.
type metadata struct {
	elements  []element
	rows      int64
	keyValues []KeyValue
	createdBy string
	writer    writer // what it says
	orders    []span // column_orders: one a leaf, or none
	groups    span   // the list of row groups
	encrypted bool   // some field of the footer says so
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
	raw       span
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
	s := scanner{b: f.footer}
	var id int16
	var hasRows, hasGroups bool
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		switch id {
		case 2:
			if s.want(typ, thriftList) {
				f.meta.elements = nil // of a field that is there twice the last one counts, as in every reader
				f.scanElements(&s)
			}
		case 3:
			hasRows = s.want(typ, thriftI64)
			f.meta.rows = s.int()
		case 4:
			if hasGroups = s.want(typ, thriftList); hasGroups {
				f.meta.groups.start = uint32(s.pos)
				f.scanRowGroups(&s)
				f.meta.groups.end = uint32(s.pos)
			}
		case 5:
			if s.want(typ, thriftList) {
				f.meta.keyValues = nil
				f.scanKeyValues(&s)
			}
		case 6:
			if s.want(typ, thriftBinary) {
				f.meta.createdBy = string(s.bytes())
				f.meta.writer = parseCreatedBy(f.meta.createdBy)
			}
		case 7:
			if s.want(typ, thriftList) {
				f.meta.orders = nil
				for n := s.listOf(thriftStruct); n > 0 && s.err == nil; n-- {
					f.meta.orders = append(f.meta.orders, s.structSpan())
				}
			}
		case 8, 9:
			f.meta.encrypted = true
			s.skip(typ, 0)
		default:
			s.skip(typ, 0)
		}
	}
	switch {
	case f.meta.encrypted:
		return errEncrypted
	case s.err != nil:
		return fmt.Errorf("footer: %w", s.err)
	case !hasRows || !hasGroups || len(f.meta.elements) == 0:
		return errors.New("footer: schema, row count or row groups are missing")
	case s.pos != len(f.footer):
		return fmt.Errorf("footer: %d bytes are left over", len(f.footer)-s.pos)
	}
	return nil
}

func (f *File) scanKeyValues(s *scanner) {
	for n := s.listOf(thriftStruct); n > 0 && s.err == nil; n-- {
		kv := KeyValue{NoValue: true}
		var id int16
		for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
			switch {
			case id == 1 && typ == thriftBinary:
				kv.Key = string(s.bytes())
			case id == 2 && typ == thriftBinary:
				kv.Value, kv.NoValue = string(s.bytes()), false
			default:
				s.skip(typ, 0)
			}
		}
		f.meta.keyValues = append(f.meta.keyValues, kv)
	}
}

func (f *File) scanElements(s *scanner) {
	for n := s.listOf(thriftStruct); n > 0 && s.err == nil; n-- {
		e := element{physical: -1, length: -1, rep: -1, children: -1, converted: -1, scale: absentNumber, precision: absentNumber, fieldID: -1}
		e.raw.start = uint32(s.pos)
		scanElement(s, &e)
		e.raw.end = uint32(s.pos)
		f.meta.elements = append(f.meta.elements, e)
	}
}

func scanElement(s *scanner, e *element) {
	var id int16
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		switch id {
		case 1:
			e.physical = s.int32(typ)
		case 2:
			e.length = s.int32(typ)
		case 3:
			e.rep = s.int32(typ)
		case 4:
			if s.want(typ, thriftBinary) {
				e.name = string(s.bytes())
			}
		case 5:
			e.children = s.int32(typ)
		case 6:
			if e.converted = s.signed32(typ); e.converted < 0 {
				e.converted = math.MaxInt32 // as unknown as other numbers that the format does not have
			}
		case 7:
			e.scale = s.signed32(typ)
		case 8:
			e.precision = s.signed32(typ)
		case 9:
			e.fieldID = -1
			if s.want(typ, thriftI32) {
				e.fieldID = int32(max(-1, min(s.int(), math.MaxInt32)))
			}
		case 10:
			if s.want(typ, thriftStruct) {
				e.logical = logicalType{id: logicalUndefined}
				scanLogical(s, &e.logical)
			}
		default:
			s.skip(typ, 0)
		}
	}
}

// int32 reads a field of type i32 that must not be negative.
func (s *scanner) int32(typ byte) int32 {
	if !s.want(typ, thriftI32) {
		return -1
	}
	v := s.int()
	if v < 0 || v > math.MaxInt32 {
		s.fail(fmt.Errorf("number %d is out of range", v))
		return -1
	}
	return int32(v)
}

// signed32 reads a field of type i32.
func (s *scanner) signed32(typ byte) int32 {
	if !s.want(typ, thriftI32) {
		return -1
	}
	return int32(max(math.MinInt32+1, min(s.int(), math.MaxInt32)))
}

// int64 reads a field of type i64.
func (s *scanner) int64(typ byte) int64 {
	if !s.want(typ, thriftI64) {
		return 0
	}
	return s.int()
}

func scanLogical(s *scanner, l *logicalType) {
	var id int16
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		if typ != thriftStruct || id <= 0 || id > logicalGeography { // a member of a later version: readers go by the physical type
			s.skip(typ, 0)
			continue
		}
		*l = logicalType{id: id}
		var sub int16
		for t, ok := s.field(&sub); ok; t, ok = s.field(&sub) {
			scanLogicalParam(s, l, sub, t)
		}
	}
}

func scanLogicalParam(s *scanner, l *logicalType, id int16, typ byte) {
	isBool := typ == thriftTrue || typ == thriftFalse
	timed := l.id == logicalTime || l.id == logicalTimestamp
	switch {
	case l.id == logicalInteger && id == 1 && typ == thriftI8:
		l.bits = int32(s.byte())
	case l.id == logicalInteger && id == 2 && isBool:
		l.signed = typ == thriftTrue
	case l.id == logicalDecimal && id == 1 && typ == thriftI32:
		l.scale = s.signed32(typ)
	case l.id == logicalDecimal && id == 2 && typ == thriftI32:
		l.precision = s.signed32(typ)
	case timed && id == 1 && isBool:
		l.utc = typ == thriftTrue
	case timed && id == 2 && typ == thriftStruct:
		var unit int16
		for t, ok := s.field(&unit); ok; t, ok = s.field(&unit) {
			if t == thriftStruct {
				l.unit = unit
			}
			s.skip(t, 0)
		}
	default:
		s.skip(typ, 0)
		return
	}
	l.has |= 1 << id
}

func (f *File) scanRowGroups(s *scanner) {
	n := s.listOf(thriftStruct)
	f.groups, f.chunks = make([]RowGroup, 0, min(n, 1<<16)), f.chunks[:0]
	for i := 0; i < n && s.err == nil; i++ {
		g := RowGroup{Rows: -1, first: len(f.chunks)}
		g.raw.start = uint32(s.pos)
		f.scanRowGroup(s, &g, int32(i))
		g.raw.end = uint32(s.pos)
		if s.err != nil {
			s.err = fmt.Errorf("row group %d: %w", i, s.err)
		}
		for j := range f.chunks[g.first:] {
			g.Compressed += f.chunks[g.first+j].compressed
			g.Uncompressed += f.chunks[g.first+j].uncompressed
		}
		f.groups = append(f.groups, g)
	}
}

func (f *File) scanRowGroup(s *scanner, g *RowGroup, number int32) {
	var id int16
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		switch id {
		case 1:
			if !s.want(typ, thriftList) {
				return
			}
			g.columns.start = uint32(s.pos)
			f.chunks = f.chunks[:g.first]
			n := s.listOf(thriftStruct)
			if f.chunks == nil {
				f.chunks = make([]Chunk, 0, min(n*cap(f.groups), len(s.b)/24)) // a chunk has 24 bytes at least
			}
			for i := 0; i < n && s.err == nil; i++ {
				c := Chunk{file: f, rowGroup: number, leaf: int32(i)}
				c.forgetMeta()
				c.raw.start = uint32(s.pos)
				f.scanChunk(s, &c)
				c.raw.end = uint32(s.pos)
				f.chunks = append(f.chunks, c)
			}
			g.columns.end = uint32(s.pos)
		case 3:
			g.Rows = s.int64(typ)
		default:
			s.skip(typ, 0)
		}
	}
	g.leaves = len(f.chunks) - g.first
}

func (f *File) scanChunk(s *scanner, c *Chunk) {
	var id int16
	c.columnIndex, c.offsetIndex = section{}, section{}
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		switch id {
		case 1:
			c.elsewhere = s.want(typ, thriftBinary) && len(s.bytes()) > 0
		case 3:
			if s.want(typ, thriftStruct) {
				c.forgetMeta()
				c.meta.start = uint32(s.pos)
				scanChunkMeta(s, c)
				c.meta.end = uint32(s.pos)
			}
		case 4:
			c.offsetIndex.offset = s.int64(typ)
		case 5:
			c.offsetIndex.length = int64(s.int32(typ))
		case 6:
			c.columnIndex.offset = s.int64(typ)
		case 7:
			c.columnIndex.length = int64(s.int32(typ))
		case 8, 9:
			f.meta.encrypted = true
			s.skip(typ, 0)
		default:
			s.skip(typ, 0)
		}
	}
}

// forgetMeta sets what ColumnMetaData says to "not said".
func (c *Chunk) forgetMeta() {
	*c = Chunk{file: c.file, rowGroup: c.rowGroup, leaf: c.leaf, raw: c.raw, columnIndex: c.columnIndex, offsetIndex: c.offsetIndex,
		elsewhere: c.elsewhere, nulls: -1, values: -1, codec: -1, dataPage: -1, compressed: -1, stored: -1}
}

func scanChunkMeta(s *scanner, c *Chunk) {
	var id int16
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		switch id {
		case 1:
			c.stored = physicalType(s.int32(typ))
		case 2:
			c.encodings = scanEncodings(s, typ)
		case 3:
			c.path.start = uint32(s.pos)
			s.skip(typ, 0)
			c.path.end = uint32(s.pos)
		case 4:
			c.codec = Codec(s.int32(typ))
		case 5:
			c.values = s.int64(typ)
		case 6:
			c.uncompressed = s.int64(typ)
		case 7:
			c.compressed = s.int64(typ)
		case 9:
			c.dataPage = s.int64(typ)
		case 10:
			c.indexPage = s.int64(typ)
		case 11:
			c.dictPage = s.int64(typ)
		case 12:
			if s.want(typ, thriftStruct) {
				c.stats.start = uint32(s.pos)
				c.nulls = scanNullCount(s)
				c.stats.end = uint32(s.pos)
			}
		case 13:
			if s.want(typ, thriftList) {
				c.pages = scanPageEncodings(s)
			}
		case 14:
			c.bloom.offset = s.int64(typ)
			if c.bloom.length == 0 {
				c.bloom.length = -1
			}
		case 15:
			c.bloom.length = int64(s.int32(typ))
		default:
			s.skip(typ, 0)
		}
	}
}

func scanEncodings(s *scanner, typ byte) (mask uint32) {
	if !s.want(typ, thriftList) {
		return 0
	}
	for n := s.listOf(thriftI32); n > 0 && s.err == nil; n-- {
		if e := s.int(); e >= 0 && e < 32 {
			mask |= 1 << e
		}
	}
	return mask
}

// scanNullCount returns the null_count of a Statistics struct, -1 where there is none.
func scanNullCount(s *scanner) int64 {
	nulls := int64(-1)
	var id int16
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		if id == 3 && typ == thriftI64 {
			nulls = s.int()
		} else {
			s.skip(typ, 0)
		}
	}
	return nulls
}

var errPageEncodings = errors.New("encoding_stats lack a field that the format asks for")

// scanPageEncodings reads encoding_stats.
func scanPageEncodings(s *scanner) pageEncodings {
	seen := pagesUnknown
	for n := s.listOf(thriftStruct); n > 0 && s.err == nil; n-- {
		page, enc, count := int64(-1), int64(-1), int64(0)
		var id, has int16
		for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
			switch {
			case typ != thriftI32 || id < 1 || id > 3:
				s.skip(typ, 0)
				continue
			case id == 1:
				page = s.int()
			case id == 2:
				enc = s.int()
			default:
				count = s.int()
			}
			has |= 1 << id
		}
		if has != 1<<1|1<<2|1<<3 && s.err == nil {
			s.fail(errPageEncodings) // readers refuse a footer without
		}
		dict := enc == encoding.PlainDictionary || enc == encoding.RLEDictionary
		switch {
		case (page != pageData && page != pageDataV2) || count <= 0:
		case dict && seen == pagesUnknown:
			seen = pagesDict
		case !dict:
			seen = pagesMixed
		}
	}
	return seen
}
