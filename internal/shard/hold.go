package shard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/openfiles"
)

// maxHeld bounds the descriptors of a Hold, as openfiles does those of what is read. Runs over more files are kept apart by the first of them.
func maxHeld() int { return min(128, openfiles.Budget()) }

// holdFor is how long is waited for another run that edits the same files; a test has it shorter.
var holdFor = time.Minute

// A Hold keeps other runs from replacing files that this run is about to replace. The locks are on the files themselves, so nothing has to be removed
// when a run is killed.
type Hold struct{ files []*os.File }

// HoldFiles takes the locks of names one after the other, in the order of their bytes, so that of runs over the same files one always gets all. Where
// another run holds one of them it waits, a minute at most; waited says so: the files may be others by then. Where a lock cannot be had for another
// reason (a file system without locks, a file that cannot be opened) nobody is kept out, and what follows tells why.
func HoldFiles(ctx context.Context, names []string) (h *Hold, waited bool, err error) {
	names = slices.Sorted(slices.Values(names))
	h = &Hold{}
	for _, name := range names[:min(len(names), maxHeld())] {
		err := patiently(ctx, func() error {
			err := h.lock(name)
			waited = waited || err != nil
			return err
		})
		if err != nil {
			return nil, false, errors.Join(fmt.Errorf("%s: %w", name, err), h.Close())
		}
	}
	return h, waited, nil
}

// patiently calls try until it says something else than ErrBusy, a minute at most.
func patiently(ctx context.Context, try func() error) error {
	for until := time.Now().Add(holdFor); ; {
		err := try()
		if !errors.Is(err, ErrBusy) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// lock locks one file, unless it is held already under another name.
func (h *Hold) lock(name string) error {
	for range 100 { // as often as others may replace it in that moment
		f, err := infile.Open(name)
		if err != nil {
			return nil
		}
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() || h.has(info) {
			f.Close()
			return nil
		}
		err = tryLock(f)
		switch {
		case errors.Is(err, ErrBusy):
			f.Close()
			return ErrBusy
		case err != nil:
			f.Close()
			return nil
		case sameFile(f, name):
			h.files = append(h.files, f)
			return nil
		}
		f.Close() // replaced between the two
	}
	return ErrBusy
}

func (h *Hold) has(info os.FileInfo) bool {
	return slices.ContainsFunc(h.files, func(f *os.File) bool {
		st, err := f.Stat()
		return err == nil && os.SameFile(st, info)
	})
}

// Close lets the files go.
func (h *Hold) Close() error {
	var errs []error
	for _, f := range h.files {
		errs = append(errs, f.Close())
	}
	h.files = nil
	return errors.Join(errs...)
}
