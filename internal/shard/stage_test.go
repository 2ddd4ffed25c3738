package shard

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestStage(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "a", "b", "out")
	s, err := NewStage(out)
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, err := NewStage(out); !errors.As(err, &locked) {
		t.Errorf("a second run: %v", err)
	}
	if err := s.Abandon(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("abandoned, and there is %v", left)
	}

	if s, err = NewStage(out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path("x"), []byte("rows"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("visible before it is whole")
	}
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "x")); err != nil || string(b) != "rows" {
		t.Errorf("published: %q, %v", b, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != 1 {
		t.Errorf("published, and beside it is %v", left)
	}
}
