//go:build unix

package openfiles

import "syscall"

// budget is how many Files are open at a time: a quarter of what the process may have, the rest is for what is written, for locks and for pipes.
func budget() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 64
	}
	return int(max(4, min(uint64(limit.Cur), 2048)/4)) //nolint:unconvert // its type differs by system
}
