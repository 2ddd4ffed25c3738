// Package openfiles reads many files with few descriptors: a File is open while it is read, and for as long after as no other file needs its
// descriptor. A process may have a few hundred only, and a data set thousands of files.
package openfiles

import (
	"container/list"
	"fmt"
	"os"
	"sync"

	"github.com/rlprep/rlprep/internal/infile"
)

// A File is a file that is opened again when it is read after its descriptor was given to another. Its methods may be called from several goroutines
// at once.
type File struct {
	name string
	info os.FileInfo // as it was opened first

	// Of the pool.
	h      *os.File      // nil: not open
	users  int           // reading now
	idle   *list.Element // of pool.idle; nil: in use, or not open
	closed bool
}

// pool holds the open Files.
var pool = struct {
	sync.Mutex
	most int
	open int
	idle list.List // of *File, the one that was not used for longest first
}{most: budget()}

// Budget is how many Files are open at a time: a part of what the process may have that leaves as much to others.
func Budget() int { return pool.most }

// Open opens the file name, as infile.Open does.
func Open(name string) (*File, error) {
	h, err := infile.Open(name)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, h: h, users: 1}
	if f.info, err = h.Stat(); err != nil {
		h.Close()
		return nil, err
	}
	pool.Lock()
	pool.open++
	pool.Unlock()
	f.release()
	return f, nil
}

// Stat returns what is known of the file, as it was opened first.
func (f *File) Stat() os.FileInfo { return f.info }

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.Use(func(h *os.File) error {
		n, err = h.ReadAt(b, off)
		return err
	})
	return n, err
}

// Use calls do with the open file, which is valid until do returns.
func (f *File) Use(do func(h *os.File) error) error {
	h, err := f.acquire()
	if err != nil {
		return err
	}
	defer f.release()
	return do(h)
}

// acquire opens the file if need be.
func (f *File) acquire() (*os.File, error) {
	pool.Lock()
	defer pool.Unlock()
	if f.closed {
		return nil, &os.PathError{Op: "read", Path: f.name, Err: os.ErrClosed}
	}
	if f.h == nil {
		if pool.open >= pool.most {
			evict()
		}
		h, err := f.reopen()
		if err != nil {
			return nil, err
		}
		f.h = h
		pool.open++
	}
	if f.idle != nil {
		pool.idle.Remove(f.idle)
		f.idle = nil
	}
	f.users++
	return f.h, nil
}

// reopen opens the file again, which must be the one that it was.
func (f *File) reopen() (*os.File, error) {
	h, err := infile.Open(f.name)
	if err != nil {
		return nil, err
	}
	now, err := h.Stat()
	if err == nil && (!os.SameFile(now, f.info) || now.Size() != f.info.Size()) {
		err = &ReplacedError{f.name}
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// A ReplacedError says that a file is not the one any more that was opened.
type ReplacedError struct{ Name string }

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("%s: changed while it was read: start again once it is written", e.Name)
}

// ExitCode is 3: another attempt may succeed.
func (e *ReplacedError) ExitCode() int { return 3 }

// release ends a use.
func (f *File) release() {
	pool.Lock()
	defer pool.Unlock()
	f.users--
	switch {
	case f.users > 0:
	case f.closed:
		f.shut()
	default:
		f.idle = pool.idle.PushBack(f)
		for pool.open > pool.most && evict() {
		}
	}
}

// evict closes the File that was not used for longest; false: all are in use.
func evict() bool {
	first := pool.idle.Front()
	if first == nil {
		return false
	}
	first.Value.(*File).shut()
	return true
}

// shut closes the handle, which nobody uses.
func (f *File) shut() {
	if f.idle != nil {
		pool.idle.Remove(f.idle)
		f.idle = nil
	}
	if f.h != nil {
		f.h.Close() // it was read only
		f.h = nil
		pool.open--
	}
}

// Close closes the file. A second call does nothing.
func (f *File) Close() error {
	pool.Lock()
	defer pool.Unlock()
	f.closed = true
	if f.users == 0 {
		f.shut()
	}
	return nil
}
