//go:build unix

package machine

import (
	"runtime"
	"syscall"
)

// PeakMemory is the largest resident size of the process so far, in bytes.
func PeakMemory() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss) //nolint:unconvert // its type differs by system
	}
	return int64(u.Maxrss) << 10 //nolint:unconvert // its type differs by system
}

// OpenFiles is how many files the process may have open; 0: not known.
func OpenFiles() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur) //nolint:unconvert // its type differs by system
}
