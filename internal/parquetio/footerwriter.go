package parquetio

import (
	"bytes"
	"fmt"
	"math"
)

// writeFooter writes the FileMetaData struct, row group by row group: with many of them it is large.
func (w *Writer) writeFooter() error {
	head, tail, err := w.footer()
	if err != nil {
		return err
	}
	if err := w.out.write(appendList(head, thriftStruct, len(w.groups))); err != nil {
		return err
	}
	var columns, group []byte
	made := ledgerReader{ledger: &w.made}
	for i := range w.groups {
		if columns, err = w.columns(columns[:0], i, &made); err != nil {
			return fmt.Errorf("row group %d: %w", i, err)
		}
		if group, err = w.rowGroup(group[:0], i, columns); err != nil {
			return fmt.Errorf("row group %d: %w", i, err)
		}
		if err := w.out.write(group); err != nil {
			return err
		}
	}
	return w.out.write(tail)
}

// footer returns what stands in the FileMetaData struct before the list of row groups, and behind it.
func (w *Writer) footer() (head, tail []byte, err error) {
	at := 0
	edits := []edit{
		{id: 1, typ: thriftI32, num: 2},
		{id: 2, typ: thriftList, raw: w.tree.elements},
		{id: 3, typ: thriftI64, num: w.written.Rows},
		{id: 4, typ: thriftList, put: func(b []byte) []byte {
			at = len(b)
			return b
		}},
		{id: 5},
		{id: 6, typ: thriftBinary, raw: []byte(w.o.CreatedBy)},
		{id: 7},
	}
	if kv := w.keyValues(); len(kv) > 0 {
		edits[4] = edit{id: 5, typ: thriftList, raw: encodeKeyValues(kv)}
	}
	if orders := w.columnOrders(); orders != nil {
		edits[6] = edit{id: 7, typ: thriftList, raw: orders}
	}
	src := []byte{thriftStop}
	if w.o.Base != nil {
		src = w.o.Base.footer
		edits = edits[1:] // its version is its own
		edits[2].was = w.o.Base.meta.groups
	}
	b, err := rewriteStruct(nil, src, edits)
	if err != nil {
		return nil, nil, err
	}
	return b[:at:at], b[at:], nil
}

func encodeKeyValues(kv []KeyValue) []byte {
	b := appendList(nil, thriftStruct, len(kv))
	for _, e := range kv {
		var s structWriter
		b = appendBytes(s.field(b, 1, thriftBinary), e.Key)
		if !e.NoValue {
			b = appendBytes(s.field(b, 2, thriftBinary), e.Value)
		}
		b = s.stop(b)
	}
	return b
}

// typeOrder is the ColumnOrder that says: min_value and max_value are ordered as the type has it.
var typeOrder = []byte{1<<4 | thriftStruct, thriftStop, thriftStop}

// columnOrders encodes the list<ColumnOrder>, or returns nil where none can be written: a copied chunk of a file that had
// none would be trusted for statistics that its writer never vouched for.
func (w *Writer) columnOrders() []byte {
	b := appendList(nil, thriftStruct, len(w.leaves))
	for i := range w.leaves {
		var order []byte
		for g := range w.groups {
			o := typeOrder
			if raw := w.groups[g].chunks[i].raw; raw != nil {
				if len(raw.file.meta.orders) == 0 {
					return nil
				}
				o = raw.file.meta.orders[raw.leaf].of(raw.file.footer)
			}
			if order != nil && !bytes.Equal(order, o) {
				return nil
			}
			order = o
		}
		if order == nil {
			order = typeOrder
		}
		b = append(b, order...)
	}
	return b
}

// columns appends the list<ColumnChunk> of row group n; made gives what is kept of its chunks.
func (w *Writer) columns(b []byte, n int, made *ledgerReader) ([]byte, error) {
	g := &w.groups[n]
	b = appendList(b, thriftStruct, len(g.chunks))
	var meta []byte
	for i := range g.chunks {
		c, p := &g.chunks[i], &w.places[n*len(w.leaves)+i]
		var err error
		src, fileOffset, was := []byte{thriftStop}, int64(0), span{}
		if c.raw == nil {
			var e entry
			if e, err = made.next(); err != nil {
				return b, err
			}
			meta = append(meta[:0], e.meta()...)
		} else {
			if src, err = c.raw.file.inGroups(&w.win, c.raw.raw); err != nil {
				return b, err
			}
			if meta, err = c.moveMeta(meta[:0], src, w.tree.paths[i], p.bloom); err != nil {
				return b, fmt.Errorf("column %s: %w", w.leaves[i].Path, err)
			}
			fileOffset, was = c.start, c.raw.meta.within(c.raw.raw)
		}
		edits := append(make([]edit, 0, 6),
			edit{id: 2, typ: thriftI64, num: fileOffset},
			edit{id: 3, typ: thriftStruct, raw: meta, was: was},
			edit{id: 4}, edit{id: 5}, edit{id: 6}, edit{id: 7})
		if p.offsetIndex.length > 0 {
			edits[2] = edit{id: 4, typ: thriftI64, num: p.offsetIndex.offset}
			edits[3] = edit{id: 5, typ: thriftI32, num: p.offsetIndex.length}
		}
		if p.columnIndex.length > 0 {
			edits[4] = edit{id: 6, typ: thriftI64, num: p.columnIndex.offset}
			edits[5] = edit{id: 7, typ: thriftI32, num: p.columnIndex.length}
		}
		if b, err = rewriteStruct(b, src, edits); err != nil {
			return b, err
		}
	}
	return b, nil
}

