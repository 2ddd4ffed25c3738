package shard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Part is a file that is written under a private name beside its last one, by one process at a time.
type Part struct {
	*os.File
	target string
	begun  int64 // bytes that are on their way to the disk
}

// ErrBusy says that another process writes the same file.
var ErrBusy = errors.New("another run is writing this file: wait for it or end it")

// NewPart opens the private file for target, empty. What a run that was killed left there is written over.
func NewPart(target string) (*Part, error) {
	name := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".rlprep-part")
	for {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return nil, err
		}
		if err := tryLock(f); err != nil {
			f.Close()
			if errors.Is(err, ErrBusy) {
				return nil, fmt.Errorf("%s: %w", target, err)
			}
			return nil, err
		}
		if !isNamed(f, name) {
			f.Close() // it got its last name just now, or is gone
			continue
		}
		if err := f.Truncate(0); err != nil {
			f.Close()
			return nil, err
		}
		return &Part{File: f, target: target}, nil
	}
}

// isNamed reports whether name leads to f.
func isNamed(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(name)
	return err == nil && os.SameFile(a, b)
}

// Written says that the first n bytes will not change, so that the system can write them to the disk before Sync asks for all.
func (p *Part) Written(n int64) {
	const least = 8 << 20
	if n-p.begun >= least {
		writeBack(p.File, p.begun, n-p.begun)
		p.begun = n
	}
}

// Rename gives the file its last name, durably, and closes it. It must have been synced.
func (p *Part) Rename() error {
	err := os.Rename(p.Name(), p.target)
	return errors.Join(err, p.Close(), SyncDir(filepath.Dir(p.target)))
}

// Discard removes the file.
func (p *Part) Discard() error { return errors.Join(os.Remove(p.Name()), p.Close()) }

// Hash returns the sha256 and the size of a file.
func Hash(name string) (sha256 string, bytes int64, err error) { return hashFile(name) }
