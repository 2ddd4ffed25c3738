package shard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// A Named is one file that the user names, beside the data set: it appears whole, or not at all. What is no regular file (a device, a FIFO, a
// descriptor such as /dev/stdout) is written into, and never replaced.
type Named struct {
	*os.File
	part *PartFile // nil: File is written into
	done bool
}

// NewNamed begins the file name. Until it ends no other run can begin it: that is ErrBusy. Opening a FIFO waits for its reader.
func NewNamed(ctx context.Context, name string) (*Named, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && !isDescriptor(name) {
		return newNamedPart(name, info)
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("is a directory")}
	}
	for {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|unblocked(info), 0)
		if err == nil || !noReader(err) {
			return &Named{File: f}, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// newNamedPart begins a regular file. was is what the file is now, nil: it does not exist. Its mode stays, its owner
// where the system allows it, and a symbolic link to it.
func newNamedPart(name string, was fs.FileInfo) (*Named, error) {
	if was != nil {
		real, err := filepath.EvalSymlinks(name)
		if err != nil {
			return nil, err
		}
		name = real
	}
	part, err := NewPartFile(name)
	if err != nil {
		return nil, err
	}
	if was != nil {
		_ = part.TakeOwner(was) // only root may give files away: for others the file is a new one of theirs
		if err := part.Chmod(was.Mode().Perm()); err != nil {
			return nil, errors.Join(err, part.Discard())
		}
	}
	return &Named{File: part.File, part: part}, nil
}

// Publish makes what was written durable and visible.
func (n *Named) Publish() error {
	n.done = true
	if n.part == nil {
		return n.Close()
	}
	if err := n.Sync(); err != nil {
		return errors.Join(err, n.part.Discard())
	}
	return n.part.Rename()
}

// Discard leaves things as they were. After Publish it does nothing.
func (n *Named) Discard() error {
	switch {
	case n.done:
		return nil
	case n.part == nil:
		return n.Close()
	}
	n.done = true
	return n.part.Discard()
}

var descriptors = regexp.MustCompile(`^(/proc/(self|thread-self|[0-9]+)(/task/[0-9]+)?/fd|/dev/fd)/[0-9]+$`)

// isDescriptor reports whether name leads to an open descriptor of a process, as /dev/stdout does: it stands for where the shell lets it lead, which
// a rename would not reach.
func isDescriptor(name string) bool {
	name, err := filepath.Abs(name)
	for range 10 {
		dir, base := filepath.Split(name)
		if err != nil {
			return false
		}
		if descriptors.MatchString(name) {
			return true
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			name = filepath.Join(real, base)
		}
		if descriptors.MatchString(name) {
			return true
		}
		target, err := os.Readlink(name)
		if err != nil {
			return false
		}
		if name = target; !filepath.IsAbs(target) {
			name = filepath.Join(dir, target)
		}
	}
	return false
}
