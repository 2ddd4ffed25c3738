package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/jsonl"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A File is an input file: what is known of it before a row is read, and the way to its rows. Its methods may be called
// from several goroutines at once, Close of its Set aside.
type File struct {
	*rule.File

	// SplitRow is the number, within the split, of the file's first row.
	SplitRow int64
	// Parquet is the open file where the format is Parquet, else nil.
	Parquet *parquetio.File
	// Keys are the keys of the first row of a line format, in order: what a user would call its columns.
	Keys []string

	limits Limits
	path   string      // that is opened; "" where text or memory is all there is
	memory []byte      // embedded files
	remote *RemoteFile // where it came from; nil: it was on this machine
	info   os.FileInfo // as it was when it was read first
	text   text
	lines  *jsonl.Text   // of a line format, once it was begun
	layout *jsonl.Layout // of a line format: where its rows are
	spool  *os.File      // closed with the Set
	named  bool          // the spool still has a name, to be removed
	asIs   bool          // rows are judged, not written: text that is no UTF-8 is handed on

	mu       sync.Mutex
	sum      string
	identity string                      // as Identity said it first
	unknown  map[schema.Path]jsonl.Place // keys without a column, each with the first row that has it
}

// text is the decompressed text of a line format: open for as long as the Set (a spool, memory), or opened by each reader.
type text struct {
	at   io.ReaderAt // nil: open path
	size int64
}

// Path returns the file of this machine that is opened for f, in a cache where f is remote; "" where there is none.
func (f *File) Path() string { return f.path }

// SHA256 returns the SHA-256 of the file as it stands on disk, in hexadecimal. It is computed when first asked for, unless
// Spec.Hash had it computed on the way.
func (f *File) SHA256(ctx context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sum != "" {
		return f.sum, f.asListed()
	}
	h := sha256.New()
	if f.memory != nil {
		h.Write(f.memory)
	} else if err := f.hashPath(ctx, h); err != nil {
		return "", err
	}
	f.sum = hex.EncodeToString(h.Sum(nil))
	return f.sum, f.asListed()
}

// asListed returns an error where the file is not the one that its Remote lists.
func (f *File) asListed() error {
	if f.remote == nil || f.remote.SHA256 == "" || f.remote.SHA256 == f.sum {
		return nil
	}
	return &FormatError{File: f.Name, Message: fmt.Sprintf("what is kept of it (%s) has the SHA-256 %s, not %s as listed: remove it, and it is fetched again", f.path, f.sum, f.remote.SHA256)}
}

// Address returns where the file came from, exactly, where that is not this machine; else "".
func (f *File) Address() string {
	if f.remote == nil {
		return ""
	}
	return f.remote.Address
}

// Identity distinguishes this state of the file from others without reading it: by its hash where that is known, else by size and time of
// the last change, as make and rsync do. Once asked for it stays, whether the file is hashed later or not. It is meant for one run and its repetition.
func (f *File) Identity() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.identity != "":
	case f.sum != "" || f.info == nil:
		f.identity = f.sum
	default:
		f.identity = fmt.Sprintf("%d bytes of %d", f.info.Size(), f.info.ModTime().UnixNano())
	}
	return f.identity
}

func (f *File) hashPath(ctx context.Context, w io.Writer) error {
	in, err := infile.Open(f.path)
	if err != nil {
		return fmt.Errorf("%s: hash: %w", f.Name, err)
	}
	defer in.Close()
	if _, err := io.Copy(w, &contextReader{ctx, in}); err != nil {
		return fmt.Errorf("%s: hash: %w", f.Name, err)
	}
	return f.Unchanged()
}

// Unchanged returns an error where the file is no longer what Resolve saw, by its size and time. Readers ask at the end of
// a unit; who copies column chunks undecoded asks when that is done.
func (f *File) Unchanged() error {
	if f.path == "" || f.info == nil {
		return nil
	}
	now, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime()) {
		return failed("%s: changed while it was read (%d bytes of %s, now %d of %s): start again once it is written",
			f.Name, f.info.Size(), f.info.ModTime().Format(time.TimeOnly), now.Size(), now.ModTime().Format(time.TimeOnly))
	}
	return nil
}

// An UnknownKey is a key of a line format that no column is declared for: its values are not read.
type UnknownKey struct {
	Pos     schema.Pos  // the first row that has it, with the key as the path
	Nearest schema.Path // the column or field that was probably meant; "" where none is near
}

// maxUnknown is how many unknown keys of a file are remembered.
const maxUnknown = 64

// UnknownKeys returns the unknown keys of the rows read so far: sorted by path, at most 64.
func (f *File) UnknownKeys() []UnknownKey {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]UnknownKey, 0, len(f.unknown))
	for _, k := range slices.Sorted(maps.Keys(f.unknown)) {
		p := schema.FilePos(f.Name).At(k)
		p.Row, p.Line = f.unknown[k].Row, f.unknown[k].Line
		out = append(out, UnknownKey{p, f.nearest(k)})
	}
	return out[:min(len(out), maxUnknown)]
}

// nearest returns the path of the field that a key was probably meant to be.
func (f *File) nearest(key schema.Path) schema.Path {
	fields := f.Schema.Fields
	if parent, ok := f.Schema.Lookup(key.Parent()); ok {
		fields = parent.Type.Fields
	}
	if name := schema.Nearest(key.Base(), (&schema.Schema{Fields: fields}).Names()); name != "" {
		return key.Parent().Field(name)
	}
	return ""
}

func (f *File) addUnknown(keys map[schema.Path]jsonl.Place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unknown == nil && len(keys) > 0 {
		f.unknown = map[schema.Path]jsonl.Place{}
	}
	for k, at := range keys {
		if first, ok := f.unknown[k]; !ok || at.Row < first.Row {
			f.unknown[k] = at
		}
	}
}

// open returns the text of a line format and what closes it.
func (f *File) open() (io.ReaderAt, func() error, error) {
	if f.text.at != nil {
		return f.text.at, func() error { return nil }, nil
	}
	in, err := infile.Open(f.path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Name, reason(err))
	}
	return in, in.Close, nil
}

// formatError places what a scan of f's rows returned.
func (f *File) formatError(err error) error {
	var e *jsonl.Error
	switch {
	case errors.As(err, &e):
		return &FormatError{File: f.Name, Line: e.Line, Column: e.Column, Message: e.Message, OneLine: e.OneLine}
	case errors.Is(err, jsonl.ErrFewerRows):
		if err := f.Unchanged(); err != nil {
			return err
		}
		return fmt.Errorf("%s: has fewer rows than when it was counted: it changed while it was read", f.Name)
	case errors.Is(err, ErrFormat), errors.As(err, new(*namedError)), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return fmt.Errorf("%s: read: %w", f.Name, err)
}

// A contextReader stops reading when ctx is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *contextReader) Read(b []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(b)
}

// reason strips the path of an error of the system: messages name files as the user did.
func reason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
