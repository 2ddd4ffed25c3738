//go:build unix

package shard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rlprep/rlprep/internal/killpoint"
)

// A lock is an OUT taken by one process; the kernel gives it back when the process ends, however it ends.
type lock struct {
	f    *os.File
	home string
}

// LockedError says that another run is at work on OUT.
type LockedError struct{ Home, Who string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s: another run is at work here (%s); wait for it or end it", e.Home, e.Who)
}

func takeLock(home string) (*lock, error) {
	name := filepath.Join(home, "lock")
	for {
		if err := os.MkdirAll(home, 0o777); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if errors.Is(err, os.ErrNotExist) {
			continue // the run before removed its directory just now
		}
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			who, _ := os.ReadFile(name)
			f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, &LockedError{home, strings.TrimSpace(string(who))}
			}
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		if !sameFile(f, name) {
			f.Close() // taken on a file that is gone
			continue
		}
		host, _ := os.Hostname()
		f.Truncate(0)
		fmt.Fprintf(f, "process %d on %s\n", os.Getpid(), host)
		return &lock{f, home}, nil
	}
}

func sameFile(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}

func (l *lock) release() error {
	if l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	return f.Close()
}

// remove removes the private directory, which must hold nothing but the lock, and gives the lock back.
func (l *lock) remove() error {
	if l.f == nil {
		return nil
	}
	return errors.Join(os.Remove(filepath.Join(l.home, "lock")), os.Remove(l.home), l.release())
}

// sameOwner gives a directory the mode, the owner and the group of another one, and reports whether it has them then.
func sameOwner(dir, as string) bool {
	a, err := os.Stat(dir)
	if err != nil {
		return false
	}
	b, err := os.Stat(as)
	if err != nil {
		return false
	}
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	if ok && ok2 && (x.Uid != y.Uid || x.Gid != y.Gid) && os.Chown(dir, int(y.Uid), int(y.Gid)) != nil {
		return false
	}
	return os.Chmod(dir, b.Mode()) == nil
}

// SyncDir makes the names in a directory durable. File systems that cannot sync a directory are no error.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if killpoint.Refused("fsync-dir") {
		err = syscall.EINVAL
	}
	if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
