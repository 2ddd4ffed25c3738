package machine

import (
	"fmt"
	"math"
	"os"
	"syscall"
)

// addressRoom is how many bytes of addresses the process may still take; math.MaxInt64 where nothing limits them.
func addressRoom() int64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt64/2 {
		return math.MaxInt64
	}
	var pages int64
	b, err := os.ReadFile("/proc/self/statm")
	if _, serr := fmt.Sscan(string(b), &pages); err != nil || serr != nil {
		return math.MaxInt64
	}
	return int64(limit.Cur) - pages*int64(os.Getpagesize())
}
