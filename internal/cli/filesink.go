package cli

import (
	"encoding/json"
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

// A fileSink writes one file of a run over columns: under a private name beside it, then by one rename.
type fileSink struct {
	partShard
	run  *columns
	to   *target
	file int
}

// A partShard is what a shard is that has neither spill nor rejects.
type partShard struct {
	part *shard.Part
	done bool
}

var errNoSide = errors.New("nothing is spilled or rejected here")

// Out implements pipeline.Shard.
func (s *partShard) Out() parquetio.Out { return s.part.File }

// Written implements pipeline.Follower.
func (s *partShard) Written(n int64) { s.part.Written(n) }

// Spill implements pipeline.Shard.
func (s *partShard) Spill() (*os.File, error) { return nil, errNoSide }

// Rejects implements pipeline.Shard.
func (s *partShard) Rejects() (*os.File, error) { return nil, errNoSide }

// Discard implements pipeline.Shard.
func (s *partShard) Discard() {
	if s.part != nil && !s.done {
		s.done = true
		s.part.Discard()
	}
}

// Record implements pipeline.Sink: nothing is taken up, a single file is soon done.
func (s *fileSink) Record(int) ([]byte, error) { return nil, nil }

// OpenSpill implements pipeline.Sink.
func (s *fileSink) OpenSpill(int) (*os.File, error) { return nil, errNoSide }

// Create implements pipeline.Sink.
func (s *fileSink) Create(int) (pipeline.Shard, error) {
	var err error
	s.part, err = shard.NewPart(s.to.file)
	return s, err
}

// Publish implements pipeline.Shard.
func (s *fileSink) Publish(_ bool, record func(int64, string) ([]byte, error)) error {
	defer s.Discard()
	st, err := s.part.Stat()
	if err != nil {
		return err
	}
	s.to.bytes = st.Size()
	b, err := record(st.Size(), "")
	if err != nil {
		return err
	}
	var rec pipeline.Record
	if err := json.Unmarshal(b, &rec); err != nil {
		return err
	}
	if err := s.dress(); err != nil {
		return err
	}
	if err := s.part.Sync(); err != nil {
		return err
	}
	return s.publish(&rec)
}

// publish gives the file its name, and the manifest beside it its new line.
func (s *fileSink) publish(rec *pipeline.Record) error {
	dir, base := filepath.Split(s.to.name)
	e := s.run.edits[filepath.Dir(s.to.name)]
	var entry shard.ShardFile
	listed := e != nil && e.Lists(base)
	if listed {
		sum, n, err := shard.Hash(s.part.Name())
		if err != nil {
			return err
		}
		if entry, err = e.Replacing(base, rec.RowsOut, rec.RowGroups, sum, n, s.run.edit.String()); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(dir, shard.ManifestName), err)
		}
	}
	killpoint.At("edit-before-rename")
	if err := s.unchanged(); err != nil {
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

// dress gives a file that replaces another its mode and owner, and sees that its time is a later one: caches tell by it that
// the file is another.
func (s *fileSink) dress() error {
	old := s.to.before
	if old == nil {
		return nil
	}
	if err := keepOwner(s.part.File, old); err != nil {
		return fmt.Errorf("%s: cannot keep its owner: %w; write a new file with -o DIR", s.to.name, err)
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

// unchanged sees that the file to be replaced is the one that was read.
func (s *fileSink) unchanged() error {
	if s.to.before == nil {
		return nil
	}
	now, err := os.Lstat(s.to.name)
	if err != nil {
		return err
	}
	if !os.SameFile(now, s.to.before) || now.Size() != s.to.before.Size() || !now.ModTime().Equal(s.to.before.ModTime()) {
		return withCode(ExitFile, fmt.Errorf("%s: changed while it was edited, and is left as it is now: start again once it is written", s.to.name))
	}
	return nil
}
