package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A PartFile is a file that is written under a private name beside its last one, by one process at a time.
type PartFile struct {
	*os.File
	target string
	begun  int64 // bytes that are on their way to the disk
}

// ErrBusy says that another process writes the same file.
var ErrBusy error = &againError{"another run is writing this file: wait for it or end it"}

// An againError is about a moment: the same command may succeed later.
type againError struct{ text string }

func (e *againError) Error() string { return e.text }

// ExitCode is 3: another attempt may succeed.
func (e *againError) ExitCode() int { return 3 }

// PartName returns the private name that target is written under.
func PartName(target string) string {
	return filepath.Join(filepath.Dir(target), hiddenName(filepath.Base(target), ".rlprep-part"))
}

// maxName is how many bytes the name of a file may have on the file systems that are common.
const maxName = 255

// hiddenName returns a hidden name made of base. Where it would be too long, base is cut and a hash tells it from others that begin alike.
func hiddenName(base, suffix string) string {
	if name := "." + base + suffix; len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(base))
	hash := "~" + hex.EncodeToString(sum[:8])
	cut := strings.ToValidUTF8(base[:maxName-1-len(hash)-len(suffix)], "")
	return "." + cut + hash + suffix
}

// NewPartFile opens the private file for target, empty. What a run that was killed left there is written over.
func NewPartFile(target string) (*PartFile, error) {
	name := PartName(target)
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
			if st, err := os.Lstat(name); err == nil && st.Mode()&os.ModeSymlink != 0 {
				return nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("is a symbolic link, where unfinished output would go: remove it")}
			}
			continue
		}
		if err := f.Truncate(0); err != nil {
			f.Close()
			return nil, err
		}
		return &PartFile{File: f, target: target}, nil
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

// sameFile reports whether name, or what it is a link to, is f.
func sameFile(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}

// Flushed says that the first n bytes will not change, so that the system can write them to the disk before Sync asks for all.
func (p *PartFile) Flushed(n int64) {
	const least = 8 << 20
	if n-p.begun >= least {
		writeBack(p.File, p.begun, n-p.begun)
		p.begun = n
	}
}

// Rename gives the file its last name, durably, and closes it. It must have been synced.
func (p *PartFile) Rename() error {
	if err := os.Rename(p.Name(), p.target); err != nil {
		return errors.Join(err, p.Discard())
	}
	return errors.Join(p.Close(), SyncDir(filepath.Dir(p.target)))
}

// Discard removes the file.
func (p *PartFile) Discard() error { return errors.Join(os.Remove(p.Name()), p.Close()) }

// Hash returns the sha256 and the size of a file.
func Hash(name string) (sha256 string, bytes int64, err error) { return hashFile(name) }
