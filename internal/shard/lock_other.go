//go:build !unix

package shard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A lock is an OUT taken by one process: a file that only one can make. A run that was killed leaves it behind.
type lock struct {
	f    *os.File
	home string
}

// ExitCode is 3: another attempt may succeed.
func (e *LockedError) ExitCode() int { return 3 }

// LockedError says that another run is at work on OUT.
type LockedError struct{ Home, Who string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s: another run is at work here (%s); wait for it, or remove %s if it is no more", e.Home, e.Who, filepath.Join(e.Home, "lock"))
}

func takeLock(home string) (*lock, error) {
	if err := os.MkdirAll(home, 0o777); err != nil {
		return nil, err
	}
	name := filepath.Join(home, "lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		who, _ := os.ReadFile(name)
		return nil, &LockedError{home, strings.TrimSpace(string(who))}
	}
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	fmt.Fprintf(f, "process %d on %s\n", os.Getpid(), host)
	return &lock{f, home}, nil
}

func (l *lock) release() error {
	if l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	return errors.Join(f.Close(), os.Remove(filepath.Join(l.home, "lock")))
}

func (l *lock) remove() error { return errors.Join(l.release(), os.Remove(l.home)) }

// sameOwner is for systems that can exchange two directories.
func sameOwner(string, string) bool { return false }

// SyncDir does nothing where directories cannot be synced.
func SyncDir(string) error { return nil }
