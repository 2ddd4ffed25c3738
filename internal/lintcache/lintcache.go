// Package lintcache keeps what the rows of files gave a check, so that a second check of the same files need not read them: an entry a file in
// one folder, found by a key that says all that it depends on. Entries are whole or not there: what is damaged, cut off or another's is taken for
// none. The folder is bounded; what was not used for longest goes first. Nothing here fails a run: a folder that cannot be written keeps nothing.
package lintcache

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
)

const (
	// suffix and partSuffix end the names of entries, and of those that are being written.
	suffix     = ".kept"
	partSuffix = ".part"
	// form is part of every key: entries of another form are not found.
	form = "rlprep lint cache 1\n"
	// trailerSize is that of what ends an entry: lengths of records, head and key, and the hash of all before it.
	trailerSize = 4 * 8
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

// An Entry is what is kept under a key: records of one size, and a head. It is to be closed.
type Entry struct {
	file    *os.File
	head    []byte
	records int64
}

// Head returns the head.
func (e *Entry) Head() []byte { return e.head }

// Len returns the length of the records in bytes.
func (e *Entry) Len() int64 { return e.records }

// ReadAt reads records: offset 0 is that of the first.
func (e *Entry) ReadAt(b []byte, off int64) (int, error) {
	return io.NewSectionReader(e.file, 0, e.records).ReadAt(b, off)
}

// Close closes the entry.
func (e *Entry) Close() error { return e.file.Close() }

// Load returns what is kept under key, nil where there is nothing or nothing whole. On the way it shows each the records, blocks of whole
// ones of size bytes; that happens also where the end of the entry turns out to be damaged.
func (s *Store) Load(key string, size int, each func(records []byte)) *Entry {
	f, err := os.Open(s.name(key))
	if err != nil {
		return nil
	}
	e, ok := read(f, form+key, size, each)
	if !ok {
		f.Close()
		return nil
	}
	now := time.Now()
	if info, err := f.Stat(); err == nil && now.Sub(info.ModTime()) > fresh {
		_ = os.Chtimes(f.Name(), now, now) // it is used: others go first
	}
	return e
}

func read(f *os.File, key string, size int, each func([]byte)) (*Entry, bool) {
	info, err := f.Stat()
	if err != nil || info.Size() < trailerSize {
		return nil, false
	}
	var t [trailerSize]byte
	if _, err := f.ReadAt(t[:], info.Size()-trailerSize); err != nil {
		return nil, false
	}
	part := func(i int) int64 { return int64(binary.LittleEndian.Uint64(t[8*i:])) }
	records, head, keyLen := part(0), part(1), part(2)
	room := info.Size() - trailerSize
	if records < 0 || head < 0 || keyLen != int64(len(key)) || records > room || head > room-records || room-records-head != keyLen || records%int64(size) != 0 {
		return nil, false
	}
	hash := xxh3.New()
	block := make([]byte, min(max(1, 64<<10/size)*size, int(records)))
	for off := int64(0); off < records; {
		b := block[:min(int64(len(block)), records-off)]
		if _, err := f.ReadAt(b, off); err != nil {
			return nil, false
		}
		hash.Write(b)
		each(b)
		off += int64(len(b))
	}
	rest := make([]byte, head+keyLen)
	if _, err := f.ReadAt(rest, records); err != nil {
		return nil, false
	}
	hash.Write(rest)
	hash.Write(t[:24])
	if hash.Sum64() != uint64(part(3)) || string(rest[head:]) != key {
		return nil, false
	}
	return &Entry{file: f, head: rest[:head], records: records}, true
}

// A Writer writes an entry. Errors are kept to itself: then nothing becomes visible.
type Writer struct {
	store   *Store
	key     string
	file    *os.File
	hash    *xxh3.Hasher
	records int64
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

// Write adds records.
func (w *Writer) Write(records []byte) {
	w.put(records)
	w.records += int64(len(records))
	w.failed = w.failed || w.records > w.store.limit/2 // it would push out all others
}

func (w *Writer) put(b []byte) {
	w.hash.Write(b)
	if !w.failed {
		_, err := w.file.Write(b)
		w.failed = err != nil
	}
}

// Commit ends the entry with its head and makes it visible. It is not made durable: an entry that is lost in a crash is read anew.
func (w *Writer) Commit(head []byte) {
	w.put(head)
	w.put([]byte(w.key))
	var t [trailerSize]byte
	for i, n := range []uint64{uint64(w.records), uint64(len(head)), uint64(len(w.key))} {
		binary.LittleEndian.PutUint64(t[8*i:], n)
	}
	w.hash.Write(t[:24])
	binary.LittleEndian.PutUint64(t[24:], w.hash.Sum64())
	if !w.failed {
		_, err := w.file.Write(t[:])
		w.failed = err != nil
	}
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
