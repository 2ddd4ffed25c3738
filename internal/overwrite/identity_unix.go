//go:build unix

package overwrite

import (
	"fmt"
	"io/fs"
	"syscall"
)

// identity returns the device and number of a file.
func identity(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}
