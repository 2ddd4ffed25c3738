package shard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rlprep/rlprep/internal/filelock"
)

// A lock is an OUT taken by one process: a file in its private directory.
type lock struct {
	*filelock.Lock
	dir string
}

// LockedError says that another run is at work on OUT.
type LockedError struct{ Home, Who, Held string }

func (e *LockedError) Error() string {
	end := "end it"
	if e.Held != "" {
		end = fmt.Sprintf("remove %s if that process is gone", e.Held)
	}
	return fmt.Sprintf("%s: another run is at work here (%s); wait for it, or %s", e.Home, e.Who, end)
}

// ExitCode is 3: another attempt may succeed.
func (e *LockedError) ExitCode() int { return 3 }

// asLocked makes a LockedError of a lock that is held.
func asLocked(home string, err error) error {
	if held := (*filelock.HeldError)(nil); errors.As(err, &held) {
		return &LockedError{home, held.Who, held.Stale}
	}
	return err
}

// takeLock makes the private directory and takes its lock. It is refused while members work on a plan there, too.
func takeLock(home string) (*lock, error) {
	for {
		l, err := throughDoor(home, func() (*lock, error) {
			l, err := filelock.Try(filepath.Join(home, "lock"))
			if err != nil {
				return nil, err
			}
			if err := vacant(home); err != nil {
				return nil, errors.Join(err, l.Release())
			}
			return &lock{l, home}, nil
		})
		if removedMeanwhile(err) {
			continue
		}
		return l, asLocked(home, err)
	}
}

// removedMeanwhile reports whether a run that ended removed the private directory after it was made here.
func removedMeanwhile(err error) bool {
	return errors.Is(err, os.ErrNotExist) && !errors.As(err, new(*noFolderError))
}

// doorPatience is how long a process waits for the door. It is held for an instant, so that a longer wait means that its holder stands still.
const doorPatience = 30 * time.Second

// throughDoor makes the private directory and does enter, one process at a time: who comes to work there sees who is there already.
func throughDoor[T any](home string, enter func() (T, error)) (none T, err error) {
	if err := os.MkdirAll(home, 0o777); err != nil {
		return none, privateDirError(home, err)
	}
	door, err := openDoor(home)
	if err != nil {
		return none, err
	}
	out, err := enter()
	return out, errors.Join(err, door.Release())
}

// openDoor waits for the door.
func openDoor(home string) (*filelock.Lock, error) {
	for end := time.Now().Add(doorPatience); ; time.Sleep(5 * time.Millisecond) {
		door, err := filelock.Try(filepath.Join(home, "door"))
		if err == nil || !errors.As(err, new(*filelock.HeldError)) || time.Now().After(end) {
			return door, err
		}
	}
}

func (l *lock) release() error { return l.Release() }

// remove removes the private directory, which must hold nothing but the lock and the door, and gives the lock back.
func (l *lock) remove() error {
	door, err := openDoor(l.dir)
	if err != nil {
		return errors.Join(err, l.Release())
	}
	err = errors.Join(l.Unlink(), door.Unlink())
	if rerr := os.Remove(l.dir); rerr != nil && !entered(l.dir) {
		err = errors.Join(err, rerr)
	}
	return errors.Join(err, l.Release(), door.Release())
}

// entered reports whether another process has come into the private directory since its door was removed.
func entered(home string) bool {
	_, err := os.Lstat(filepath.Join(home, "door"))
	return err == nil
}

// membersName is the folder of a plan's private place that has a file for each process that works on tasks of the plan.
const membersName = "members"

// vacant returns a *filelock.HeldError where a member is at work on any plan. What dead members left is removed.
func vacant(home string) error {
	plans, err := os.ReadDir(home)
	if err != nil {
		return err
	}
	for _, plan := range plans {
		if err := vacantPlan(filepath.Join(home, plan.Name(), membersName)); err != nil {
			return err
		}
	}
	return nil
}

func vacantPlan(dir string) error {
	members, err := os.ReadDir(dir)
	if err != nil {
		return nil // no process ever shared the plan
	}
	for _, m := range members {
		name := filepath.Join(dir, m.Name())
		if strings.HasSuffix(name, ".held") {
			continue
		}
		l, err := filelock.Try(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(l.Unlink(), l.Release()); err != nil {
			return err
		}
	}
	return nil
}
