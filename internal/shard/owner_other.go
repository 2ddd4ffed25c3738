//go:build !unix

package shard

// sameOwner is for systems that can exchange two directories.
func sameOwner(string, string) bool { return false }

// SyncDir does nothing where directories cannot be synced.
func SyncDir(string) error { return nil }
