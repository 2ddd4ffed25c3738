package pipeline

import (
	"encoding/json"
	"fmt"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/killpoint"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/schema"
)

// An output takes the results of tasks, one task after the other.
type output interface {
	// resume returns the record of a task that is done, nil for one that is not.
	resume(t *Task) (*Record, error)
	begin(t *Task) error
	// write takes the next row group of the task, and adds to its record what it stores of it.
	write(t *Task, res *result, rec *Record) error
	end(t *Task, rec *Record) error
	// discard forgets a task that was not ended.
	discard()
}

// noOutput is the output of a job that only checks: it stores keys.
type noOutput struct{ keys *judge.Keys }

func (noOutput) resume(*Task) (*Record, error) { return nil, nil }
func (noOutput) begin(*Task) error             { return nil }
func (noOutput) end(*Task, *Record) error      { return nil }
func (noOutput) discard()                      {}

func (o noOutput) write(_ *Task, res *result, _ *Record) error { return o.keys.Spill(res.found.Hits) }

// shards is the output of a job that writes.
type shards struct {
	*Plan
	keys  *judge.Keys
	shard Shard // of the current task
	out   *parquetio.Writer
}

func (s *shards) resume(t *Task) (*Record, error) {
	rec, err := s.Job.Output.Sink.Record(t.Index)
	if err != nil || rec == nil || rec.Hits == 0 {
		return rec, err
	}
	f, err := s.Job.Output.Sink.OpenSpill(t.Index)
	if err != nil {
		return nil, err
	}
	return rec, s.keys.Resume(f, rec.Hits)
}

func (s *shards) begin(t *Task) (err error) {
	s.shard, err = s.Job.Output.Sink.Create(t.Index)
	return err
}

func (s *shards) discard() {
	if s.shard != nil {
		s.shard.Discard()
	}
}

func (s *shards) write(t *Task, res *result, rec *Record) error {
	s.keys.Note(res.found.Hits)
	if res.group != nil {
		if err := s.writeGroup(t, res.group); err != nil {
			return err
		}
	}
	if len(res.found.Hits) > 0 {
		f, err := s.shard.Spill()
		if err != nil {
			return err
		}
		n, err := f.Write(res.found.Hits)
		if err != nil {
			return fmt.Errorf("write spill file: %w", err)
		}
		rec.Hits += int64(n)
	}
	return s.writeRejects(res.Rejects)
}

func (s *shards) writeGroup(t *Task, g *parquetio.EncodedRowGroup) (err error) {
	if s.out == nil {
		o := s.Job.Output.Writer(t.Split, s.input.Files()[t.RowGroups[0].Ranges[0].File])
		if s.out, err = parquetio.NewWriter(s.shard.Out(), s.Schemas[t.Split], o); err != nil {
			return err
		}
	}
	if err := s.out.Write(g); err != nil {
		return err
	}
	g.Release()
	if f, ok := s.shard.(Flusher); ok {
		f.Flushed(s.out.Offset())
	}
	killpoint.At("mid-page")
	return nil
}

// writeRejects stores the rows left out, one a line: {"reason", "file", "row", "line", "column", "message", "value", "data"}.
func (s *shards) writeRejects(rejects []program.Rejected) error {
	if !s.Job.Output.KeepRejects || len(rejects) == 0 {
		return nil
	}
	f, err := s.shard.Rejects()
	if err != nil {
		return err
	}
	var b []byte
	for _, x := range rejects {
		line, err := json.Marshal(rejectLine(x))
		if err != nil {
			return err
		}
		b = append(append(b, line...), '\n')
	}
	_, err = f.Write(b)
	return err
}

func rejectLine(x program.Rejected) any {
	out := struct {
		Reason  string          `json:"reason"`
		File    string          `json:"file"`
		Row     int64           `json:"row"`
		Line    int64           `json:"line,omitempty"`
		Column  schema.Path     `json:"column,omitempty"`
		Message string          `json:"message"`
		Value   string          `json:"value,omitempty"`
		Data    json.RawMessage `json:"data,omitempty"`
	}{x.Reason, x.Pos.File, x.Pos.Row, max(x.Pos.Line, 0), x.Pos.Path, x.Message, x.Value, nil}
	if json.Valid(x.Row) {
		out.Data = x.Row
	}
	return out
}

// end closes the task's shard and stores its record.
func (s *shards) end(t *Task, rec *Record) error {
	if err := s.unchanged(t); err != nil {
		return err
	}
	if s.out != nil {
		w, err := s.out.Close()
		if err != nil {
			return err
		}
		rec.RowGroups, rec.Copied, rec.Encoded = w.RowGroups, w.Copied, w.Encoded
		if w.Rows != rec.RowsOut {
			return fmt.Errorf("%s: wrote %d rows, expected %d", t.Name, w.Rows, rec.RowsOut)
		}
	}
	err := s.shard.Publish(rec)
	s.out, s.shard = nil, nil
	if err != nil || rec.Hits == 0 {
		return err
	}
	f, err := s.Job.Output.Sink.OpenSpill(t.Index)
	if err == nil {
		s.keys.Stored(f, rec.Hits)
	}
	return err
}

// unchanged verifies that the files of a task are still those that were planned: chunks are copied without a look at them.
func (s *shards) unchanged(t *Task) error {
	last := -1
	for _, g := range t.RowGroups {
		for _, r := range g.Ranges {
			if r.File == last {
				continue
			}
			last = r.File
			if err := s.input.Unchanged(r.File); err != nil {
				return err
			}
		}
	}
	return nil
}
