package parquetio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/openfiles"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	trailer        = 8         // footer length and magic
	maxFooter      = 512 << 20 // the largest that we take; it is held in memory
)

// Open opens the Parquet file name, reads its footer and checks every offset, length and count in it against the file, so
// that nothing after it reads outside the file or allocates by what the file claims. A *FormatError says that the file is
// not Parquet, is damaged or is encrypted. Errors of the system are as os.Open has them.
func Open(name string) (*File, error) {
	h, err := openfiles.Open(name)
	if err != nil {
		return nil, err
	}
	f, err := openOnDisk(name, h)
	if err != nil {
		h.Close()
		return nil, err
	}
	return f, nil
}

// OpenAt is Open for a file that is not on disk: size bytes in r, which messages call name. Closing the File closes r where it
// is an io.Closer.
func OpenAt(name string, r io.ReaderAt, size int64) (*File, error) {
	c, ok := r.(input)
	if !ok {
		c = unclosed{r}
	}
	return open(name, c, size)
}

type unclosed struct{ io.ReaderAt }

func (unclosed) Close() error { return nil }

func openOnDisk(name string, h *openfiles.File) (*File, error) {
	if h.Stat().IsDir() {
		return nil, formatErrorf(name, "is a directory, not a Parquet file")
	}
	return open(name, h, h.Stat().Size())
}

func open(name string, h input, size int64) (f *File, err error) {
	defer page.Recover(&err, name+": footer")
	f = &File{name: name, f: h, size: size, levels: &levelTally{}, maxValue: DefaultMaxValue}
	if err := f.readFooter(); err != nil {
		return nil, f.formatError(err)
	}
	if err := f.parse(); err != nil {
		return nil, f.formatError(err)
	}
	f.shedGroups()
	return f, nil
}

// formatError makes a *FormatError of err, unless it is an error of the system or of the network.
func (f *File) formatError(err error) error {
	var path *os.PathError
	var coded interface{ ExitCode() int }
	if errors.As(err, &path) || errors.As(err, &coded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: read footer: %w", f.name, err)
	}
	return &FormatError{Name: f.name, Err: err}
}

// parse reads f.footer.
func (f *File) parse() error {
	if err := f.scanFooter(); err != nil {
		return err
	}
	if err := f.buildTree(); err != nil {
		return err
	}
	if err := f.validate(); err != nil {
		return err
	}
	f.keepUnknown()
	f.applyArrowSchema()
	f.leaves = f.schema.Leaves()
	if len(f.leaves) != len(f.physical) {
		return fmt.Errorf("footer: schema: %d columns in the file, %d understood (please report this)", len(f.physical), len(f.leaves))
	}
	return nil
}

// readFooter reads the FileMetaData struct, and names a file that is no Parquet file for what it is.
func (f *File) readFooter() error {
	head := make([]byte, min(f.size, 1024))
	if _, err := f.f.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	if err := notParquet(f.name, head, f.size); err != nil {
		return err
	}
	var tail [trailer]byte
	if _, err := f.f.ReadAt(tail[:], f.size-trailer); err != nil {
		return err
	}
	switch string(tail[4:]) {
	case magic:
	case magicEncrypted:
		return errEncrypted
	default:
		return errors.New("does not end as a Parquet file does (PAR1): it is cut off, or still being written: copy it again")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	if n > f.size-trailer-int64(len(magic)) {
		return fmt.Errorf("claims a footer of %d bytes, but has %d bytes in all: it is damaged, copy it again", n, f.size)
	}
	if n > maxFooter {
		return fmt.Errorf("has a footer of %d bytes, more than the %d that rlprep takes: write it with fewer row groups", n, maxFooter)
	}
	f.footer, f.length = make([]byte, n), n
	_, err := f.f.ReadAt(f.footer, f.size-trailer-n)
	return err
}

// notParquet says what a file is that begins with head and is not Parquet, and how to get the Parquet file where it only
// stands for one.
func notParquet(name string, head []byte, size int64) error {
	if msg := infile.Pointer(name, head); msg != "" {
		return errors.New(msg)
	}
	text := string(head)
	switch {
	case size == 0:
		return errors.New("is empty (0 bytes): a download that broke off, or a writer that never finished: fetch it again")
	case strings.HasPrefix(text, magicEncrypted):
		return errEncrypted
	case strings.HasPrefix(text, magic):
		if size < int64(2*len(magic)+4) {
			return fmt.Errorf("is cut off after %d bytes: copy it again", size)
		}
		return nil
	}
	for _, other := range otherFormats {
		if strings.HasPrefix(text, other.magic) {
			return fmt.Errorf("is %s, not Parquet", other.name)
		}
	}
	if t := bytes.TrimLeft(head, " \t\r\n\ufeff"); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		return errors.New("looks like JSON, not Parquet: name it .jsonl or .json")
	}
	return errors.New("is not a Parquet file (it does not begin with PAR1)")
}

