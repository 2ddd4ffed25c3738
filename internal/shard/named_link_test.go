//go:build unix

package shard

import (
	"os"
	"path/filepath"
	"testing"
)

// A file that exists keeps its mode, and a symbolic link keeps leading to it.
func TestNamedKeeps(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.json", link); err != nil {
		t.Fatal(err)
	}
	writeNamed(t, link, "new")
	text, err := os.ReadFile(file)
	info, lerr := os.Lstat(link)
	real, serr := os.Stat(file)
	if err != nil || lerr != nil || serr != nil {
		t.Fatal(err, lerr, serr)
	}
	if string(text) != "new" || info.Mode()&os.ModeSymlink == 0 || real.Mode().Perm() != 0o640 {
		t.Errorf("%s holds %q, mode %v, link %v", file, text, real.Mode(), info.Mode())
	}
}

// writeNamed writes and publishes a named file.
func writeNamed(t *testing.T, name, text string) {
	t.Helper()
	n, err := NewNamed(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := n.Publish(); err != nil {
		t.Fatal(err)
	}
}
