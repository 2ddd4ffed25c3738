//go:build unix

package shard

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// tryLock takes the lock of f, which the kernel gives back when the process ends, or returns ErrBusy.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrBusy
	case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS): // some network file systems
		return nil
	case err != nil:
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}