var otherFormats = []struct{ magic, name string }{
	{"ARROW1", "an Arrow IPC (Feather) file"},
	{"\xff\xff\xff\xff", "an Arrow IPC stream"},
	{"\x1f\x8b", "gzip-compressed"},
	{"\x28\xb5\x2f\xfd", "zstd-compressed"},
	{"PK\x03\x04", "a zip archive"},
	{"ORC", "an ORC file"},
	{"<!DOCTYPE", "an HTML page (a download that was answered by a login or error page?)"},
	{"<html", "an HTML page (a download that was answered by a login or error page?)"},
}

// validate checks counts, sizes and places.
func (f *File) validate() error {
	var rows, bytes int64
	for i := range f.groups {
		g := &f.groups[i]
		if g.leaves != len(f.physical) {
			return fmt.Errorf("row group %d: %d column chunks for %d columns", i, g.leaves, len(f.physical))
		}
		if g.Rows < 0 || rows > math.MaxInt64-g.Rows {
			return fmt.Errorf("row group %d: %d rows", i, g.Rows)
		}
		rows += g.Rows
		for j := range f.physical {
			c := f.chunk(i, j)
			if err := f.validateChunk(c, g.Rows); err != nil {
				return fmt.Errorf("row group %d: column %s: %w", i, strings.Join(f.physical[j].Names, "."), err)
			}
			bytes += c.compressed
			if bytes > f.size {
				return fmt.Errorf("row group %d: the column chunks so far have %d bytes, but the file has %d", i, bytes, f.size)
			}
		}
	}
	if rows != f.meta.rows {
		return fmt.Errorf("footer: %d rows, but the row groups have %d", f.meta.rows, rows)
	}
	if n := len(f.meta.orders); n != 0 && n != len(f.physical) {
		return fmt.Errorf("footer: %d column orders for %d columns", n, len(f.physical))
	}
	return nil
}

func (f *File) validateChunk(c *Chunk, rows int64) error {
	p := &f.physical[c.leaf]
	switch {
	case c.elsewhere:
		return errors.New("its pages are in another file (a _metadata file?): name the data files instead")
	case c.meta.End == 0:
		return errors.New("the footer does not describe it")
	case c.stored != p.Physical:
		return fmt.Errorf("has physical type %d, but the schema says %d", c.stored, p.Physical)
	case !samePath(c.path.Of(f.footer), p.Names):
		return errors.New("the footer describes another column in its place")
	case c.codec < 0:
		return errors.New("has no codec")
	case c.values < 0 || c.values < rows || p.MaxRep == 0 && c.values != rows:
		return fmt.Errorf("has %d values for %d rows", c.values, rows)
	case c.nulls > c.values:
		return fmt.Errorf("has %d nulls among %d values", c.nulls, c.values)
	case c.nulls < -1 || p.MaxDef == 0 && c.nulls > 0:
		return fmt.Errorf("has %d nulls", c.nulls)
	case c.compressed < 0 || c.uncompressed < 0:
		return fmt.Errorf("has negative size")
	}
	return f.validatePlaces(c)
}

// validatePlaces checks that all that belongs to the chunk lies between the magic numbers of the file, and forgets what a
// writer put as 0 for "none".
func (f *File) validatePlaces(c *Chunk) error {
	if c.dictPage < 0 || c.indexPage < 0 || c.dataPage < 0 && c.values > 0 {
		return errors.New("has a negative offset, or none")
	}
	if c.values == 0 { // no rows; writers put what they like (pyarrow: a dictionary page, and data at 0), and nothing is read
		c.dictPage, c.indexPage, c.columnIndex, c.offsetIndex, c.bloom = 0, 0, section{}, section{}, section{}
		return nil
	}
	if c.dictPage > c.dataPage {
		return fmt.Errorf("dictionary page at byte %d, after the data page at %d", c.dictPage, c.dataPage)
	}
	if !f.inside(section{c.start(), c.compressed}) || c.dataPage-c.start() >= c.compressed {
		return fmt.Errorf("pages at bytes %d to %d, outside of the file (%d bytes): it is cut off or damaged", c.start(),
			c.start()+c.compressed, f.size)
	}
	for _, s := range []struct {
		*section
		name string
	}{{&c.columnIndex, "column index"}, {&c.offsetIndex, "offset index"}, {&c.bloom, "bloom filter"}} {
		if s.offset == 0 || s.length == 0 {
			*s.section = section{}
			continue
		}
		if !f.inside(section{s.offset, max(s.length, 1)}) {
			return fmt.Errorf("%s at byte %d with %d bytes, outside of the file (%d bytes)", s.name, s.offset, s.length, f.size)
		}
	}
	return nil
}

func (f *File) inside(s section) bool {
	end := f.size - trailer - f.length
	return s.offset >= int64(len(magic)) && s.length >= 0 && s.offset <= end && s.length <= end-s.offset
}

// samePath reports whether the encoded path_in_schema is names.
func samePath(raw []byte, names []string) bool {
	s := thrift.Scanner{Buf: raw}
	if s.ListOf(thrift.Binary) != len(names) {
		return false
	}
	for _, n := range names {
		if string(s.Bytes()) != n {
			return false
		}
	}
	return s.Err == nil
}
