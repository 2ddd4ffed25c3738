package parquetio

import (
	"errors"

	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

// writeBlooms copies the bloom filters of copied chunks. They do not say where they stand, so the bytes stay as they are.
func (w *Writer) writeBlooms() error {
	return w.each(func(c *outChunk, p *outPlace, _ entry) error {
		if c.raw == nil || c.raw.bloom.offset == 0 {
			return nil
		}
		src := c.raw.bloom
		if src.length < 0 {
			var ok bool
			if src, ok = c.raw.findBloom(); !ok {
				return nil // a filter is only a help: none is better than one that ends nobody knows where
			}
		}
		p.bloom = section{w.out.off, src.length}
		return w.out.copy(c.raw.file, src)
	})
}

// findBloom reads the length of the bloom filter from its header, for writers older than the footer's bloom_filter_length.
func (c *Chunk) findBloom() (section, bool) {
	f := c.file
	head := make([]byte, min(64, f.size-c.bloom.offset))
	if f.readAt(head, c.bloom.offset) != nil {
		return section{}, false
	}
	s := thrift.Scanner{Buf: head}
	var id int16
	var size int64
	unions := 0 // algorithm, hash and compression: what tells the header from other bytes
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		if id == 1 && typ == thrift.I32 {
			size = s.Int()
			continue
		}
		if id >= 2 && id <= 4 && typ == thrift.Struct {
			unions++
		}
		s.Skip(typ, 0)
	}
	found := section{c.bloom.offset, int64(s.At) + size}
	return found, s.Err == nil && unions == 3 && size > 0 && size%32 == 0 && f.inside(found)
}

// writeIndexes writes all column indexes, then all offset indexes: parquet-go (file.go, ReadPageIndex, v0.32) slices out of
// range where either kind does not stand in one piece.
func (w *Writer) writeIndexes() error {
	err := w.each(func(c *outChunk, p *outPlace, e entry) error {
		b := e.columns()
		if c.raw != nil && c.raw.columnIndex.length > 0 {
			var err error
			if b, err = w.win.section(c.raw.file, c.raw.columnIndex); err != nil {
				return err
			}
		}
		p.columnIndex = section{w.out.off, int64(len(b))}
		return w.out.write(b)
	})
	if err != nil {
		return err
	}
	var scratch []byte
	return w.each(func(c *outChunk, p *outPlace, e entry) error {
		b := e.offsets()
		if c.raw != nil && c.raw.offsetIndex.length > 0 {
			src, err := w.win.section(c.raw.file, c.raw.offsetIndex)
			if err != nil {
				return err
			}
			if scratch, err = moveOffsets(scratch[:0], src, c); err != nil {
				return c.raw.damaged("offset index", err)
			}
			b = scratch
		}
		p.offsetIndex = section{w.out.off, int64(len(b))}
		return w.out.write(b)
	})
}

var errOffsetIndex = errors.New("names pages outside of the column chunk")

// moveOffsets appends the OffsetIndex src of a copied chunk with every page moved to where it stands now.
func moveOffsets(b, src []byte, c *outChunk) ([]byte, error) {
	s := thrift.Scanner{Buf: src}
	var id int16
	var locations []byte
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		if id != 1 || typ != thrift.List {
			s.Skip(typ, 0)
			continue
		}
		n := s.ListOf(thrift.Struct)
		locations = thrift.AppendList(locations[:0], thrift.Struct, n)
		for ; n > 0 && s.Err == nil; n-- {
			var err error
			if locations, err = movePage(locations, s.StructSpan().Of(src), c); err != nil {
				return b, err
			}
		}
	}
	if s.Err != nil {
		return b, s.Err
	}
	return thrift.Rewrite(b, src, []thrift.Edit{{ID: 1, Type: thrift.List, Raw: locations}})
}

func movePage(b, src []byte, c *outChunk) ([]byte, error) {
	s := thrift.Scanner{Buf: src}
	var id int16
	offset := int64(-1)
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		if id == 1 && typ == thrift.I64 {
			offset = s.Int()
		} else {
			s.Skip(typ, 0)
		}
	}
	at := offset - c.raw.start()
	if at < 0 || at >= c.raw.compressed {
		return b, errOffsetIndex
	}
	return thrift.Rewrite(b, src, []thrift.Edit{{ID: 1, Type: thrift.I64, Num: c.start + at}})
}
