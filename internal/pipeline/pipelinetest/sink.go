package pipelinetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/schema/rule"
)

// A buffer is a parquetio.Out.
type buffer struct {
	bytes.Buffer
	name string
}

// Name implements parquetio.Out.
func (b *buffer) Name() string { return b.name }

// A Sink is shards in memory. What is published stays for the next run, which resumes.
type Sink struct {
	Dir string // for spill files
	// Kill is asked before a task is published; an error ends the run as a kill would.
	Kill func(task int) error

	mu      sync.Mutex
	shards  map[int][]byte
	records map[int][]byte
	Created int // shards that were begun
}

// Output is an output into the sink, of so many shards a split.
func (s *Sink) Output(shards int) *pipeline.Output {
	return &pipeline.Output{Sink: s, Size: pipeline.Size{Shards: shards}, Codec: parquetio.Snappy,
		Writer: func(string, *rule.File) parquetio.WriterOptions {
			return parquetio.WriterOptions{CreatedBy: "pipelinetest"}
		}}
}

// Shards are the published files, by task.
func (s *Sink) Shards() map[int][]byte { return s.shards }

// Rows are the rows of all shards in order, as JSON Lines.
func (s *Sink) Rows() (string, error) {
	var out strings.Builder
	for task := 0; len(s.records) > task; task++ {
		if s.shards[task] == nil {
			continue
		}
		rows, err := Rows(s.shards[task])
		if err != nil {
			return "", err
		}
		out.WriteString(rows)
	}
	return out.String(), nil
}

// Record implements pipeline.Sink.
func (s *Sink) Record(task int) (*pipeline.Record, error) {
	if s.records[task] == nil {
		return nil, nil
	}
	rec := &pipeline.Record{}
	return rec, json.Unmarshal(s.records[task], rec)
}

// Create implements pipeline.Sink.
func (s *Sink) Create(task int) (pipeline.Shard, error) {
	s.Created++
	return &shard{sink: s, task: task, out: &buffer{name: "shard"}}, nil
}

// OpenSpill implements pipeline.Sink.
func (s *Sink) OpenSpill(task int) (*os.File, error) { return os.Open(s.spill(task)) }

func (s *Sink) spill(task int) string {
	return filepath.Join(s.Dir, "spill"+hex.EncodeToString([]byte{byte(task)}))
}

type shard struct {
	sink  *Sink
	task  int
	out   *buffer
	spill *os.File
}

// Out implements pipeline.Shard.
func (s *shard) Out() parquetio.Out { return s.out }

// Spill implements pipeline.Shard.
func (s *shard) Spill() (f *os.File, err error) {
	if s.spill == nil {
		s.spill, err = os.Create(s.sink.spill(s.task))
	}
	return s.spill, err
}

// Rejects implements pipeline.Shard.
func (s *shard) Rejects() (*os.File, error) {
	return os.OpenFile(filepath.Join(s.sink.Dir, "rejects"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
}

// Publish implements pipeline.Shard.
func (s *shard) Publish(rec *pipeline.Record) error {
	if s.sink.Kill != nil {
		if err := s.sink.Kill(s.task); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(s.out.Bytes())
	rec.Bytes, rec.SHA256 = int64(s.out.Len()), hex.EncodeToString(sum[:])
	b, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	s.sink.mu.Lock()
	defer s.sink.mu.Unlock()
	if s.sink.records == nil {
		s.sink.records, s.sink.shards = map[int][]byte{}, map[int][]byte{}
	}
	s.sink.records[s.task] = b
	if rec.RowsOut > 0 {
		s.sink.shards[s.task] = s.out.Bytes()
	}
	s.Discard()
	return nil
}

// Discard implements pipeline.Shard.
func (s *shard) Discard() {
	if s.spill != nil {
		s.spill.Close()
		s.spill = nil
	}
}
