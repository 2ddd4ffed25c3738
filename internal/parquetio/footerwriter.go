package parquetio

import (
	"bytes"
	"fmt"
	"math"

	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

// writeFooter writes the FileMetaData struct, row group by row group: with many of them it is large.
func (w *Writer) writeFooter() error {
	head, tail, err := w.footer()
	if err != nil {
		return err
	}
	if err := w.out.write(thrift.AppendList(head, thrift.Struct, len(w.groups))); err != nil {
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
	edits := []thrift.Edit{
		{ID: 1, Type: thrift.I32, Num: 2},
		{ID: 2, Type: thrift.List, Raw: w.tree.elements},
		{ID: 3, Type: thrift.I64, Num: w.totals.Rows},
		{ID: 4, Type: thrift.List, Put: func(b []byte) []byte {
			at = len(b)
			return b
		}},
		{ID: 5},
		{ID: 6, Type: thrift.Binary, Raw: []byte(w.o.CreatedBy)},
		{ID: 7},
	}
	if kv := w.keyValues(); len(kv) > 0 {
		edits[4] = thrift.Edit{ID: 5, Type: thrift.List, Raw: encodeKeyValues(kv)}
	}
	if orders := w.columnOrders(); orders != nil {
		edits[6] = thrift.Edit{ID: 7, Type: thrift.List, Raw: orders}
	}
	src := []byte{thrift.Stop}
	if w.o.Base != nil {
		src = w.o.Base.footer
		edits = edits[1:] // its version is its own
		edits[2].Was = w.o.Base.meta.groups
	}
	b, err := thrift.Rewrite(nil, src, edits)
	if err != nil {
		return nil, nil, err
	}
	return b[:at:at], b[at:], nil
}

func encodeKeyValues(kv []KeyValue) []byte {
	b := thrift.AppendList(nil, thrift.Struct, len(kv))
	for _, e := range kv {
		var s thrift.StructWriter
		b = thrift.AppendBytes(s.Field(b, 1, thrift.Binary), e.Key)
		if !e.NoValue {
			b = thrift.AppendBytes(s.Field(b, 2, thrift.Binary), e.Value)
		}
		b = s.Stop(b)
	}
	return b
}

// typeOrder is the ColumnOrder that says: min_value and max_value are ordered as the type has it.
var typeOrder = []byte{1<<4 | thrift.Struct, thrift.Stop, thrift.Stop}

// columnOrders encodes the list<ColumnOrder>, or returns nil where none can be written: a copied chunk of a file that had
// none would be trusted for statistics that its writer never vouched for.
func (w *Writer) columnOrders() []byte {
	b := thrift.AppendList(nil, thrift.Struct, len(w.leaves))
	for i := range w.leaves {
		var order []byte
		for g := range w.groups {
			o := typeOrder
			if raw := w.groups[g].chunks[i].raw; raw != nil {
				if len(raw.file.meta.orders) == 0 {
					return nil
				}
				o = raw.file.meta.orders[raw.leaf].Of(raw.file.footer)
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
	b = thrift.AppendList(b, thrift.Struct, len(g.chunks))
	var meta []byte
	for i := range g.chunks {
		c, p := &g.chunks[i], &w.places[n*len(w.leaves)+i]
		var err error
		src, fileOffset, was := []byte{thrift.Stop}, int64(0), thrift.Span{}
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
			fileOffset, was = c.start, c.raw.meta.Within(c.raw.raw)
		}
		edits := append(make([]thrift.Edit, 0, 6),
			thrift.Edit{ID: 2, Type: thrift.I64, Num: fileOffset},
			thrift.Edit{ID: 3, Type: thrift.Struct, Raw: meta, Was: was},
			thrift.Edit{ID: 4}, thrift.Edit{ID: 5}, thrift.Edit{ID: 6}, thrift.Edit{ID: 7})
		if p.offsetIndex.length > 0 {
			edits[2] = thrift.Edit{ID: 4, Type: thrift.I64, Num: p.offsetIndex.offset}
			edits[3] = thrift.Edit{ID: 5, Type: thrift.I32, Num: p.offsetIndex.length}
		}
		if p.columnIndex.length > 0 {
			edits[4] = thrift.Edit{ID: 6, Type: thrift.I64, Num: p.columnIndex.offset}
			edits[5] = thrift.Edit{ID: 7, Type: thrift.I32, Num: p.columnIndex.length}
		}
		if b, err = thrift.Rewrite(b, src, edits); err != nil {
			return b, err
		}
	}
	return b, nil
}

// moveMeta appends the ColumnMetaData of a copied chunk, which src describes, as it is where the chunk, and its bloom filter, stand now.
func (c *outChunk) moveMeta(b, src, path []byte, bloom section) ([]byte, error) {
	raw := c.raw
	delta := c.start - raw.start()
	edits := append(make([]thrift.Edit, 0, 7),
		thrift.Edit{ID: 3, Type: thrift.List, Raw: path, Was: raw.path.Within(raw.meta)},
		thrift.Edit{ID: 9, Type: thrift.I64, Num: raw.dataPage + delta})
	if raw.indexPage > 0 {
		edits = append(edits, thrift.Edit{ID: 10, Type: thrift.I64, Num: raw.indexPage + delta})
	}
	if raw.dictPage > 0 {
		edits = append(edits, thrift.Edit{ID: 11, Type: thrift.I64, Num: raw.dictPage + delta})
	}
	if raw.stats.End > 0 && raw.file.meta.writer.distrusted() {
		stats, err := thrift.Rewrite(nil, raw.stats.Within(raw.raw).Of(src), []thrift.Edit{{ID: 1}, {ID: 2}, {ID: 5}, {ID: 6}, {ID: 7}, {ID: 8}})
		if err != nil {
			return b, err
		}
		edits = append(edits, thrift.Edit{ID: 12, Type: thrift.Struct, Raw: stats})
	}
	if bloom.length > 0 {
		edits = append(edits, thrift.Edit{ID: 14, Type: thrift.I64, Num: bloom.offset}, thrift.Edit{ID: 15, Type: thrift.I32, Num: bloom.length})
	} else {
		edits = append(edits, thrift.Edit{ID: 14}, thrift.Edit{ID: 15})
	}
	return thrift.Rewrite(b, raw.meta.Within(raw.raw).Of(src), edits)
}

// rowGroup appends RowGroup i, whose list of columns is given. Where all that was copied comes from one row group, that
// one's other fields are carried over.
func (w *Writer) rowGroup(b []byte, i int, columns []byte) ([]byte, error) {
	g := &w.groups[i]
	edits := []thrift.Edit{
		{ID: 1, Type: thrift.List, Raw: columns},
		{ID: 2, Type: thrift.I64, Num: g.uncompressed},
		{ID: 3, Type: thrift.I64, Num: g.rows},
		{ID: 4},
		{ID: 5, Type: thrift.I64, Num: 0},
		{ID: 6, Type: thrift.I64, Num: g.compressed},
		{ID: 7},
	}
	if len(g.chunks) > 0 {
		edits[4].Num = g.chunks[0].start
	}
	if i <= math.MaxInt16 {
		edits[6] = thrift.Edit{ID: 7, Type: thrift.I16, Num: int64(i)}
	}
	src := []byte{thrift.Stop}
	if from := g.source(); from != nil {
		was := &from.file.groups[from.rowGroup]
		var err error
		if src, err = from.file.inGroups(&w.win, was.raw); err != nil {
			return b, err
		}
		edits[0].Was = was.columns.Within(was.raw)
		if sorting := g.sorting(src); sorting != nil {
			edits[3] = thrift.Edit{ID: 4, Type: thrift.List, Raw: sorting}
		}
	}
	return thrift.Rewrite(b, src, edits)
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
	s := thrift.Scanner{Buf: src}
	var id int16
	var out []byte
	count := 0
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		if id != 4 || typ != thrift.List {
			s.Skip(typ, 0)
			continue
		}
		kept := true
		out, count = nil, 0 // of a field that occurs twice the last one counts
		for n := s.ListOf(thrift.Struct); n > 0 && s.Err == nil; n-- {
			entry := s.StructSpan().Of(src)
			at := g.position(sortingColumn(entry))
			if kept = kept && at >= 0; kept {
				out, _ = thrift.Rewrite(out, entry, []thrift.Edit{{ID: 1, Type: thrift.I32, Num: int64(at)}})
				count++
			}
		}
	}
	if count == 0 || s.Err != nil {
		return nil
	}
	return append(thrift.AppendList(nil, thrift.Struct, count), out...)
}

func sortingColumn(entry []byte) int64 {
	s := thrift.Scanner{Buf: entry}
	var id int16
	column := int64(-1)
	for typ, ok := s.Field(&id); ok; typ, ok = s.Field(&id) {
		if id == 1 && typ == thrift.I32 {
			column = s.Int()
		} else {
			s.Skip(typ, 0)
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
