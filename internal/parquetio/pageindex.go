package parquetio

import "errors"

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
	s := scanner{b: head}
	var id int16
	var size int64
	unions := 0 // algorithm, hash and compression: what tells the header from other bytes
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		if id == 1 && typ == thriftI32 {
			size = s.int()
			continue
		}
		if id >= 2 && id <= 4 && typ == thriftStruct {
			unions++
		}
		s.skip(typ, 0)
	}
	found := section{c.bloom.offset, int64(s.pos) + size}
	return found, s.err == nil && unions == 3 && size > 0 && size%32 == 0 && f.inside(found)
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
	s := scanner{b: src}
	var id int16
	var locations []byte
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		if id != 1 || typ != thriftList {
			s.skip(typ, 0)
			continue
		}
		n := s.listOf(thriftStruct)
		locations = appendList(locations[:0], thriftStruct, n)
		for ; n > 0 && s.err == nil; n-- {
			var err error
			if locations, err = movePage(locations, s.structSpan().of(src), c); err != nil {
				return b, err
			}
		}
	}
	if s.err != nil {
		return b, s.err
	}
	return rewriteStruct(b, src, []edit{{id: 1, typ: thriftList, raw: locations}})
}

func movePage(b, src []byte, c *outChunk) ([]byte, error) {
	s := scanner{b: src}
	var id int16
	offset := int64(-1)
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		if id == 1 && typ == thriftI64 {
			offset = s.int()
		} else {
			s.skip(typ, 0)
		}
	}
	at := offset - c.raw.start()
	if at < 0 || at >= c.raw.compressed {
		return b, errOffsetIndex
	}
	return rewriteStruct(b, src, []edit{{id: 1, typ: thriftI64, num: c.start + at}})
}
