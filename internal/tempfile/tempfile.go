// Package tempfile makes the files that a run needs for a while. Its errors name the folder and, where the system's own setting chose it, that setting.
package tempfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// Create is os.CreateTemp.
func Create(dir, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err == nil {
		return f, nil
	}
	if dir == "" && elsewhere(err) {
		return nil, fmt.Errorf("make a temporary file: %w: set %s to a folder that can be written (it leads to %s)", err, variable(), os.TempDir())
	}
	return nil, fmt.Errorf("make a temporary file: %w", err)
}

// elsewhere reports whether another folder would help.
func elsewhere(err error) bool {
	for _, e := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.EROFS, syscall.ENOSPC} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// variable is what tells os.TempDir the folder.
func variable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}
