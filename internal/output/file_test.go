package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file that somebody else wrote or replaced while it was edited is left as it is now.
func TestChangedFileIsNotReplaced(t *testing.T) {
	for what, change := range map[string]func(name string) error{
		"longer":   func(name string) error { return os.WriteFile(name, []byte("rows and rows"), 0o666) },
		"touched":  func(name string) error { return os.Chtimes(name, time.Now(), time.Now().Add(time.Minute)) },
		"replaced": func(name string) error { return os.Rename(name+".new", name) },
		"removed":  os.Remove,
	} {
		name := filepath.Join(t.TempDir(), "train.parquet")
		for _, n := range []string{name, name + ".new"} {
			if err := os.WriteFile(n, []byte("rows"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		st, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name+".new", time.Now(), st.ModTime()); err != nil {
			t.Fatal(err)
		}
		s := &File{Name: name, Before: st}
		if err := s.Unchanged(); err != nil {
			t.Fatalf("unchanged: %v", err)
		}
		if err := change(name); err != nil {
			t.Fatal(err)
		}
		err = s.Unchanged()
		if err == nil || !strings.Contains(err.Error(), name) || !errors.As(err, new(*BusyError)) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
