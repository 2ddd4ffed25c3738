package source

import (
	"os"
	"syscall"
	"time"
)

// state returns when content, name or owner of a file were last changed, and its number.
func state(info os.FileInfo) (changed time.Time, inode uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return sameTime(info)
	}
	return time.Unix(s.Ctimespec.Unix()), s.Ino
}
