package shard

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func coded(err error) int {
	var c interface{ ExitCode() int }
	if errors.As(err, &c) {
		return c.ExitCode()
	}
	return -1
}

// made has one shard done in a private place for out.
func made(t *testing.T, out string) *Dir {
	t.Helper()
	d, err := Open(out, "plan", []string{"train.parquet"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Create(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("rows")); err != nil {
		t.Fatal(err)
	}
	if err := f.Publish(false, func(int64, string) ([]byte, error) { return []byte(`{}`), nil }); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMadeMeanwhile: what somebody makes where the output is to appear is kept; the error says what to do, and then the same run completes.
func TestMadeMeanwhile(t *testing.T) {
	for _, kind := range []string{"file", "folder"} {
		out := filepath.Join(t.TempDir(), "out")
		d := made(t, out)
		mine := out
		if kind == "folder" {
			mine = filepath.Join(out, "mine")
			if err := os.Mkdir(out, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(mine, []byte("precious"), 0o666); err != nil {
			t.Fatal(err)
		}
		err := d.Finalize([]string{"train.parquet"}, &Manifest{})
		if err == nil || coded(err) != 3 || !strings.Contains(err.Error(), "move it away and run the same command again") {
			t.Errorf("%s: %v", kind, err)
		}
		d.Close()
		if b, err := os.ReadFile(mine); err != nil || string(b) != "precious" {
			t.Errorf("%s: %q %v", kind, b, err)
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		if err := made(t, out).Finalize([]string{"train.parquet"}, &Manifest{}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}

		other := filepath.Join(t.TempDir(), "other")
		s, err := NewStage(other)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(other, []byte("precious"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := s.Publish(); coded(err) != 3 || !strings.Contains(err.Error(), "move it away and run the same command again") {
			t.Errorf("stage: %v", err)
		}
	}
}

// TestRemovedMeanwhile: an output that is removed while its replacement is made.
func TestRemovedMeanwhile(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := made(t, out)
	defer d.Close()
	if _, err := d.Replace([]string{"train.parquet"}, &Manifest{}, &Manifest{}); coded(err) != 3 || !strings.Contains(err.Error(), "removed while this run was at work: run the same command again") {
		t.Error(err)
	}
}

// TestPartIsNotLeft: a part that cannot get its name is removed.
func TestPartIsNotLeft(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "f.parquet")
	p, err := NewPartFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(target, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := p.Rename(); err == nil {
		t.Error("renamed over a folder")
	}
	if _, err := os.Lstat(PartName(target)); err == nil {
		t.Error("the part is left")
	}
}

// TestIntoAnEmptyDirectory: a directory that the user has made gives way, and its mode stays.
func TestIntoAnEmptyDirectory(t *testing.T) {
	parent := t.TempDir()
	for _, kind := range []string{"directory", "link"} {
		out := filepath.Join(parent, kind)
		if err := os.Mkdir(filepath.Join(parent, "empty"), 0o700); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(parent, "empty")
		if kind == "link" {
			if err := os.Symlink("empty", out); err != nil {
				t.Skip(err)
			}
		} else if err := os.Rename(at, out); err != nil {
			t.Fatal(err)
		} else {
			at = out
		}
		if err := made(t, out).Finalize([]string{"train.parquet"}, &Manifest{}); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(at); err != nil || st.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
			t.Error(st, err)
		}
		if b, err := os.ReadFile(filepath.Join(out, "train.parquet")); err != nil || string(b) != "rows" {
			t.Errorf("%q %v", b, err)
		}
	}
	out := filepath.Join(parent, "staged")
	if err := errors.Join(os.Mkdir(out+".real", 0o777), os.Symlink("staged.real", out)); err != nil {
		t.Fatal(err)
	}
	s, err := NewStage(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path("f"), []byte("rows"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "f")); err != nil || string(b) != "rows" {
		t.Errorf("%q %v", b, err)
	}
}
