package openfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func few(t *testing.T, n int) {
	was := pool.most
	pool.most = n
	t.Cleanup(func() { pool.most = was })
}

// TestManyFewDescriptors reads many files from many goroutines: each has its own bytes, and few are open at a time.
func TestManyFewDescriptors(t *testing.T) {
	few(t, 5)
	dir := t.TempDir()
	var files []*File
	for i := range 50 {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, fmt.Appendf(nil, "%04d", i), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if pool.open > 5 {
		t.Errorf("%d open", pool.open)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				for i, f := range files {
					b := make([]byte, 4)
					if _, err := f.ReadAt(b, 0); err != nil || string(b) != fmt.Sprintf("%04d", i) {
						t.Errorf("file %d: %q %v", i, b, err)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, f := range files {
		if err := errors.Join(f.Close(), f.Close()); err != nil {
			t.Error(err)
		}
	}
	if pool.open != 0 || pool.idle.Len() != 0 {
		t.Errorf("%d open, %d idle after all were closed", pool.open, pool.idle.Len())
	}
	if _, err := files[0].ReadAt(make([]byte, 1), 0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
}

// TestReplaced: a file that is another one when it is opened again is not read as if it were the first.
func TestReplaced(t *testing.T) {
	few(t, 1)
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "new"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Open(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(filepath.Join(dir, "b")) // takes a's descriptor
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	var replaced *ReplacedError
	if _, err := a.ReadAt(make([]byte, 1), 0); !errors.As(err, &replaced) || replaced.ExitCode() != 3 {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ReadAt(make([]byte, 1), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
