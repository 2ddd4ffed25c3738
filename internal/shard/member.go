package shard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rlprep/rlprep/internal/filelock"
)

// Join makes, or reuses, the private place of the plan beside other processes that work on tasks of plans of out. Each does the tasks that it
// claims, and Open, which takes all of out, is refused until every member has left. A *LockedError says that a whole run is at work. A journal that
// a run left must have been completed before (Recover). The files of a member that was killed stay for the others.
func Join(out, planHash string, names []string) (*Dir, error) {
	out, err := resolvePath(out)
	if err != nil {
		return nil, err
	}
	d := &Dir{out: out, privateDir: privateDirOf(out), names: names, fresh: map[int]bool{}}
	d.stage = filepath.Join(d.privateDir, planHash)
	for {
		d.member, err = throughDoor(d.privateDir, d.enter)
		if removedMeanwhile(err) {
			continue
		}
		if err != nil {
			return nil, asLocked(d.privateDir, err)
		}
		return d, nil
	}
}

// enter makes the process a member, unless a whole run is at work.
func (d *Dir) enter() (*filelock.Lock, error) {
	whole, err := filelock.Try(filepath.Join(d.privateDir, "lock"))
	if err != nil {
		return nil, err
	}
	if err := whole.Release(); err != nil {
		return nil, err
	}
	if err := d.makeStage(membersName); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Join(d.stage, membersName), fmt.Sprintf("%d-*", os.Getpid()))
	if err != nil {
		return nil, err
	}
	name := f.Name()
	if err := f.Close(); err != nil {
		return nil, err
	}
	return filelock.Try(name)
}

// leave ends a membership.
func (d *Dir) leave() error {
	return errors.Join(d.member.Unlink(), d.member.Release())
}

// A ClaimedError says that another process is at work on a task.
type ClaimedError struct {
	Name, Who string // of the shard; of the process: "process 12 on host"
	Held      string // the file to remove if that process is gone; "": the kernel does that
}

func (e *ClaimedError) Error() string {
	text := fmt.Sprintf("%s: another process makes this file (%s)", e.Name, e.Who)
	if e.Held != "" {
		text += fmt.Sprintf("; remove %s if that process is gone", e.Held)
	}
	return text
}

// ExitCode is 3: another attempt may succeed.
func (e *ClaimedError) ExitCode() int { return 3 }

// Claim takes a task for this process until release is called; the claim of a process that died is taken over. A *ClaimedError says who has it. The
// task may have been done by another process before: look for its Record.
func (d *Dir) Claim(task int) (release func() error, err error) {
	l, err := filelock.Try(d.recPath(task, "claim"))
	if held := (*filelock.HeldError)(nil); errors.As(err, &held) {
		return nil, &ClaimedError{d.names[task], held.Who, held.Stale}
	}
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(l.Unlink(), l.Release()) }, nil
}
