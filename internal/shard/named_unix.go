//go:build unix

package shard

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// unblocked is how a file of that kind is opened without waiting: a FIFO that nobody reads would not even hear an interrupt.
func unblocked(info fs.FileInfo) int {
	if info.Mode()&os.ModeNamedPipe != 0 {
		return syscall.O_NONBLOCK
	}
	return 0
}

// noReader reports whether a FIFO could not be opened as nobody reads it yet.
func noReader(err error) bool { return errors.Is(err, syscall.ENXIO) }
