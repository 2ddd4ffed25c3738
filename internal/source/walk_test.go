package source

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWalkEnds: a pattern or a folder that leads to very many files ends with an error that says so, and hears an interrupt.
func TestWalkEnds(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a", "b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{"1.jsonl", "2.jsonl", "3.jsonl"} {
			if err := os.WriteFile(filepath.Join(dir, d, f), []byte("{}\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, arg := range []string{dir, dir + "/**/*.jsonl", dir + "/**/*.none"} {
		maxLooked = 12
		set, err := Resolve(context.Background(), Spec{Args: []string{arg}, Lenient: true})
		if err == nil {
			set.Close()
		} else if !strings.Contains(arg, "none") {
			t.Errorf("%s: twelve are no more than twelve: %v", arg, err)
		}
		maxLooked = 11
		if _, err := Resolve(context.Background(), Spec{Args: []string{arg}, Lenient: true}); err == nil || !strings.Contains(err.Error(), "more than 11 files and folders below") {
			t.Errorf("%s: %v", arg, err)
		}
		maxLooked = 1_000_000
		if _, err := Resolve(canceled, Spec{Args: []string{arg}, Lenient: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, interrupted: %v", arg, err)
		}
	}
}

// TestWalkLeavesOutSystem: a pattern over the whole disk does not look into what shows the system.
func TestWalkLeavesOutSystem(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.Symlink("/proc", filepath.Join(dir, "proc")); err != nil {
		t.Skip(err)
	}
	err := walk(context.Background(), dir+"/", func(rel string) error { return errors.New(rel) })
	if err != nil {
		t.Errorf("looked at %v", err)
	}
}
