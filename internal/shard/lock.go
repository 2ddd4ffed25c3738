package shard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rlprep/rlprep/internal/filelock"
)

// A lock is an OUT taken by one process: a file in its private directory.
type lock struct {
	*filelock.Lock
	home string
}

// LockedError says that another run is at work on OUT.
type LockedError struct{ Home, Who, Held string }

func (e *LockedError) Error() string {
	end := "end it"
	if e.Held != "" {
		end = fmt.Sprintf("remove %s if that process is gone", e.Held)
	}
	return fmt.Sprintf("%s: another run is at work here (%s); wait for it, or %s", e.Home, e.Who, end)
}

// ExitCode is 3: another attempt may succeed.
func (e *LockedError) ExitCode() int { return 3 }

// takeLock makes the private directory and takes its lock.
func takeLock(home string) (*lock, error) {
	for {
		if err := os.MkdirAll(home, 0o777); err != nil {
			return nil, homeError(home, err)
		}
		l, err := filelock.Try(filepath.Join(home, "lock"))
		var held *filelock.HeldError
		switch {
		case err == nil:
			return &lock{l, home}, nil
		case errors.Is(err, os.ErrNotExist): // the run before removed its directory just now
		case errors.As(err, &held):
			return nil, &LockedError{home, held.Who, held.Stale}
		default:
			return nil, err
		}
	}
}

func (l *lock) release() error { return l.Release() }

// remove removes the private directory, which must hold nothing but the lock, and gives the lock back.
func (l *lock) remove() error {
	return errors.Join(l.Unlink(), os.Remove(l.home), l.Release())
}
