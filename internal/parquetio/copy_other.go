//go:build !linux

package parquetio

import "os"

func copyInKernel(_, _ *os.File, _, _ int64) int64 { return 0 }
