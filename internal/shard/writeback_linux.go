package shard

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeBack has the system begin to write a range of f to the disk, where it can. It makes nothing durable: that is fsync's.
func writeBack(f *os.File, off, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}
