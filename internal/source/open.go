package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/jsonl"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/tempfile"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const understood = "Parquet (.parquet), JSON Lines (.jsonl, .ndjson, .json), CSV (.csv, .tsv), each of these texts also as .gz or .zst, and Arrow IPC (.arrow)"

// format is what the suffix of a name says.
type format uint8

const (
	unknownFormat format = iota
	parquetFormat
	linesFormat
	csvFormat
	arrowFormat
)

// suffix returns what the suffix of name says, and the suffix.
func suffix(name string) (format, string) {
	base := strings.ToLower(filepath.Base(name))
	ext := filepath.Ext(base)
	switch ext {
	case ".parquet":
		return parquetFormat, ext
	case ".jsonl", ".ndjson", ".json":
		return linesFormat, ext
	case ".csv", ".tsv":
		return csvFormat, ext
	case ".arrow":
		return arrowFormat, ext
	case ".gz", ".zst":
		if f, inner := suffix(strings.TrimSuffix(base, ext)); f == linesFormat || f == csvFormat {
			return f, inner + ext
		}
	}
	return unknownFormat, ext
}

var (
	parquetMagic = []byte("PAR1")

	encryptedMagic = []byte("PARE") // Parquet with an encrypted footer: parquetio says so
	gzipMagic      = []byte{0x1f, 0x8b}
	zstdMagic      = []byte{0x28, 0xb5, 0x2f, 0xfd}
	arrowMagic     = []byte("ARROW1")
	bom            = []byte{0xef, 0xbb, 0xbf}
)

// An opener opens the files of one Set.
type opener struct {
	spec *Spec
}

// open reads what is known of f before its rows: the footer, or where the rows stand.
func (o *opener) open(ctx context.Context, f *File) error {
	f.limits = o.spec.Limits
	if bytes.HasPrefix(f.memory, parquetMagic) {
		return f.setParquet(parquetio.OpenAt(f.Name, bytes.NewReader(f.memory), int64(len(f.memory))))
	}
	if f.memory != nil {
		f.text = text{at: bytes.NewReader(f.memory), size: int64(len(f.memory))}
		return o.lines(ctx, f)
	}
	if f.Name == "-" {
		return o.stdin(ctx, f)
	}
	if f.remote != nil {
		if done, err := o.fetch(ctx, f); done || err != nil {
			return err
		}
	}
	in, err := infile.Open(f.path)
	if errors.Is(err, infile.ErrNotRegular) {
		return fmt.Errorf("%s: %w: pass what it holds on standard input, as -", f.Name, reason(err))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, reason(err))
	}
	defer in.Close()
	if f.info, err = in.Stat(); err != nil {
		return fmt.Errorf("%s: %w", f.Name, reason(err))
	}
	if !f.info.Mode().IsRegular() {
		return fmt.Errorf("%s: a directory", f.Name)
	}
	f.Bytes = f.info.Size()
	head := make([]byte, 512)
	n, err := io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("%s: read: %w", f.Name, reason(err))
	}
	return o.sniff(ctx, f, in, head[:n])
}

// sniff opens f by what it holds, which counts for more than its name.
func (o *opener) sniff(ctx context.Context, f *File, in *os.File, head []byte) error {
	byName, ext := suffix(f.Name)
	if msg := infile.Pointer(f.Name, head); msg != "" {
		return &FormatError{File: f.Name, Message: msg}
	}
	switch {
	case bytes.HasPrefix(head, parquetMagic), bytes.HasPrefix(head, encryptedMagic):
		return o.parquet(f, f.path)
	case bytes.HasPrefix(head, arrowMagic), byName == arrowFormat && bytes.HasPrefix(head, arrowMixed):
		return o.converted(ctx, f, in, arrowLines(in), "arrow")
	case byName == arrowFormat:
		return &FormatError{File: f.Name, Message: fmt.Sprintf("it is no Arrow file: it begins with %q", head[:min(4, len(head))])}
	case byName == csvFormat:
		return o.csv(ctx, f, in, head, ext)
	case byName == parquetFormat:
		return &FormatError{File: f.Name, Message: notParquet(head, f.Bytes)}
	case byName == unknownFormat:
		if ext == "" {
			return &FormatError{File: f.Name, Message: "no suffix that says its format: what can be read is " + understood}
		}
		return &FormatError{File: f.Name, Message: fmt.Sprintf("unsupported file type %s (supported: %s)", ext, understood)}
	}
	if c := codec(head); c != nil {
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("%s: read: %w", f.Name, reason(err))
		}
		return o.spool(ctx, f, in, c)
	}
	if strings.HasSuffix(ext, ".gz") || strings.HasSuffix(ext, ".zst") {
		if len(head) == 0 {
			return &FormatError{File: f.Name, Message: "an empty file, no compressed one"}
		}
	}
	f.text = text{size: f.Bytes}
	return o.lines(ctx, f)
}

