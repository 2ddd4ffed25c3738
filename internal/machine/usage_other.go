//go:build !unix

package machine

import "runtime"

// PeakMemory is what the runtime has taken from the system, in bytes.
func PeakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// OpenFiles is not known here.
func OpenFiles() uint64 { return 0 }
