//go:build !unix

package shard

import "os"

// sameOwner is for systems that can exchange two directories.
func sameOwner(string, string) bool { return false }

// SyncDir does nothing where directories cannot be synced.
func SyncDir(string) error { return nil }

// isMount knows no mount points where files have no device numbers.
func isMount(string, os.FileInfo) bool { return false }
