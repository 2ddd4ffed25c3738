//go:build unix

package hub

import (
	"os"
	"syscall"
)

// inode is the number of a file in its file system: another file under the same name has another.
func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino) //nolint:unconvert // its type differs by system
	}
	return 0
}
