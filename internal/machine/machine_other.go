//go:build !linux

package machine

import "io/fs"

// Kernel is not known here.
func Kernel() string { return "" }

// Memory is not known here.
func Memory(fs.FS) int64 { return 0 }
