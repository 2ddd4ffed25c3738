//go:build !unix

package shard

import "os"

// sameOwner is for systems that can exchange two directories.
func sameOwner(string, string) bool { return false }

// TakeOwner does nothing: a file has the owner of its directory.
func (p *PartFile) TakeOwner(os.FileInfo) error { return nil }

// SyncDir does nothing where directories cannot be synced.
func SyncDir(string) error { return nil }

// isMount knows no mount points where files have no device numbers.
func isMount(string, os.FileInfo) bool { return false }
