// Package lintcache keeps what the rows of files gave a check, so that a second check of the same files need not read them: an entry a file in
// one folder, found by a key that says all that it depends on. Entries are whole or not there: what is damaged, cut off or another's is taken for
// none. The folder is bounded; what was not used for longest goes first. Nothing here fails a run: a folder that cannot be written keeps nothing.
package lintcache

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/rlprep/rlprep/internal/openfiles"
)

const (
	// suffix and partSuffix end the names of entries, and of those that are being written.
	suffix     = ".kept"
	partSuffix = ".part"
	// form is part of every key: entries of another form are not found.
	form = "rlprep lint cache 2\n"
	// trailerSize is that of what ends an entry: the number of records, the lengths of head and key, and a hash.
	trailerSize = 4 * 8
	// blockRecords is how many records stand together: their marks, then they themselves.
	blockRecords = 4096
	markSize     = 8
	// stale is how long the leavings of a run that was killed stay, fresh how long an entry counts as just used.
	stale = 24 * time.Hour
	fresh = time.Hour
)

// A Store is a folder of entries. Its methods may be called from several goroutines at once.
type Store struct {
	dir   string
	limit int64
	wrote atomic.Bool
}

// Open returns the store in dir, which is made if need be; its entries are to have at most limit bytes together.
func Open(dir string, limit int64) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Store{dir: dir, limit: limit}, nil
}

func (s *Store) name(key string) string {
	sum := xxh3.HashString128(form + key).Bytes()
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+suffix)
}

// An entry is blocks of records, then a hash of the records of each block, the head, the key, and the trailer. The trailer's hash is of all but the
// records: so what is asked of every entry, the marks, is read and verified without them.

// An Entry is what is kept under a key: records of one size, each with a mark of 64 bits, and a head. It is to be closed. Its methods may be
// called from several goroutines at once.
type Entry struct {
	file    *openfiles.File
	head    []byte
	sums    []byte
	records int64
	size    int
}

// Head returns the head.
func (e *Entry) Head() []byte { return e.head }

// Blocks returns the number of blocks.
func (e *Entry) Blocks() int { return blocksOf(e.records) }

func blocksOf(records int64) int { return int((records + blockRecords - 1) / blockRecords) }

// in returns how many records block i has.
func (e *Entry) in(i int) int { return int(min(blockRecords, e.records-int64(i)*blockRecords)) }

func (e *Entry) offset(i int) int64 { return int64(i) * blockRecords * int64(markSize+e.size) }

// Marks reads the marks of block i, 8 bytes each in little-endian order, into b, which is made longer if need be.
func (e *Entry) Marks(i int, b []byte) ([]byte, error) {
	return e.read(b, e.in(i)*markSize, e.offset(i))
}

// Records reads the records of block i into b, which is made longer if need be. An error says that they are damaged, or cannot be read.
func (e *Entry) Records(i int, b []byte) ([]byte, error) {
	n := e.in(i)
	b, err := e.read(b, n*e.size, e.offset(i)+int64(n*markSize))
	if err == nil && xxh3.Hash(b) != binary.LittleEndian.Uint64(e.sums[8*i:]) {
		err = errors.New("lint cache: an entry is damaged")
	}
	return b, err
}

func (e *Entry) read(b []byte, n int, off int64) ([]byte, error) {
	if cap(b) < n {
		b = make([]byte, n)
	}
	if m, err := e.file.ReadAt(b[:n], off); m < n {
		return nil, err
	}
	return b[:n], nil
}

// Close closes the entry.
func (e *Entry) Close() error { return e.file.Close() }

// Load returns what is kept under key, of records of size bytes; nil where there is nothing or nothing whole. On the way it shows each the marks,
// many at a time; that happens also where the end of the entry turns out to be damaged.
func (s *Store) Load(key string, size int, each func(marks []byte)) *Entry {
	f, err := openfiles.Open(s.name(key))
	if err != nil {
		return nil
	}
	e := &Entry{file: f, size: size}
	if !e.open(form+key, each) {
		f.Close()
		return nil
	}
	now := time.Now()
	if now.Sub(f.Stat().ModTime()) > fresh {
		_ = os.Chtimes(s.name(key), now, now) // it is used: others go first
	}
	return e
}