// moveMeta appends the ColumnMetaData of a copied chunk, which src describes, as it is where the chunk, and its bloom filter, stand now.
func (c *outChunk) moveMeta(b, src, path []byte, bloom section) ([]byte, error) {
	raw := c.raw
	delta := c.start - raw.start()
	edits := append(make([]edit, 0, 7),
		edit{id: 3, typ: thriftList, raw: path, was: raw.path.within(raw.meta)},
		edit{id: 9, typ: thriftI64, num: raw.dataPage + delta})
	if raw.indexPage > 0 {
		edits = append(edits, edit{id: 10, typ: thriftI64, num: raw.indexPage + delta})
	}
	if raw.dictPage > 0 {
		edits = append(edits, edit{id: 11, typ: thriftI64, num: raw.dictPage + delta})
	}
	if raw.stats.end > 0 && raw.file.meta.writer.distrusted() {
		stats, err := rewriteStruct(nil, raw.stats.within(raw.raw).of(src), []edit{{id: 1}, {id: 2}, {id: 5}, {id: 6}, {id: 7}, {id: 8}})
		if err != nil {
			return b, err
		}
		edits = append(edits, edit{id: 12, typ: thriftStruct, raw: stats})
	}
	if bloom.length > 0 {
		edits = append(edits, edit{id: 14, typ: thriftI64, num: bloom.offset}, edit{id: 15, typ: thriftI32, num: bloom.length})
	} else {
		edits = append(edits, edit{id: 14}, edit{id: 15})
	}
	return rewriteStruct(b, raw.meta.within(raw.raw).of(src), edits)
}

// rowGroup appends RowGroup i, whose list of columns is given. Where all that was copied comes from one row group, that
// one's other fields are carried over.
func (w *Writer) rowGroup(b []byte, i int, columns []byte) ([]byte, error) {
	g := &w.groups[i]
	edits := []edit{
		{id: 1, typ: thriftList, raw: columns},
		{id: 2, typ: thriftI64, num: g.uncompressed},
		{id: 3, typ: thriftI64, num: g.rows},
		{id: 4},
		{id: 5, typ: thriftI64, num: 0},
		{id: 6, typ: thriftI64, num: g.compressed},
		{id: 7},
	}
	if len(g.chunks) > 0 {
		edits[4].num = g.chunks[0].start
	}
	if i <= math.MaxInt16 {
		edits[6] = edit{id: 7, typ: thriftI16, num: int64(i)}
	}
	src := []byte{thriftStop}
	if from := g.source(); from != nil {
		was := &from.file.groups[from.rowGroup]
		var err error
		if src, err = from.file.inGroups(&w.win, was.raw); err != nil {
			return b, err
		}
		edits[0].was = was.columns.within(was.raw)
		if sorting := g.sorting(src); sorting != nil {
			edits[3] = edit{id: 4, typ: thriftList, raw: sorting}
		}
	}
	return rewriteStruct(b, src, edits)
}

// source returns a chunk of the one row group that all copied chunks come from, nil where there is none.
func (g *outGroup) source() *Chunk {
	var from *Chunk
	for i := range g.chunks {
		raw := g.chunks[i].raw
		switch {
		case raw == nil:
		case from == nil:
			from = raw
		case from.file != raw.file || from.rowGroup != raw.rowGroup:
			return nil
		}
	}
	return from
}

// sorting returns the sorting_columns of the source row group src for the columns as they stand now: the rows are sorted by
// as many of the first of them as were copied. Nil: by none.
func (g *outGroup) sorting(src []byte) []byte {
	s := scanner{b: src}
	var id int16
	var out []byte
	count := 0
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		if id != 4 || typ != thriftList {
			s.skip(typ, 0)
			continue
		}
		kept := true
		out, count = nil, 0 // of a field that is there twice the last one counts
		for n := s.listOf(thriftStruct); n > 0 && s.err == nil; n-- {
			entry := s.structSpan().of(src)
			at := g.position(sortingColumn(entry))
			if kept = kept && at >= 0; kept {
				out, _ = rewriteStruct(out, entry, []edit{{id: 1, typ: thriftI32, num: int64(at)}})
				count++
			}
		}
	}
	if count == 0 || s.err != nil {
		return nil
	}
	return append(appendList(nil, thriftStruct, count), out...)
}

func sortingColumn(entry []byte) int64 {
	s := scanner{b: entry}
	var id int16
	column := int64(-1)
	for typ, ok := s.field(&id); ok; typ, ok = s.field(&id) {
		if id == 1 && typ == thriftI32 {
			column = s.int()
		} else {
			s.skip(typ, 0)
		}
	}
	return column
}

// position returns where leaf column of the source stands now, -1 for nowhere.
func (g *outGroup) position(column int64) int {
	for i := range g.chunks {
		if raw := g.chunks[i].raw; raw != nil && int64(raw.leaf) == column {
			return i
		}
	}
	return -1
}
