//go:build !linux

package machine

import "math"

// addressRoom is not known here.
func addressRoom() int64 { return math.MaxInt64 }
