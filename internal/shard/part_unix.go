//go:build unix

package shard

import (
	"fmt"
	"os"
	"syscall"
)

// tryLock takes the lock of f, which the kernel gives back when the process ends, or returns ErrBusy.
func tryLock(f *os.File) error {
	err := syscall.EINTR
	for err == syscall.EINTR {
		err, _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB).(syscall.Errno) //nolint:errorlint // Flock returns an Errno as it is
	}
	switch {
	case err == syscall.EWOULDBLOCK:
		return ErrBusy
	case err == syscall.ENOTSUP, err == syscall.ENOSYS, err == syscall.ENOLCK: // some network file systems
		return nil
	case err != 0:
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}