// csv opens CSV or TSV, which may be compressed.
func (o *opener) csv(ctx context.Context, f *File, in *os.File, head []byte, ext string) error {
	comma, format := ',', "csv"
	if strings.HasPrefix(ext, ".tsv") {
		comma, format = '\t', "tsv"
	}
	var fields []schema.Field
	if o.spec.Fields != nil {
		fields = o.spec.Fields(f.Name)
	} else if o.spec.Types != nil {
		fields = o.spec.Types(f.Name)
	}
	lines := csvLines(comma, fields, f.limits.line())
	if c := codec(head); c != nil {
		plain := lines.open
		lines.open = func(r io.Reader) (io.ReadCloser, error) {
			z, err := c.open(r)
			if err != nil {
				return nil, err
			}
			return plain(z)
		}
	}
	return o.converted(ctx, f, in, lines, format)
}

// converted opens a file whose rows are read as JSON Lines, which c makes of it.
func (o *opener) converted(ctx context.Context, f *File, in *os.File, c *decompressor, format string) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("%s: read: %w", f.Name, reason(err))
	}
	err := o.spool(ctx, f, in, c)
	f.Format = format
	return err
}

func notParquet(head []byte, size int64) string {
	what := "it is no Parquet file"
	if size == 0 {
		return what + ": it is empty"
	}
	if t := bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n"); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		return what + " but JSON: name it .jsonl"
	}
	return fmt.Sprintf("%s: it begins with %q, not with PAR1", what, head[:min(4, len(head))])
}

func (o *opener) parquet(f *File, path string) error {
	p, err := parquetio.Open(path)
	return f.setParquet(p, err)
}

// setParquet takes over what parquetio says of the file.
func (f *File) setParquet(p *parquetio.File, err error) error {
	if err != nil {
		return f.parquetError(err)
	}
	p.LimitValues(f.limits.value())
	f.Parquet, f.Format, f.Schema, f.Rows, f.Metadata = p, "parquet", p.Schema(), p.NumRows(), p.Metadata()
	if err := p.ArrowFault(); err != nil {
		f.ArrowFault = err.Error()
	}
	for _, g := range p.RowGroups() {
		f.RowGroups = append(f.RowGroups, g.Rows)
	}
	return nil
}

// parquetError gives an error of parquetio, whose message names the file, the class of this package.
func (f *File) parquetError(err error) error {
	msg := err.Error()
	if f.spool != nil {
		msg = strings.ReplaceAll(msg, f.spool.Name(), f.Name) // standard input was opened under another name
	}
	msg = strings.TrimPrefix(strings.TrimPrefix(msg, f.Name), ": ")
	if errors.Is(err, parquetio.ErrFormat) {
		return &FormatError{File: f.Name, Message: msg, cause: err}
	}
	return &namedError{f.Name + ": " + msg, err}
}

// A namedError is an error of the system under the name that the user gave.
type namedError struct {
	text string
	err  error
}

func (e *namedError) Error() string { return e.text }
func (e *namedError) Unwrap() error { return e.err }

