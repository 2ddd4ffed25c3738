// Package pipeline plans a job and runs it: it cuts the input into tasks (plan.go, cut.go), reads each task's rows and takes them through
// the steps, the rules and the encoder (work.go), and writes the results in order (run.go, shards.go). It runs in parallel by row group
// and gives the same bytes and findings for any number of workers. What the columns become is internal/program's, what rules find is
// internal/judge's.
package pipeline

import (
	"context"
	"io"
	"os"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A ReadRange is consecutive rows of one file that an Input can read by themselves: a row group, a piece of one, or a range of lines.
type ReadRange struct {
	File     int   // index in Input.Files
	RowGroup int   // -1 in line formats
	FileRow  int64 // row of the file
	Rows     int64
	Bytes    int64 // uncompressed, for cutting into row groups of like size
	Packed   int64 // of the file
	Whole    bool  // a whole row group, so that its chunks can be copied
	Handle   any   // the input's own

	number  int64 // of its first row within the split; set by the planner, as is kept
	passing int64 // rows that pass the last barrier
}

// An Input is the files of a job.
type Input interface {
	// Files are the files of all splits, in order.
	Files() []*rule.File
	// Ranges cuts a file; how depends on its size alone.
	Ranges(file int) ([]ReadRange, error)
	// Cut cuts r after rows rows.
	Cut(r ReadRange, rows int64) (a, b ReadRange, err error)
	// Unchanged returns an error where the file is not what it was when it was opened.
	Unchanged(file int) error
	// Open reads the leaves of r that decode names (as numbered by Schema.Leaves). Line formats may decode more.
	Open(ctx context.Context, r ReadRange, decode []int) (Reader, error)
}

// Facts say what an input knows of the leaves of a range without decoding its rows.
type Facts interface {
	// Chunk returns the statistics and the dictionary of a leaf; ok is false where nothing is known. A footer may lie.
	Chunk(r ReadRange, leaf int) (c rule.ColumnFacts, ok bool, err error)
	// Nulls counts what ColumnFacts.Nulls says, in the pages, and returns an error where a page of the leaf is damaged.
	Nulls(r ReadRange, leaf int) (int64, error)
	// Counts returns the number of nulls of a leaf, -1 where it is not known, and the leaf's bytes.
	Counts(r ReadRange, leaf int) (nulls, bytes int64)
	// Raw returns the undecoded chunk of a leaf of a whole row group; nil where there is none.
	Raw(r ReadRange, leaf int) *record.Raw
}

// A Reader returns the rows of a range. Leaves of the batch that were not asked for are empty; it is valid until the next call.
type Reader interface {
	// Next returns up to limit rows, and io.EOF after the last.
	Next(ctx context.Context, limit int) (*record.Batch, error)
	io.Closer
}

// A Prefetcher is a Reader that can decode the next rows while the last ones are worked on, whenever spare has room.
type Prefetcher interface {
	Ahead(rows int, spare chan struct{})
}

// A Sink stores the shards and records of a run.
type Sink interface {
	// Record returns the record that Publish stored for a task whose shard is complete; nil for none.
	Record(task int) (*Record, error)
	// Create begins the shard of a task under a private name.
	Create(task int) (Shard, error)
	// OpenSpill opens the spill file of a published task for reading.
	OpenSpill(task int) (*os.File, error)
}

// A Shard is an output file that is being written. Discard after Publish does nothing.
type Shard interface {
	// Out is the file that is written; Spill, the file of the keys for the group checks; Rejects, that of the rows left out.
	Out() parquetio.Out
	Spill() (*os.File, error)
	Rejects() (*os.File, error)
	// Publish fills in the size and hash of rec, makes the shard (unless it has no rows) and its files durable, then stores rec.
	Publish(rec *Record) error
	Discard()
}

// A Flusher is a Shard that wants to know which bytes of its file are final, so that it can flush them.
type Flusher interface {
	// Flushed says that the first n bytes will not change.
	Flushed(n int64)
}

// A Split is the files of one split.
type Split struct {
	Name  string
	Files []int
	Limit int64 // rows of the split that are read, beside what a Limiter says; 0: all

	places func(rows int64) (from, to int64) // of a Placer among the steps; nil: all rows
}

// A Job is what to run.
type Job struct {
	Input  Input
	Facts  Facts // of Input; nil: none
	Splits []Split
	Steps  func(split string) []transform.RowStep // nil: none
	Limit  int64                                  // rows of each split that are read; 0: all
	// PreserveLayout keeps the form that fields have in their file, and its row groups.
	PreserveLayout bool

	Rules     judge.Rules
	FailLevel rule.Level
	// Output is where the rows go; nil: they are only checked.
	Output    *Output
	MaxReject Tolerance
	Workers   int
	TempDir   string // for keys that are sorted; "": the system's
	Progress  func(rows int64, shard string)

	// The following are for jobs that only check. TreatAsRewritten says which files the rules see as if they had been rewritten by
	// Steps; nil: none.
	TreatAsRewritten func(file int) bool
	// IsDamaged says that an error is about a damaged file: the job then continues with the others.
	IsDamaged func(error) bool
	// TrustStatistics lets what a footer says answer for pages that nobody reads.
	TrustStatistics bool
	// Cache spares reading files that were checked before; nil: none.
	Cache judge.Cache
	// FootersOnly leaves the rows unread.
	FootersOnly bool
}

// An Output says how rows are written.
type Output struct {
	Sink      Sink
	Size      Size           // of the shards of a split
	Shards    map[string]int // how many a single split is to have, where Size says no rows and no bytes
	ShardName func(split string, i, of int) string
	Codec     parquetio.Codec
	KeepCodec bool // what is copied undecoded may have another
	Writer    func(split string, base *rule.File) parquetio.WriterOptions
	// KeepRejects writes the rejected rows into each shard's Rejects.
	KeepRejects bool
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

// A RowGroupPlan is ranges that are read one after the other and become one row group of the output, or are checked at once.
type RowGroupPlan struct {
	Ranges []ReadRange
	Rows   int64 // that are read
}

// A Task is the row groups of one shard.
type Task struct {
	Index     int
	Split     string
	Shard     int // within the split
	Of        int
	Name      string
	RowGroups []RowGroupPlan
	Rows      int64 // that pass the last barrier; without one all that are read
	SplitRow  int64 // number of the first row that is read within the split
}

// A Size says how large the shards of a split are to be: one of its fields; none: one shard.
type Size struct {
	Shards int   // so many, of nearly the same number of rows
	Rows   int64 // so many rows each
	Bytes  int64 // at most about so many bytes each, of the file
	// SnapToRowGroups moves borders of shards to borders of row groups where those are near, so that row groups are copied undecoded.
	SnapToRowGroups bool
}
