//go:build !unix

package shard

import "io/fs"

func unblocked(fs.FileInfo) int { return 0 }
func noReader(error) bool       { return false }
