package output

import (
	"os"

	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
)

// A Stage is a new directory that appears when all its files are done. Nothing in it is resumed.
type Stage struct {
	*shard.Stage
	Plan *pipeline.Plan // whose tasks name the files
}

// Record implements pipeline.Sink: nothing is resumed.
func (s *Stage) Record(int) (*pipeline.Record, error) { return nil, nil }

// OpenSpill implements pipeline.Sink.
func (s *Stage) OpenSpill(int) (*os.File, error) { return nil, errNoSide }

// Create implements pipeline.Sink.
func (s *Stage) Create(task int) (pipeline.Shard, error) {
	part, err := shard.NewPartFile(s.Path(s.Plan.Tasks[task].Name))
	return &stagedShard{partShard{part: part}}, err
}

// A stagedShard is a shard in a stage.
type stagedShard struct{ partShard }

// Publish implements pipeline.Shard.
func (s *stagedShard) Publish(rec *pipeline.Record) error {
	defer s.Discard()
	st, err := s.part.Stat()
	if err != nil {
		return err
	}
	rec.Bytes = st.Size()
	if err := s.part.Sync(); err != nil {
		return err
	}
	s.done = true
	return s.part.Rename()
}
