//go:build !unix

package cli

import "runtime"

// peakMemory is what the runtime has taken from the system, in bytes.
func peakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// openFiles is not known here.
func openFiles() uint64 { return 0 }
