//go:build !linux

package shard

import "os"

func writeBack(*os.File, int64, int64) {}
