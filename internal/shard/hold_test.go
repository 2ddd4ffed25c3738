package shard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// waits is a context that says when somebody first waits for it.
type waits struct {
	context.Context
	once  sync.Once
	begun chan struct{}
}

func (w *waits) Done() <-chan struct{} {
	w.once.Do(func() { close(w.begun) })
	return w.Context.Done()
}

func TestHoldWaits(t *testing.T) {
	holdFor = 200 * time.Millisecond
	t.Cleanup(func() { holdFor = time.Minute })
	dir := t.TempDir()
	var names []string
	for _, n := range []string{"b", "a"} {
		name := filepath.Join(dir, n)
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := os.Link(names[0], filepath.Join(dir, "linked")); err == nil {
		names = append(names, filepath.Join(dir, "linked")) // one file of two names must not wait for itself
	}
	if err := os.Symlink(names[0], filepath.Join(dir, "link")); err == nil {
		names = append(names, filepath.Join(dir, "link"))
	}
	names = append(names, filepath.Join(dir, "none"))
	first, waited, err := HoldFiles(context.Background(), names)
	if err != nil || waited {
		t.Fatal(waited, err)
	}
	if len(first.files) == 0 {
		t.Skip("no locks here")
	}
	_, _, err = HoldFiles(context.Background(), names[:1])
	var coded interface{ ExitCode() int }
	if !errors.Is(err, ErrBusy) || !errors.As(err, &coded) || coded.ExitCode() != 3 {
		t.Errorf("held by another: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err = HoldFiles(ctx, names); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	holdFor = time.Minute
	waiter := &waits{Context: context.Background(), begun: make(chan struct{})}
	go func() {
		<-waiter.begun
		// The file is replaced, and then let go, as an edit in place does.
		if err := os.WriteFile(names[1]+".new", nil, 0o666); err == nil {
			os.Rename(names[1]+".new", names[1])
		}
		first.Close()
	}()
	second, waited, err := HoldFiles(waiter, names)
	if err != nil || !waited {
		t.Fatal(waited, err)
	}
	defer second.Close()
	st, err := os.Stat(names[1])
	if err != nil || !second.has(st) {
		t.Errorf("the lock is on the file that was replaced: %v", err)
	}
}

func TestHiddenName(t *testing.T) {
	long := make([]byte, 255)
	for i := range long {
		long[i] = 'x'
	}
	a, b := hiddenName(string(long), ".rlprep-part"), hiddenName(string(long[:254])+"y", ".rlprep-part")
	if len(a) > maxName || len(b) > maxName || a == b {
		t.Errorf("%d %d %v", len(a), len(b), a == b)
	}
	if got := hiddenName("f.parquet", ".rlprep-part"); got != ".f.parquet.rlprep-part" {
		t.Error(got)
	}
	for n := 240; n < 255; n++ { // cut between the bytes of a character
		name := string(long[:n-2]) + "é" + string(long[:255-n])
		if got := hiddenName(name, ".part"); len(got) > maxName || got != string([]rune(got)) {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// TestPartIsLink: a link under the private name is not followed.
func TestPartIsLink(t *testing.T) {
	dir := t.TempDir()
	target, mine := filepath.Join(dir, "f"), filepath.Join(dir, "mine")
	if err := os.WriteFile(mine, []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mine, PartName(target)); err != nil {
		t.Skip(err)
	}
	if _, err := NewPartFile(target); err == nil {
		t.Error("written through the link")
	}
	if b, err := os.ReadFile(mine); err != nil || string(b) != "precious" {
		t.Errorf("%q %v", b, err)
	}
}

// TestNoFolder: a private place that the system will never make is an error, where one that a run just removed is made again.
func TestNoFolder(t *testing.T) {
	never := privateDirError(filepath.Join(t.TempDir(), "home"), &os.PathError{Op: "mkdir", Path: "/proc/x", Err: os.ErrNotExist})
	if removedMeanwhile(never) || !removedMeanwhile(&os.PathError{Op: "open", Path: "home/door", Err: os.ErrNotExist}) {
		t.Error("a folder that cannot be made is taken for one that was removed meanwhile")
	}
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("no /proc")
	}
	if _, err := takeLock("/proc/.x.rlprep"); !errors.As(err, new(*noFolderError)) {
		t.Errorf("below /proc: %v", err)
	}
}
