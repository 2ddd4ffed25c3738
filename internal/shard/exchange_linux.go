package shard

import (
	"golang.org/x/sys/unix"

	"github.com/rlprep/rlprep/internal/killpoint"
)

// exchange swaps the names of two directories in one step.
func exchange(a, b string) error {
	if killpoint.Refused("exchange") {
		return unix.EINVAL
	}
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