// open reads and verifies all but the records.
func (e *Entry) open(key string, each func([]byte)) bool {
	info := e.file.Stat()
	if info.Size() < trailerSize {
		return false
	}
	t, err := e.read(nil, trailerSize, info.Size()-trailerSize)
	if err != nil {
		return false
	}
	part := func(i int) int64 { return int64(binary.LittleEndian.Uint64(t[8*i:])) }
	var head, keyLen int64
	e.records, head, keyLen = part(0), part(1), part(2)
	room := info.Size() - trailerSize
	if e.records < 0 || e.records > room/int64(markSize+e.size) || head < 0 || head > room || keyLen != int64(len(key)) {
		return false
	}
	sums := 8 * int64(blocksOf(e.records))
	end := e.records * int64(markSize+e.size)
	if end+sums+head+keyLen != room {
		return false
	}
	hash := xxh3.New()
	var b []byte
	for i := range e.Blocks() {
		if b, err = e.Marks(i, b); err != nil {
			return false
		}
		hash.Write(b)
		each(b)
	}
	rest, err := e.read(nil, int(sums+head+keyLen), end)
	if err != nil {
		return false
	}
	hash.Write(rest)
	hash.Write(t[:24])
	e.sums, e.head = rest[:sums], rest[sums:sums+head]
	return hash.Sum64() == uint64(part(3)) && string(rest[sums+head:]) == key
}

// A Writer writes an entry. Errors are kept to itself: then nothing becomes visible.
type Writer struct {
	store   *Store
	key     string
	file    *os.File
	hash    *xxh3.Hasher // of all but the records
	marks   []byte       // of the current block
	block   []byte
	sums    []byte
	records int64
	bytes   int64
	failed  bool
}

// Create begins an entry; nil where none can be written.
func (s *Store) Create(key string) *Writer {
	f, err := os.CreateTemp(s.dir, "*"+partSuffix)
	if err != nil {
		return nil
	}
	return &Writer{store: s, key: form + key, file: f, hash: xxh3.New()}
}

// Write adds a record with its mark.
func (w *Writer) Write(record []byte, mark uint64) {
	w.marks = binary.LittleEndian.AppendUint64(w.marks, mark)
	w.block = append(w.block, record...)
	w.records++
	if len(w.marks) == blockRecords*markSize {
		w.flush()
	}
}

// flush writes the current block.
func (w *Writer) flush() {
	if len(w.marks) == 0 {
		return
	}
	w.hash.Write(w.marks)
	w.sums = binary.LittleEndian.AppendUint64(w.sums, xxh3.Hash(w.block))
	w.put(w.marks)
	w.put(w.block)
	w.marks, w.block = w.marks[:0], w.block[:0]
}

func (w *Writer) put(b []byte) {
	w.bytes += int64(len(b))
	w.failed = w.failed || w.bytes > w.store.limit/2 // it would push out all others
	if !w.failed {
		_, err := w.file.Write(b)
		w.failed = err != nil
	}
}

// Commit ends the entry with its head and makes it visible. It is not made durable: after a crash that loses an entry, the file is read again.
func (w *Writer) Commit(head []byte) {
	w.flush()
	var t []byte
	for _, n := range []int{int(w.records), len(head), len(w.key)} {
		t = binary.LittleEndian.AppendUint64(t, uint64(n))
	}
	for _, b := range [][]byte{w.sums, head, []byte(w.key), t} {
		w.hash.Write(b)
		w.put(b)
	}
	w.put(binary.LittleEndian.AppendUint64(nil, w.hash.Sum64()))
	if err := w.file.Close(); err != nil || w.failed || os.Rename(w.file.Name(), w.store.name(strings.TrimPrefix(w.key, form))) != nil {
		os.Remove(w.file.Name())
		return
	}
	w.store.wrote.Store(true)
}

// Discard leaves the entry out.
func (w *Writer) Discard() {
	w.file.Close()
	os.Remove(w.file.Name())
}

// Close brings the folder below its limit where something was written: what was not used for longest goes first.
func (s *Store) Close() {
	if !s.wrote.Load() {
		return
	}
	all := s.list()
	var total int64
	for _, e := range all {
		total += e.size
	}
	slices.SortFunc(all, func(a, b listed) int { return a.used.Compare(b.used) })
	for _, e := range all {
		if total <= s.limit {
			return
		}
		if os.Remove(e.name) == nil {
			total -= e.size
		}
	}
}

// Size returns how many entries there are, and how many bytes they have.
func (s *Store) Size() (entries int, bytes int64) {
	all := s.list()
	for _, e := range all {
		bytes += e.size
	}
	return len(all), bytes
}

type listed struct {
	name string
	size int64
	used time.Time
}

// list returns the entries; what runs that were killed have left is removed.
func (s *Store) list() []listed {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil
	}
	var out []listed
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		name := filepath.Join(s.dir, f.Name())
		switch {
		case strings.HasSuffix(name, suffix):
			out = append(out, listed{name, info.Size(), info.ModTime()})
		case strings.HasSuffix(name, partSuffix) && time.Since(info.ModTime()) > stale:
			os.Remove(name)
		}
	}
	return out
}
