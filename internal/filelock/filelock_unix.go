//go:build unix

package filelock

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/killpoint"
)

// errUnsupported is a file system without locks: Lustre without -o flock, some NFS.
var errUnsupported = errors.New("no locks here")

// closeFirst: files that are open can be removed.
const closeFirst = false

// tryLock opens the file and locks it, as huggingface_hub does too. With errUnsupported the file is open.
func tryLock(name string) (*Lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if killpoint.Refused("flock") {
		err = syscall.ENOSYS
	}
	switch {
	case err == nil:
		return &Lock{f: f, name: name}, nil
	case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK):
		return &Lock{f: f, name: name}, errUnsupported
	case errors.Is(err, syscall.EWOULDBLOCK):
		who, _ := infile.ReadFile(name)
		err = &HeldError{Who: strings.TrimSpace(string(who))}
	default:
		err = &os.PathError{Op: "lock", Path: name, Err: err}
	}
	f.Close()
	return nil, err
}

// gone reports whether a process of this machine has ended.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
