//go:build unix

package shard

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A named file that replaces another keeps its owner and mode.
func TestNamedKeepsOwner(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(name, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	const uid, gid = 12345, 23456
	if err := os.Chown(name, uid, gid); err != nil {
		t.Skipf("SKIPPED: only root may give files away: %v", err)
	}
	writeNamed(t, name, "new")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != uid || st.Gid != gid || info.Mode().Perm() != 0o640 || info.Size() != 3 {
		t.Errorf("owner %d, group %d, mode %v, %d bytes", st.Uid, st.Gid, info.Mode(), info.Size())
	}
}
