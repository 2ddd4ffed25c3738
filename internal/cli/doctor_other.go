//go:build !linux

package cli

import "io/fs"

// systemTrials are none: what Linux has names for is not used here.
var systemTrials []trial

// fileSystem is not known here.
func fileSystem(string) (name string, free int64) { return "", -1 }

func kernel() string { return "" }

// memoryOfMachine is not known here.
func memoryOfMachine(fs.FS) int64 { return 0 }
