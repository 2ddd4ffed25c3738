// Package pipeline is the road that every row takes: plan, then for each task read, transform, check and write, then the
// checks over all rows. It runs in parallel by row group and gives the same bytes and findings for any number of workers.
//
// Terms: a unit is what becomes one row group of the output, or for a check what is read at once; a task is the units that go
// into one shard.
package pipeline

import (
	"context"
	"io"
	"os"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A Part is a run of rows of one file that a Source can read by itself: a row group, a part of one, or a range of lines.
type Part struct {
	File     int   // index in Source.Files
	RowGroup int   // -1 in line formats
	First    int64 // row of the file
	Rows     int64
	Bytes    int64 // uncompressed, for cutting into row groups of like size
	Packed   int64 // of the file
	Whole    bool  // a whole row group, so that its chunks can be copied
	Handle   any   // the source's own
}

// A Source gives the input. Footers come first; cutting into tasks is the pipeline's.
type Source interface {
	// Files are the files of all splits, in order.
	Files() []*rule.File
	// Parts cuts a file; how depends on its size alone.
	Parts(file int) ([]Part, error)
	// Cut cuts p after rows rows.
	Cut(p Part, rows int64) (a, b Part, err error)
	// Chunk says what is known of a leaf of a whole row group without reading its rows; ok is false where nothing is.
	Chunk(p Part, leaf int) (c rule.Chunk, ok bool, err error)
	// Raw returns the undecoded chunk of a leaf of a whole row group; nil where there is none.
	Raw(p Part, leaf int) *record.Raw
	// Unchanged returns an error where the file is not what it was when it was opened.
	Unchanged(file int) error
	// Open reads the leaves of p that decode names (as numbered by Schema.Leaves). Line formats may decode more.
	Open(ctx context.Context, p Part, decode []int) (Reader, error)
}

// A Reader hands out a part's rows. Leaves of the batch that were not asked for are empty; it is valid until the next call.
type Reader interface {
	// Next returns up to limit rows, and io.EOF after the last.
	Next(ctx context.Context, limit int) (*record.Batch, error)
	io.Closer
}

// A Sink keeps the shards and records of a run.
type Sink interface {
	// Record returns what Publish stored for a task whose shard is there whole; nil for none.
	Record(task int) ([]byte, error)
	// Create begins the shard of a task under a private name.
	Create(task int) (Shard, error)
	// OpenSpill opens the spill file of a published task for reading; its size is 0 where nothing was spilled.
	OpenSpill(task int) (*os.File, error)
}

// A Shard is an output file in the making. Discard after Publish does nothing.
type Shard interface {
	// Out is the file that is written; Spill, the file of the keys for the group checks; Rejects, that of the rows left out.
	Out() parquetio.Out
	Spill() (*os.File, error)
	Rejects() (*os.File, error)
	// Publish makes the shard (unless empty) and its files durable, then stores the record that is made from its size
	// and hash (hex).
	Publish(empty bool, record func(bytes int64, sha256 string) ([]byte, error)) error
	Discard()
}

// A Follower is a Shard that wants to know how far its file has come, so that it can flush what is there.
type Follower interface {
	// Written says that the first n bytes will not change.
	Written(n int64)
}

// A Split is the files of one split.
type Split struct {
	Name  string
	Files []int
	Limit int64 // rows of the split that are read; 0: all
}

// A Job is what to run.
type Job struct {
	Source Source
	Splits []Split
	Steps  func(split string) []transform.Transform // nil: none
	Rules  []*rule.Rule
	Env    *rule.Env
	// Soften holds rules whose findings are at most warnings (Recipe.Expects).
	Soften []string

	Sink Sink // nil: only check
	// Written says, where nothing is written, which files the rules are to see as they would be if they were; nil: none.
	Written   func(file int) bool
	Size      Size // of the shards of a split
	Limit     int64
	Codec     parquetio.Codec
	AnyCodec  bool // what is copied undecoded may have another
	Keep      bool // fields keep the form of their file
	Writer    func(split string, base *rule.File) parquetio.WriterOptions
	Workers   int
	MaxReject Tolerance
	// KeepRejects writes the rejected rows into each shard's Rejects.
	KeepRejects bool
	FailLevel   rule.Level
	// Unreadable says that an error is about a damaged file: a job without a sink then goes on with the others.
	Unreadable func(error) bool
	TempDir    string // for keys that are sorted; "": the system's
	// Cache spares a job that only checks the rows of files that were checked before; nil: none.
	Cache Cache
	// FootersOnly leaves the rows unread.
	FootersOnly bool
	Progress    func(rows int64, shard string)
	ShardName   func(split string, i, of int) string
}

// A Tolerance says how many rows may be rejected: a number, or percent of the rows planned.
type Tolerance struct {
	Rows    int64
	Percent float64
}

// Allows reports whether n rejects of total rows are tolerated.
func (t Tolerance) Allows(n, total int64) bool {
	return n <= t.Rows || (t.Percent > 0 && float64(n) <= t.Percent/100*float64(total))
}

// A Unit is parts that are read one after the other and become one row group.
type Unit struct {
	Parts  []Part
	Number int64 // of its first row within the split
	Rows   int64
}

// A Task is the units of one shard.
type Task struct {
	Index int
	Split string
	Shard int // within the split
	Of    int
	Name  string
	Units []Unit
	Rows  int64
	First int64 // number of its first row within the split
}

// A Plan is a job cut into tasks, with what its columns will be.
type Plan struct {
	Job      *Job
	Tasks    []*Task
	Rows     int64
	Schemas  map[string]*schema.Schema   // of the output, by split
	programs map[string]map[int]*program // by split and file
}
