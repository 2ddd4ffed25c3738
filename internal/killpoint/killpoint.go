//go:build !killpoints

// Package killpoint names the moments at which a test kills the tool, to prove that nothing is lost then. It does nothing
// unless built with the tag killpoints.
package killpoint

// At is a moment of that name.
func At(string) {}

// Refused is whether the system is to refuse what it is asked.
func Refused(string) bool { return false }
