package parquetio

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

// WriterOptions say how a Writer writes.
type WriterOptions struct {
	// CreatedBy is the footer's created_by. It must have the form "rlprep version 0.1.0 (build abc)": readers judge by
	// it whether statistics can be trusted, and distrust what they cannot parse.
	CreatedBy string
	// Metadata is key-value metadata to write; a key that Base has too is replaced.
	Metadata []KeyValue
	// Base is the file whose footer is carried over: its key-value metadata, with what describes the columns brought up
	// to date, the name of its root, and fields of the footer that we do not know. Nil: a footer of our own.
	Base *File
	// HF says what becomes of the metadata of HF datasets in Base.
	HF HFPolicy
	// Layouts writes ARROW:schema where a column is large_string or large_binary, which nothing else in a file tells from string; without it
	// a file without Base has none.
	Layouts bool
}

// A Writer writes a Parquet file, row group by row group. It is for one goroutine.
type Writer struct {
	o      WriterOptions
	out    *output
	schema *schema.Schema
	leaves []schema.Leaf
	tree   *physicalTree

	start  [512]byte // the first bytes of a chunk that is copied
	meta   []byte    // the ColumnMetaData that was made last
	made   ledger    // of the chunks made here
	groups []outGroup
	places []outPlace // of all chunks; made by Close
	win    window     // of Close
	totals Totals
	err    error
}

// Totals is what a Writer wrote. Copied and Encoded are column chunks.
type Totals struct {
	Bytes, Rows                int64
	RowGroups, Copied, Encoded int
}

// An outGroup is a row group that has been written.
type outGroup struct {
	rows         int64
	compressed   int64
	uncompressed int64
	chunks       []outChunk // in leaf order
}

// An outChunk is a column chunk that has been written. One is kept of each chunk of the file: what can be told later is not in it.
type outChunk struct {
	start int64
	raw   *Chunk // copied from here; nil: made here, and described in Writer.made
}

// An outPlace is where what belongs to a chunk was written beside its pages.
type outPlace struct{ bloom, columnIndex, offsetIndex section }

// NewWriter begins a Parquet file of schema s in w, which must be empty and stays the caller's. A field of s whose SourceElement is
// set is described as it was in its file.
func NewWriter(w Out, s *schema.Schema, o WriterOptions) (out *Writer, err error) {
	defer page.Recover(&err, writing(w, o.Base))
	tree, err := physicalSchema(s, o.Base)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", w.Name(), err)
	}
	if o.CreatedBy == "" {
		o.CreatedBy = "rlprep version 0.0.0 (build unknown)"
	}
	to := newOutput(w)
	if err := to.write([]byte(magic)); err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	return &Writer{o: o, out: to, schema: s, leaves: s.Leaves(), tree: tree}, nil
}

// writing says what was done when a Writer panicked: it names the file whose footer or column chunks are carried over.
func writing(w Out, from *File) string {
	if from == nil {
		return "write " + w.Name()
	}
	return from.name + ": write " + w.Name()
}

// Write writes the next row group. A row group without rows is left out: HF datasets takes its batch size from the first
// row group and fails at 0. The row group is not kept, so it may be released after.
func (w *Writer) Write(g *EncodedRowGroup) error {
	if w.err == nil && g.Rows > 0 {
		w.err = w.write(g)
	}
	return w.err
}

func (w *Writer) write(g *EncodedRowGroup) (err error) {
	defer page.Recover(&err, writing(w.out.f, g.source(w.o.Base)))
	if err := w.check(g); err != nil {
		return fmt.Errorf("write %s: row group %d: %w", w.out.f.Name(), len(w.groups), err)
	}
	og := outGroup{rows: g.Rows, chunks: make([]outChunk, len(g.Chunks))}
	for i := 0; i < len(g.Chunks); {
		n, err := w.writeChunks(&og, g.Chunks, i)
		if err != nil {
			return w.fault(err)
		}
		i += n
	}
	w.groups = append(w.groups, og)
	w.totals.Rows += g.Rows
	w.totals.RowGroups++
	return nil
}

// Offset returns how many bytes have reached the file. They will not change.
func (w *Writer) Offset() int64 { return w.out.off - int64(len(w.out.buf)) }

// fault says of an error what was written, unless it names a file itself: the input that is damaged, or what the system could
// not write.
func (w *Writer) fault(err error) error {
	var path *fs.PathError
	if errors.Is(err, ErrFormat) || errors.As(err, &path) {
		return err
	}
	return fmt.Errorf("write %s: %w", w.out.f.Name(), err)
}

// check refuses chunks that do not belong where they stand. Such a one is a fault of the caller.
func (w *Writer) check(g *EncodedRowGroup) error {
	if len(g.Chunks) != len(w.leaves) {
		return fmt.Errorf("%d column chunks for %d columns", len(g.Chunks), len(w.leaves))
	}
	for i := range g.Chunks {
		if err := w.checkChunk(&g.Chunks[i], &w.tree.leaves[i], g.Rows); err != nil {
			return fmt.Errorf("column %s: %w", w.leaves[i].Path, err)
		}
	}
	return nil
}

