//go:build unix

package shard

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rlprep/rlprep/internal/killpoint"
)

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
	return chownAs(a, b, func(uid, gid int) error { return os.Chown(dir, uid, gid) }) == nil && os.Chmod(dir, b.Mode()) == nil
}

// TakeOwner gives the file the owner and group of the file that old describes.
func (p *PartFile) TakeOwner(old os.FileInfo) error {
	now, err := p.Stat()
	if err != nil {
		return err
	}
	return chownAs(now, old, p.Chown)
}

// chownAs calls chown where the owner or group of now is not that of as.
func chownAs(now, as os.FileInfo, chown func(uid, gid int) error) error {
	x, ok := now.Sys().(*syscall.Stat_t)
	y, ok2 := as.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || x.Uid == y.Uid && x.Gid == y.Gid {
		return nil
	}
	return chown(int(y.Uid), int(y.Gid))
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

// isMount reports whether a directory, with its info, is on another file system than the directory that holds it.
func isMount(dir string, info os.FileInfo) bool {
	parent, err := os.Stat(filepath.Join(dir, ".."))
	if err != nil {
		return false
	}
	x, ok := info.Sys().(*syscall.Stat_t)
	y, ok2 := parent.Sys().(*syscall.Stat_t)
	return ok && ok2 && x.Dev != y.Dev
}
