package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A File is an input file: what is known of it before a row is read, and the way to its rows. Its methods may be called
// from several goroutines at once, Close of its Set aside.
type File struct {
	*rule.File

	// First is the number, within the split, of the file's first row.
	First int64
	// Parquet is the open file where the format is Parquet, else nil.
	Parquet *parquetio.File
	// Keys are the keys of the first row of a line format, in order: what a user would call its columns.
	Keys []string
	// BOM says that a line format begins with a byte order mark, which is skipped here and which Python's json refuses.
	BOM bool
	// Spooled says that the rows had to be decompressed, or read from standard input, into a temporary file.
	Spooled bool

	limits Limits
	path   string      // that is opened; "" where text or memory is all there is
	memory []byte      // embedded files
	remote *RemoteFile // where it came from; nil: it was on this machine
	info   os.FileInfo // as it was when it was read first
	text   text
	layout *layout
	spool  *os.File // closed with the Set
	named  bool     // the spool still has a name, to be removed
	asIs   bool     // rows are judged, not written: text that is no UTF-8 is handed on

	mu      sync.Mutex
	sum     string
	unknown map[string]struct{}
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

// Identity tells this state of the file from others without reading it: by its hash where that is known, else by size and time of
// the last change, as make and rsync do. It is meant for one machine and one run and its repetition.
func (f *File) Identity() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sum != "" || f.info == nil {
		return f.sum
	}
	return fmt.Sprintf("%d bytes of %d", f.info.Size(), f.info.ModTime().UnixNano())
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

// UnknownKeys returns the keys that rows of a line format hold and no column is declared for, as far as rows were read:
// sorted, at most 64.
func (f *File) UnknownKeys() []schema.Path {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]schema.Path, 0, len(f.unknown))
	for k := range f.unknown {
		out = append(out, schema.Path(k))
	}
	slices.Sort(out)
	return out[:min(len(out), maxUnknown)]
}

func (f *File) addUnknown(keys map[string]struct{}) {
	if len(keys) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unknown == nil {
		f.unknown = map[string]struct{}{}
	}
	for k := range keys {
		f.unknown[k] = struct{}{}
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
	var p *place
	switch {
	case errors.As(err, &p):
		return &FormatError{File: f.Name, Line: p.line, Column: int(p.col) + 1, Message: p.msg}
	case errors.Is(err, ErrFormat), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
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
