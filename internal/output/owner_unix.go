//go:build unix

package output

import (
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of the file that old describes.
func keepOwner(f *os.File, old os.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	a, ok := now.Sys().(*syscall.Stat_t)
	b, ok2 := old.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || (a.Uid == b.Uid && a.Gid == b.Gid) {
		return nil
	}
	return f.Chown(int(b.Uid), int(b.Gid))
}
