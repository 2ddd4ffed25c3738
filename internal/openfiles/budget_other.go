//go:build !unix

package openfiles

// budget is how many Files are open at a time.
func budget() int { return 256 }
