//go:build unix

package hub

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// A lock is the download of a blob, taken by one process of rlprep or huggingface_hub (which takes flock too). On file
// systems whose locks do nothing, two processes write the same bytes to the same places, so nothing breaks.
type lock struct{ f *os.File }

// takeLock waits for the lock; waiting is called once when there is a wait.
func takeLock(ctx context.Context, name string, waiting func()) (*lock, error) {
	for told := false; ; {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o664)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOLCK) {
			return &lock{f}, nil // no locks here
		}
		if err == nil && same(f, name) {
			return &lock{f}, nil
		}
		f.Close()
		if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, &os.PathError{Op: "lock", Path: name, Err: err}
		}
		if !told && err != nil {
			told = true
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// same reports whether name still is the file that was locked.
func same(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}

func (l *lock) release() { l.f.Close() }