func (w *Writer) checkChunk(c *EncodedChunk, to *physicalLeaf, rows int64) error {
	if c.Raw == nil {
		if c.Values < rows || to.MaxRep == 0 && c.Values != rows || c.DictBytes < 0 || c.DictBytes > c.Pages.Len() {
			return fmt.Errorf("%d values for %d rows", c.Values, rows)
		}
		return nil
	}
	from := c.Raw.physical()
	switch {
	case c.Raw.rows() != rows:
		return fmt.Errorf("chunk of %d rows in a row group of %d", c.Raw.rows(), rows)
	case from.MaxDef != to.MaxDef || from.MaxRep != to.MaxRep:
		return fmt.Errorf("chunk with levels %d/%d in a column with %d/%d", from.MaxDef, from.MaxRep, to.MaxDef, to.MaxRep)
	case from.Physical != to.Physical || from.Physical == encoding.FixedLenByteArray && from.Length != to.Length:
		return fmt.Errorf("stored as %s in %s, and as %s in the file that the schema was taken from: rewrite one of them",
			from.Physical, c.Raw.file.name, to.Physical)
	}
	return nil
}

// writeChunks writes chunk i, and with a copied one those after it that follow it in the source too. It returns how many.
func (w *Writer) writeChunks(g *outGroup, chunks []EncodedChunk, i int) (int, error) {
	c := &chunks[i]
	if c.Raw == nil {
		g.chunks[i] = outChunk{start: w.out.off}
		g.compressed += c.Pages.Len()
		g.uncompressed += c.Uncompressed
		w.totals.Encoded++
		if err := w.describe(c, &w.tree.leaves[i], w.tree.paths[i]); err != nil {
			return 1, err
		}
		return 1, w.out.writePages(&c.Pages)
	}
	src := section{c.Raw.start(), 0}
	n := 0
	for ; i+n < len(chunks); n++ {
		raw := chunks[i+n].Raw
		if raw == nil || raw.file != c.Raw.file || raw.start() != src.offset+src.length {
			break
		}
		if err := raw.checkStart(w.start[:]); err != nil {
			return n, err
		}
		g.chunks[i+n] = outChunk{start: w.out.off + src.length, raw: raw}
		g.compressed += raw.compressed
		g.uncompressed += raw.uncompressed
		src.length += raw.compressed
	}
	w.totals.Copied += n
	return n, w.out.copy(c.Raw.file, src)
}

// describe keeps the ColumnMetaData and the page index of a chunk made here that is written next.
func (w *Writer) describe(c *EncodedChunk, leaf *physicalLeaf, path []byte) error {
	start := w.out.off
	var s thrift.StructWriter
	b := s.Int(w.meta[:0], 1, thrift.I32, int64(leaf.Physical))
	b = thrift.AppendList(s.Field(b, 2, thrift.List), thrift.I32, len(c.Encodings))
	for _, e := range c.Encodings {
		b = thrift.AppendInt(b, int64(e))
	}
	b = append(s.Field(b, 3, thrift.List), path...)
	b = s.Int(b, 4, thrift.I32, int64(c.Codec))
	b = s.Int(b, 5, thrift.I64, c.Values)
	b = s.Int(b, 6, thrift.I64, c.Uncompressed)
	b = s.Int(b, 7, thrift.I64, c.Pages.Len())
	b = s.Int(b, 9, thrift.I64, start+c.DictBytes)
	if c.DictBytes > 0 {
		b = s.Int(b, 11, thrift.I64, start)
	}
	b = append(s.Field(b, 12, thrift.Struct), appendStats(nil, &c.Stats)...)
	b = append(s.Field(b, 13, thrift.List), encodingStats(c)...)
	w.meta = s.Stop(b)
	return w.made.add(entry{w.meta, columnIndex(c, leaf), offsetIndex(c, start)})
}

func appendStats(b []byte, st *page.Stats) []byte {
	var s thrift.StructWriter
	b = s.Int(b, 3, thrift.I64, st.Nulls)
	if st.Max != nil {
		b = thrift.AppendBytes(s.Field(b, 5, thrift.Binary), st.Max)
	}
	if st.Min != nil {
		b = thrift.AppendBytes(s.Field(b, 6, thrift.Binary), st.Min)
	}
	if st.Max != nil {
		b = s.Bool(b, 7, st.MaxExact)
	}
	if st.Min != nil {
		b = s.Bool(b, 8, st.MinExact)
	}
	return s.Stop(b)
}

// encodingStats encodes a list<PageEncodingStats>: it is what readers tell by whether a dictionary holds all values.
func encodingStats(c *EncodedChunk) []byte {
	one := func(b []byte, page, enc, count int64) []byte {
		var s thrift.StructWriter
		b = s.Int(b, 1, thrift.I32, page)
		b = s.Int(b, 2, thrift.I32, enc)
		return s.Stop(s.Int(b, 3, thrift.I32, count))
	}
	counts := map[int32]int64{}
	for _, p := range c.Index {
		counts[p.Encoding]++
	}
	n := len(counts)
	if c.DictBytes > 0 {
		n++
	}
	b := thrift.AppendList(nil, thrift.Struct, n)
	if c.DictBytes > 0 {
		b = one(b, page.Dictionary, encoding.Plain, 1)
	}
	for _, enc := range slices.Sorted(maps.Keys(counts)) {
		b = one(b, page.Data, int64(enc), counts[enc])
	}
	return b
}

