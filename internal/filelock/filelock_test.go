package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestTry: one has it, the next is told who has it, and then it is free again.
func TestTry(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := Try(name)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Try(name); !errors.As(err, &held) || !strings.HasPrefix(held.Who, fmt.Sprintf("process %d on ", os.Getpid())) {
		t.Errorf("a second lock: %v", err)
	}
	if err := errors.Join(first.Release(), first.Release()); err != nil {
		t.Error(err)
	}
	second, err := Try(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(second.Unlink(), os.Remove(filepath.Dir(name)), second.Release()); err != nil {
		t.Errorf("the folder cannot be removed with its lock: %v", err)
	}
	if _, err := Try(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a lock in a folder that is gone: %v", err)
	}
}

// TestHoldFile: where there are no locks, a file stands for the lock; what a process left that is gone is taken over.
func TestHoldFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock.held")
	if _, err := holdFile(name); err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := holdFile(name); !errors.As(err, &held) || held.Stale != name {
		t.Errorf("held by this process: %v", err)
	}
	host, _ := os.Hostname()
	for text, free := range map[string]bool{
		fmt.Sprintf("process %d on %s\n", 1<<22+1, host):     true, // larger than any process number
		fmt.Sprintf("process %d on other-%s\n", 1, host):     false,
		fmt.Sprintf("process %d on %s\n", os.Getpid(), host): false,
		"": false,
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := holdFile(name); (err == nil) != free {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWait: many wait, one at a time goes on, also where the file is removed by the one before.
func TestWait(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := Wait(context.Background(), name, func() { t.Error("nobody has the lock yet") })
	if err != nil {
		t.Fatal(err)
	}
	var inside atomic.Int32
	queue := make(chan struct{}, 6)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			l, err := Wait(context.Background(), name, func() { queue <- struct{}{} })
			if err != nil {
				t.Error(err)
				return
			}
			if inside.Add(1) != 1 {
				t.Error("two have the lock")
			}
			time.Sleep(5 * time.Millisecond)
			inside.Add(-1)
			if i%2 == 0 {
				l.Unlink()
			}
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	for range cap(queue) { // until each of them waits
		<-queue
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	l, err := Try(name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("interrupted")
	if _, err := Wait(ctx, name, func() { cancel(stop) }); !errors.Is(err, stop) {
		t.Errorf("an interrupted wait: %v", err)
	}
}
