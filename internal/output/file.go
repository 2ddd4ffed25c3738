package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rlprep/rlprep/internal/killpoint"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
)

// A File is one file that is made or replaced: it is written under a private name beside it and takes its place by one rename.
type File struct {
	Name   string       // of the file
	Path   string       // where it is written: Name, or its place in a stage
	Before os.FileInfo  // of the file that is replaced; nil: none is
	Edits  *shard.Edits // of the manifest beside the file; nil: there is none
	Note   string       // what the manifest says of the edit
	Bytes  int64        // size of what was published
	partShard
}

// A BusyError says that another program changed a file at the same time. Running the command again helps.
type BusyError struct{ Err error }

func (e *BusyError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *BusyError) Unwrap() error { return e.Err }

// ExitCode is that of a file that cannot be written now.
func (e *BusyError) ExitCode() int { return 3 }

// A PlaceError says that something other than a file is where a file should be.
type PlaceError struct{ Text string }

func (e *PlaceError) Error() string { return e.Text }

// ExitCode is that of a file that cannot be written.
func (e *PlaceError) ExitCode() int { return 3 }

// A partShard is what a shard is that has neither spill nor rejects.
type partShard struct {
	part *shard.PartFile
	done bool
}

var errNoSide = errors.New("nothing is spilled or rejected here")

// Out implements pipeline.Shard.
func (s *partShard) Out() parquetio.Out { return s.part.File }

// Flushed implements pipeline.Flusher.
func (s *partShard) Flushed(n int64) { s.part.Flushed(n) }

// Spill implements pipeline.Shard.
func (s *partShard) Spill() (*os.File, error) { return nil, errNoSide }

// Rejects implements pipeline.Shard.
func (s *partShard) Rejects() (*os.File, error) { return nil, errNoSide }

// Discard implements pipeline.Shard.
func (s *partShard) Discard() {
	if s.part != nil && !s.done {
		s.done = true
		_ = s.part.Discard() // what made it needless was reported
	}
}

// Record implements pipeline.Sink: nothing is resumed, a single file is soon done.
func (s *File) Record(int) (*pipeline.Record, error) { return nil, nil }

// OpenSpill implements pipeline.Sink.
func (s *File) OpenSpill(int) (*os.File, error) { return nil, errNoSide }

// Create implements pipeline.Sink.
func (s *File) Create(int) (pipeline.Shard, error) {
	var err error
	s.part, err = shard.NewPartFile(s.Path)
	return s, err
}

// Publish implements pipeline.Shard.
func (s *File) Publish(rec *pipeline.Record) error {
	defer s.Discard()
	st, err := s.part.Stat()
	if err != nil {
		return err
	}
	s.Bytes, rec.Bytes = st.Size(), st.Size()
	if err := s.takeOver(); err != nil {
		return err
	}
	if err := s.part.Sync(); err != nil {
		return err
	}
	return s.publish(rec)
}

// publish gives the file its name, and the manifest beside it its new line.
func (s *File) publish(rec *pipeline.Record) error {
	dir, base := filepath.Split(s.Name)
	e := s.Edits
	var entry shard.FileEntry
	listed := e != nil && e.Lists(base)
	if listed {
		sum, n, err := shard.Hash(s.part.Name())
		if err != nil {
			return err
		}
		if entry, err = e.Replacing(base, rec.RowsOut, rec.RowGroups, sum, n, s.Note); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(dir, shard.ManifestName), err)
		}
	}
	killpoint.At("edit-before-rename")
	if err := s.Unchanged(); err != nil {
		return err
	}
	s.done = true
	if err := s.part.Rename(); err != nil {
		return err
	}
	killpoint.At("edit-after-rename")
	if listed {
		e.Done(entry)
	}
	return nil
}

// takeOver gives a file that replaces another its mode and owner, and a later time: caches compare times.
func (s *File) takeOver() error {
	old := s.Before
	if old == nil {
		return nil
	}
	if err := s.part.TakeOwner(old); err != nil {
		return fmt.Errorf("%s: cannot keep its owner: %w; write a new file with -o DIR", s.Name, err)
	}
	if err := s.part.Chmod(old.Mode()); err != nil {
		return err
	}
	st, err := s.part.Stat()
	if err != nil {
		return err
	}
	if later := old.ModTime().Add(time.Millisecond); st.ModTime().Before(later) {
		return os.Chtimes(s.part.Name(), later, later)
	}
	return nil
}

// Unchanged returns an error where the file to be replaced is no longer the one that was read.
func (s *File) Unchanged() error {
	if s.Before == nil {
		return nil
	}
	now, err := os.Lstat(s.Name)
	if err != nil {
		return err
	}
	if !os.SameFile(now, s.Before) || now.Size() != s.Before.Size() || !now.ModTime().Equal(s.Before.ModTime()) {
		return &BusyError{fmt.Errorf("%s: changed while it was edited, and is left as it is now: start again once it is written", s.Name)}
	}
	return nil
}
