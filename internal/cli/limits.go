package cli

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// FollowLimits has the garbage collector stay below the memory that the process may have: nine tenths of what its cgroup allows, unless
// GOMEMLIMIT says otherwise. Without it a container or a Slurm job is killed at a peak that collecting earlier would have avoided. The
// cgroup's CPU limit is GOMAXPROCS's own affair (Go 1.25).
func FollowLimits() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if n := memoryLimit(os.DirFS("/")); n < math.MaxInt64 {
		debug.SetMemoryLimit(n / 10 * 9)
	}
}

// memoryLimit is the smallest limit of the process's cgroup and of those above it, in bytes; math.MaxInt64 for none. root is "/".
func memoryLimit(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	lines, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(lines)) {
		// "0::/slurm/job_1" of version 2, "4:memory:/slurm/job_1" of version 1
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var dir, file string
		switch {
		case parts[0] == "0" && parts[1] == "":
			dir, file = "sys/fs/cgroup", "memory.max"
		case parts[1] == "memory":
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			least = min(least, limitIn(root, path.Join(dir, group, file)))
			if group == "/" { // in a container it may be mounted as the root, whatever its name is outside
				break
			}
		}
	}
	return least
}

func limitIn(root fs.FS, name string) int64 {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || n <= 0 { // "max"
		return math.MaxInt64
	}
	return n
}