// spool writes the text in a compressed file to a temporary one and counts its rows there.
func (o *opener) spool(ctx context.Context, f *File, in io.Reader, c *decompressor) error {
	var sum hash.Hash
	if o.spec.Hash {
		sum = sha256.New()
		in = io.TeeReader(in, sum)
	}
	tmp, err := o.temp(f)
	if err != nil {
		return err
	}
	if err := decompress(tmp, &contextReader{ctx, in}, c); err != nil {
		return o.spoolError(ctx, f, tmp, c, err)
	}
	if sum != nil {
		if _, err := io.Copy(io.Discard, in); err != nil { // what may stand behind the compressed text
			return fmt.Errorf("%s: read: %w", f.Name, reason(err))
		}
		f.sum = hex.EncodeToString(sum.Sum(nil))
	}
	return o.spooled(ctx, f, tmp)
}

func decompress(to io.Writer, in io.Reader, c *decompressor) error {
	z, err := c.open(in)
	if err != nil {
		return err
	}
	defer z.Close()
	_, err = io.Copy(to, z)
	return err
}

// spoolError tells what is wrong with the file from what is wrong with the disk.
func (o *opener) spoolError(ctx context.Context, f *File, tmp *os.File, c *decompressor, err error) error {
	var disk *os.PathError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &disk) && disk.Path == tmp.Name():
		return fmt.Errorf("%s: decompress into %s: %w", f.Name, filepath.Dir(tmp.Name()), disk.Err)
	case errors.As(err, &disk):
		return fmt.Errorf("%s: read: %w", f.Name, disk.Err)
	case errors.As(err, new(*trailing)):
		return &FormatError{File: f.Name, Message: c.name + ": " + err.Error(), cause: err}
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return &FormatError{File: f.Name, Message: "zstd: it needs more than 256 MiB of memory to be decompressed: compress it again, with --long=28 at most"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &FormatError{File: f.Name, Message: c.name + ": the file ends too early: it is cut off"}
	}
	return &FormatError{File: f.Name, Message: c.name + ": " + err.Error(), cause: err}
}

// temp makes a temporary file for f. Its name is removed at once where the system allows that, so that nothing is left
// behind whatever happens; else Close removes it.
func (o *opener) temp(f *File) (*os.File, error) {
	if o.spec.TempDir != "" {
		if err := os.MkdirAll(o.spec.TempDir, 0o755); err != nil {
			return nil, fmt.Errorf("%s: make a folder for temporary files: %w", f.Name, err)
		}
	}
	tmp, err := tempfile.Create(o.spec.TempDir, ".rlprep-*.spool")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	f.spool = tmp
	f.named = os.Remove(tmp.Name()) != nil
	return tmp, nil
}

func (o *opener) spooled(ctx context.Context, f *File, tmp *os.File) error {
	size, err := tmp.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	f.text = text{at: tmp, size: size}
	return o.lines(ctx, f)
}

// stdin copies standard input to a temporary file and opens it by what it holds.
func (o *opener) stdin(ctx context.Context, f *File) error {
	if o.spec.Stdin == nil {
		return fmt.Errorf("-: there is no standard input here")
	}
	in := &contextReader{ctx, o.spec.Stdin}
	head := make([]byte, 512)
	n, err := io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("-: read: %w", err)
	}
	head = head[:n]
	sum, count := sha256.New(), &counter{}
	all := io.TeeReader(io.MultiReader(bytes.NewReader(head), in), io.MultiWriter(sum, count))
	if msg := infile.Pointer(f.Name, head); msg != "" {
		return &FormatError{File: f.Name, Message: msg}
	}
	if bytes.HasPrefix(head, parquetMagic) || bytes.HasPrefix(head, encryptedMagic) {
		return o.stdinParquet(f, all, sum, count)
	}
	tmp, err := o.temp(f)
	if err != nil {
		return err
	}
	if c := codec(head); c != nil {
		err = decompress(tmp, all, c)
		if err != nil {
			return o.spoolError(ctx, f, tmp, c, err)
		}
		_, err = io.Copy(io.Discard, all)
	} else {
		_, err = io.Copy(tmp, all)
	}
	if err != nil {
		return fmt.Errorf("-: read: %w", err)
	}
	f.Bytes, f.sum = count.n, hex.EncodeToString(sum.Sum(nil))
	return o.spooled(ctx, f, tmp)
}

