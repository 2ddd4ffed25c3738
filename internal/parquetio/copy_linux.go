//go:build linux

package parquetio

import (
	"os"

	"golang.org/x/sys/unix"
)

// copyInKernel copies up to n bytes at offset off of src to where dst stands, without bringing them into this process. It
// returns how many it copied; fewer than n where the kernel or a file system does not do this, or src ends.
func copyInKernel(dst, src *os.File, off, n int64) (done int64) {
	to, err := dst.SyscallConn()
	if err != nil {
		return 0
	}
	from, err := src.SyscallConn()
	if err != nil {
		return 0
	}
	_ = to.Write(func(out uintptr) bool {
		_ = from.Read(func(in uintptr) bool {
			for done < n {
				m, err := unix.CopyFileRange(int(in), &off, int(out), nil, int(min(n-done, 1<<30)), 0)
				if err == unix.EINTR {
					continue
				}
				if err != nil || m <= 0 { // another file system, a pipe, an old kernel, the end: the caller goes on by hand
					return true
				}
				done += int64(m)
			}
			return true
		})
		return true
	})
	return done
}
