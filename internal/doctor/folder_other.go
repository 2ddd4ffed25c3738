//go:build !linux

package doctor

// systemTrials are none: what Linux has names for is not used here.
var systemTrials []trial

// fileSystem is not known here.
func fileSystem(string) (name string, free int64) { return "", -1 }