// stdinParquet copies Parquet from standard input to a temporary file.
func (o *opener) stdinParquet(f *File, all io.Reader, sum hash.Hash, count *counter) error {
	tmp, err := o.temp(f)
	if err != nil {
		return err
	}
	if _, err := io.Copy(tmp, all); err != nil {
		return fmt.Errorf("-: read: %w", err)
	}
	f.Bytes, f.sum = count.n, hex.EncodeToString(sum.Sum(nil))
	p, err := parquetio.OpenAt(f.Name, tmp, count.n)
	return f.setParquet(p, err)
}

type counter struct{ n int64 }

// Write implements io.Writer.
func (c *counter) Write(b []byte) (int, error) { c.n += int64(len(b)); return len(b), nil }

// lines counts the rows of a line format, and where no columns are declared finds out what they are.
func (o *opener) lines(ctx context.Context, f *File) error {
	at, done, err := f.open()
	if err != nil {
		return err
	}
	defer func() {
		_ = done() // it was only read
		if f.lines != nil {
			f.lines.At = nil // each reader opens its own
		}
	}()
	f.lines = &jsonl.Text{At: at, Size: f.text.size, Limit: f.limits.line(), SkipBroken: o.spec.SkipBroken}
	if err := f.lines.Begin(); err != nil {
		return f.formatError(reason(err))
	}
	f.Format, f.asIs = "jsonl", o.spec.Lenient
	if f.lines.Array {
		f.Format = "json"
	}
	if o.spec.Hash && f.sum == "" {
		h := &hashingReader{at: at, sum: sha256.New()}
		f.lines.At = h
		defer func() { f.sum = h.hex(f.text.size) }()
	}
	if o.spec.Fields != nil {
		f.Schema = &schema.Schema{Fields: o.spec.Fields(f.Name)}
	}
	if err := o.count(ctx, f); err != nil {
		return f.formatError(err)
	}
	f.Rows, f.Keys = f.layout.Rows, f.layout.Keys
	for _, b := range f.layout.Broken {
		f.Broken = append(f.Broken, rule.BrokenRow{Row: b.Row, Line: b.Line, Message: fmt.Sprintf("column %d: %s", b.Column, b.Message)})
	}
	return nil
}

// count finds out where the rows of f are, and its columns where none are declared.
func (o *opener) count(ctx context.Context, f *File) (err error) {
	if f.Schema == nil || len(f.Schema.Fields) == 0 {
		if f.Schema, f.layout, err = f.lines.Infer(ctx); err != nil || o.spec.Types == nil {
			return err
		}
		f.Schema = declared(f.Schema, o.spec.Types(f.Name))
		if err := jsonl.CheckSchema(f.Schema); err != nil && len(f.Schema.Fields) > 0 {
			return &namedError{f.Name + ": " + err.Error(), err}
		}
		return nil
	}
	if err := jsonl.CheckSchema(f.Schema); err != nil {
		return &namedError{f.Name + ": " + err.Error(), err}
	}
	f.layout, err = f.lines.Scan(ctx)
	return err
}

// declared returns the schema with the types of these columns; one that it lacks is added.
func declared(s *schema.Schema, fields []schema.Field) *schema.Schema {
	out := &schema.Schema{Fields: slices.Clone(s.Fields)}
	for _, f := range fields {
		if _, i := out.Column(f.Name); i >= 0 {
			out.Fields[i] = f
		} else {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// A hashingReader hashes what is read from front to back through it.
type hashingReader struct {
	at  io.ReaderAt
	sum hash.Hash
	pos int64
}

// ReadAt implements io.ReaderAt.
func (h *hashingReader) ReadAt(b []byte, off int64) (int, error) {
	if off > h.pos { // a byte order mark that was stepped over
		skipped := make([]byte, off-h.pos)
		if _, err := h.at.ReadAt(skipped, h.pos); err != nil {
			return 0, err
		}
		h.sum.Write(skipped)
		h.pos = off
	}
	n, err := h.at.ReadAt(b, off)
	if end := off + int64(n); end > h.pos {
		h.sum.Write(b[h.pos-off : n])
		h.pos = end
	}
	return n, err
}

// hex returns the hash where all size bytes were read, else "".
func (h *hashingReader) hex(size int64) string {
	if h.pos != size {
		return ""
	}
	return hex.EncodeToString(h.sum.Sum(nil))
}
