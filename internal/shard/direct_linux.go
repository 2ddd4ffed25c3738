package shard

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// pageCache is "use" in a build that writes through the page cache: testdata/bench/pagecache.py sets it by the linker to compare both.
var pageCache string

// directly has f written past the page cache, or no more, and reports whether it is then. It is asked of local file systems alone: of
// others a write would wait for a server.
func directly(f *os.File, on bool) (is bool) {
	raw, err := f.SyscallConn()
	if err != nil || pageCache == "use" {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		var fs unix.Statfs_t
		if unix.Fstatfs(int(fd), &fs) != nil || fs.Type != unix.EXT4_SUPER_MAGIC && fs.Type != unix.XFS_SUPER_MAGIC {
			return
		}
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		if err != nil {
			return
		}
		is = flags&unix.O_DIRECT != 0
		want := flags &^ unix.O_DIRECT
		if on {
			want |= unix.O_DIRECT
		}
		if _, err = unix.FcntlInt(fd, unix.F_SETFL, want); err == nil {
			is = on
		}
	})
	return is
}

// refused reports whether the system cannot write like this: the size or place of the blocks of a device may be other than ours.
func refused(err error) bool { return errors.Is(err, unix.EINVAL) }
