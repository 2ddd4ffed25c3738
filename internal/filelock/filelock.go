// Package filelock lets one process at a time have a file or a folder, across the machines that share a file system. The kernel gives a lock
// back when its process ends, however it ends. gofrs/flock would not do: it does not notice that the file was removed while it
// waited, it cannot say who holds a lock, and file systems without locks are an error for it.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rlprep/rlprep/internal/infile"
)

// A Lock is a lock that this process holds.
type Lock struct {
	f    *os.File
	name string
	held string // a file in place of the lock, where the file system has no locks; "" where it has
}

// A HeldError is a lock that another process holds.
type HeldError struct {
	Who   string // "process 12 on host", as that process wrote it
	Stale string // the file to remove if that process is gone; "": the kernel does that
}

func (e *HeldError) Error() string { return "locked by " + e.Who }

// Try takes the lock on a file, which it makes, and writes into it who has it. The error is *HeldError where another process has it. On a
// file system without locks, a file beside it is made that only one process can make; what a process of this machine left there that
// is gone is taken over.
func Try(name string) (*Lock, error) {
	for {
		l, err := tryLock(name)
		if errors.Is(err, errUnsupported) {
			l.held, err = holdFile(name + ".held")
		}
		if err != nil {
			if l != nil {
				l.f.Close()
			}
			return nil, err
		}
		if !l.same() {
			if err := l.Release(); err != nil { // taken on a file that is gone
				return nil, err
			}
			continue
		}
		_ = l.f.Truncate(0) // the name of the holder is for people: the lock holds without it
		fmt.Fprint(l.f, whoami())
		return l, nil
	}
}

// Wait waits for the lock on a file that other programs lock too; nothing is written into it. waiting is called once, when there is a
// wait. On a file system without locks it returns at once: it is for work that two processes may do at the same time.
func Wait(ctx context.Context, name string, waiting func()) (*Lock, error) {
	for warned := false; ; {
		l, err := tryLock(name)
		var held *HeldError
		switch {
		case err == nil && l.same(), errors.Is(err, errUnsupported):
			return l, nil
		case err == nil:
			l.f.Close()
		case !errors.As(err, &held):
			return nil, err
		case !warned:
			warned = true
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Release gives the lock back. A second call does nothing.
func (l *Lock) Release() error {
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	if errors.Is(err, os.ErrClosed) { // by Unlink
		err = nil
	}
	l.f = nil
	if l.held != "" {
		err = errors.Join(os.Remove(l.held), err)
	}
	return err
}

// Unlink removes the lock's file, so that its folder can be removed before the lock is given back.
func (l *Lock) Unlink() error {
	if l.f == nil {
		return nil
	}
	if closeFirst {
		l.f.Close()
	}
	err := os.Remove(l.name)
	if l.held != "" {
		err = errors.Join(err, os.Remove(l.held))
		l.held = ""
	}
	return err
}

// same reports whether the lock's name still is the file that was locked.
func (l *Lock) same() bool {
	a, err := l.f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(l.name)
	return err == nil && os.SameFile(a, b)
}

func whoami() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("process %d on %s\n", os.Getpid(), host)
}

// holdFile makes the file in place of a lock.
func holdFile(name string) (string, error) {
	for range 2 {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			_, err = fmt.Fprint(f, whoami())
			return name, errors.Join(err, f.Close())
		}
		if !errors.Is(err, os.ErrExist) {
			return "", err
		}
		b, err := infile.ReadFile(name)
		var pid int
		var host string
		_, scanErr := fmt.Sscanf(string(b), "process %d on %s", &pid, &host)
		here, _ := os.Hostname()
		if err != nil || scanErr != nil || host != here || !gone(pid) {
			return "", &HeldError{strings.TrimSpace(string(b)), name}
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return "", &HeldError{"another process that came first", name}
}
