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
	held string // a file that stands for the lock where the file system has no locks; "" where it has
}

// LockedError says that another run is at work on OUT.
type LockedError struct{ Home, Who, Held string }

func (e *LockedError) Error() string {
	end := "end it"
	if e.Held != "" {
		end = fmt.Sprintf("remove %s if it is no more", e.Held)
	}
	return fmt.Sprintf("%s: another run is at work here (%s); wait for it, or %s", e.Home, e.Who, end)
}

// ExitCode is 3: another attempt may succeed.
func (e *LockedError) ExitCode() int { return 3 }

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
		held := ""
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if killpoint.Refused("flock") {
			err = syscall.ENOSYS
		}
		switch {
		case err == nil:
		case errors.Is(err, syscall.EWOULDBLOCK):
			who, _ := os.ReadFile(name)
			f.Close()
			return nil, &LockedError{home, strings.TrimSpace(string(who)), ""}
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK): // Lustre without -o flock, some NFS
			if held, err = holdFile(home); err != nil {
				f.Close()
				return nil, err
			}
		default:
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		if !sameFile(f, name) {
			f.Close() // taken on a file that is gone
			continue
		}
		f.Truncate(0)
		fmt.Fprint(f, whoami())
		return &lock{f, home, held}, nil
	}
}

func whoami() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("process %d on %s\n", os.Getpid(), host)
}

// holdFile makes the file that stands for the lock, which only one process can. One that a process of this machine left that is no
// more is taken over.
func holdFile(home string) (string, error) {
	name := filepath.Join(home, "lock.held")
	for range 2 {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			_, err = fmt.Fprint(f, whoami())
			return name, errors.Join(err, f.Close())
		}
		if !errors.Is(err, os.ErrExist) {
			return "", err
		}
		b, err := os.ReadFile(name)
		var pid int
		var host string
		_, scanErr := fmt.Sscanf(string(b), "process %d on %s", &pid, &host)
		here, _ := os.Hostname()
		if err != nil || scanErr != nil || host != here || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return "", &LockedError{home, strings.TrimSpace(string(b)), name}
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return "", &LockedError{home, "another process that came first", name}
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
	if l.held != "" {
		return errors.Join(os.Remove(l.held), f.Close())
	}
	return f.Close()
}

// remove removes the private directory, which must hold nothing but the lock, and gives the lock back.
func (l *lock) remove() error {
	if l.f == nil {
		return nil
	}
	if l.held != "" {
		return errors.Join(os.Remove(filepath.Join(l.home, "lock")), l.release(), os.Remove(l.home))
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