// columnIndex encodes the ColumnIndex of a chunk, or returns nil where a page's bounds are not known: the format asks for
// them on every page that has a value.
func columnIndex(c *EncodedChunk, leaf *physicalLeaf) []byte {
	if len(c.Index) == 0 || leaf.Order == sortNone {
		return nil
	}
	n := len(c.Index)
	for i := range c.Index {
		if p := &c.Index[i]; !p.AllNull && (p.Stats.Min == nil || p.Stats.Max == nil) {
			return nil
		}
	}
	var s thrift.StructWriter
	b := thrift.AppendList(s.Field(nil, 1, thrift.List), thrift.True, n)
	for i := range c.Index {
		b = append(b, map[bool]byte{true: thrift.True, false: thrift.False}[c.Index[i].AllNull])
	}
	b = thrift.AppendList(s.Field(b, 2, thrift.List), thrift.Binary, n)
	for i := range c.Index {
		b = thrift.AppendBytes(b, c.Index[i].Stats.Min)
	}
	b = thrift.AppendList(s.Field(b, 3, thrift.List), thrift.Binary, n)
	for i := range c.Index {
		b = thrift.AppendBytes(b, c.Index[i].Stats.Max)
	}
	b = s.Int(b, 4, thrift.I32, boundaryOrder(c.Index, leaf))
	b = thrift.AppendList(s.Field(b, 5, thrift.List), thrift.I64, n)
	for i := range c.Index {
		b = thrift.AppendInt(b, c.Index[i].Stats.Nulls)
	}
	return s.Stop(b)
}

// boundaryOrder returns 1 where the bounds of the pages ascend, 2 where they descend, 0 where neither is known. Pages
// without values do not count.
func boundaryOrder(pages []page.Info, leaf *physicalLeaf) int64 {
	if !leaf.ordered() {
		return 0
	}
	up, down := true, true
	var last *page.Stats
	for i := range pages {
		if pages[i].AllNull {
			continue
		}
		st := &pages[i].Stats
		if n := leaf.width(); n != 0 && (len(st.Min) != n || len(st.Max) != n) {
			return 0
		}
		if last != nil {
			lo, hi := leaf.compare(last.Min, st.Min), leaf.compare(last.Max, st.Max)
			up, down = up && lo <= 0 && hi <= 0, down && lo >= 0 && hi >= 0
		}
		last = st
	}
	switch {
	case up:
		return 1
	case down:
		return 2
	}
	return 0
}

// offsetIndex encodes the OffsetIndex of a chunk that is written at start.
func offsetIndex(c *EncodedChunk, start int64) []byte {
	if len(c.Index) == 0 {
		return nil
	}
	var s thrift.StructWriter
	b := thrift.AppendList(s.Field(nil, 1, thrift.List), thrift.Struct, len(c.Index))
	for i := range c.Index {
		p := &c.Index[i]
		var l thrift.StructWriter
		b = l.Int(b, 1, thrift.I64, start+p.Offset)
		b = l.Int(b, 2, thrift.I32, p.Size)
		b = l.Stop(l.Int(b, 3, thrift.I64, p.FirstRow))
	}
	return s.Stop(b)
}

// Close writes page indexes and footer. It does not sync or close the file.
func (w *Writer) Close() (Totals, error) {
	if w.err == nil {
		if err := w.finish(); err != nil {
			w.err = w.fault(err)
		}
	}
	if w.err != nil {
		return Totals{}, w.err
	}
	w.err = errors.New("write to a closed writer")
	w.totals.Bytes = w.out.off
	return w.totals, nil
}

func (w *Writer) finish() (err error) {
	defer page.Recover(&err, writing(w.out.f, w.o.Base))
	w.places = make([]outPlace, len(w.groups)*len(w.leaves))
	if err := w.writeBlooms(); err != nil {
		return err
	}
	if err := w.writeIndexes(); err != nil {
		return err
	}
	start := w.out.off
	if err := w.writeFooter(); err != nil {
		return err
	}
	n := w.out.off - start
	if n > math.MaxUint32 {
		return fmt.Errorf("the footer would have %d bytes, more than Parquet allows: use fewer or larger row groups", n)
	}
	if err := w.out.write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), 'P', 'A', 'R', '1'}); err != nil {
		return err
	}
	return w.out.flush()
}

// each calls do for every chunk, in file order, with what is kept of it where it was made here.
func (w *Writer) each(do func(*outChunk, *outPlace, entry) error) error {
	made := ledgerReader{ledger: &w.made}
	for i := range w.groups {
		for j := range w.groups[i].chunks {
			c, e := &w.groups[i].chunks[j], entry{}
			if c.raw == nil {
				var err error
				if e, err = made.next(); err != nil {
					return err
				}
			}
			if err := do(c, &w.places[i*len(w.leaves)+j], e); err != nil {
				return err
			}
		}
	}
	return nil
}
