package machine

import (
	"bytes"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Kernel names the system and its release, "Linux 6.1"; "": not known.
func Kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	text := func(b []byte) string { return string(b[:max(0, bytes.IndexByte(b, 0))]) }
	return text(u.Sysname[:]) + " " + text(u.Release[:])
}

// Memory is the memory of the machine in bytes; 0: not known. root is "/".
func Memory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	var kib int64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err != nil {
		return 0
	}
	return kib << 10
}
