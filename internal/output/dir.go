// Package output is where the files of a job go: pipeline.Sink over the local file system, with nothing visible before all is well.
package output

import (
	"encoding/json"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
)

// A Dir is a directory of shards that appears whole, or gets more splits: what stands behind preprocess, run and map. The zero Dir plans
// and cannot write.
type Dir struct{ *shard.Dir }

// OpenDir takes the lock of out and makes, or resumes, the private place of the plan. names are the tasks' files.
func OpenDir(out, planHash string, names []string) (*Dir, error) {
	d, err := shard.Open(out, planHash, names)
	if err != nil {
		return nil, err
	}
	return &Dir{d}, nil
}

// JoinDir is OpenDir for a process that does some of the tasks, beside others: it takes no lock, and cannot commit.
func JoinDir(out, planHash string, names []string) (*Dir, error) {
	d, err := shard.Join(out, planHash, names)
	if err != nil {
		return nil, err
	}
	return &Dir{d}, nil
}

// Commit gives the shards their last names and makes them visible, all or none: a new directory, or where base is the manifest of one that
// exists, in it. It returns the manifest that the directory has then.
func (s *Dir) Commit(final []string, m, base *shard.Manifest) (*shard.Manifest, error) {
	if base != nil {
		return s.Dir.Replace(final, m, base)
	}
	return m, s.Dir.Finalize(final, m)
}

// Record implements pipeline.Sink. A record that is not complete is none: the task is done again.
func (s *Dir) Record(task int) (*pipeline.Record, error) {
	b, err := s.Dir.Record(task)
	rec := &pipeline.Record{}
	if err != nil || b == nil || json.Unmarshal(b, rec) != nil {
		return nil, err
	}
	return rec, nil
}

// Create implements pipeline.Sink.
func (s *Dir) Create(task int) (pipeline.Shard, error) {
	f, err := s.Dir.Create(task)
	if err != nil {
		return nil, err
	}
	return dirShard{f}, nil
}

// A dirShard is a shard.File as the pipeline wants it.
type dirShard struct{ *shard.File }

// Out implements pipeline.Shard.
func (s dirShard) Out() parquetio.Out { return s.File }

// Publish implements pipeline.Shard.
func (s dirShard) Publish(rec *pipeline.Record) error {
	return s.File.Publish(rec.RowsOut == 0, func(bytes int64, sha256 string) ([]byte, error) {
		rec.Bytes, rec.SHA256 = bytes, sha256
		return json.Marshal(rec)
	})
}
