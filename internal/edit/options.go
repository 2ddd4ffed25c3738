package edit

import (
	"context"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// An Edit is what is done to each file: Add, Drop, Rename, Select, or steps that somebody else made.
type Edit interface {
	// Prepare looks at all files before the first is planned.
	Prepare(files []*rule.File, inPlace bool) error
	// Steps are the transforms for one file, whose first row has that number in the call; none: nothing needs to be done. notes say why
	// something needs no doing.
	Steps(ctx context.Context, src *input.Set, file int, first int64) (steps []transform.RowStep, notes []string, err error)
	// String is the edit as it was asked for. A manifest beside a file keeps it.
	String() string
}

// Options say what is edited, and where the files go.
type Options struct {
	Edit    Edit
	Source  *source.Set            // opened Parquet files of this machine, at least one; required. The caller closes it.
	Out     string                 // the directory to write to; "": in place
	Flag    string                 // what names the output, for messages: the command, where files are edited in place
	Force   bool                   // overwrite files in Out
	DryRun  bool                   // plan all files, and write nothing
	Backup  string                 // in place: the old files are kept under their names with this suffix; "": they are not
	Workers int                    // files at a time; 0: one a core. What is written is the same for any number.
	HF      parquetio.HFPolicy     // of the metadata of HF datasets
	Strip   func(file string) bool // files that lose that metadata whatever HF says; nil: none
	Held    bool                   // the caller holds the files already: shard.HoldFiles
	Guard   *overwrite.Guard       // knows what is read; nil: a new one
	Version string                 // of the tool, as the files have it
	// Watch is called before the first row, with the number of rows; rows is called for what is done, from many goroutines; done after the
	// last. nil: nobody watches.
	Watch func(total int64) (rows func(rows int64, shard string), done func())
}

// A File is what became of a file.
type File struct {
	Input     string
	Output    string
	Written   bool // false: it was as it should be, and was left alone. With DryRun: it would be written
	Rows      int64
	RowGroups int
	Bytes     int64
	Copied    int // column chunks
	Encoded   int
	Notes     []string
	Before    *schema.Schema // of the input
	After     *schema.Schema // of the output
}

// A Result is what became of the files, in the order of their names.
type Result struct{ Files []File }

// A run is one edit of some files.
type run struct {
	Options
	src     *input.Set
	outputs []*outputFile
	edits   map[string]*shard.Edits // by directory; nil: it has no manifest
	stage   *shard.Stage            // of Out where it is a new directory
	rows    func(rows int64, shard string)
}

// An outputFile is one file to be written.
type outputFile struct {
	output.File
	plan  *pipeline.Plan
	notes []string
	done  bool // in place: nothing needs to be done
	rec   *pipeline.Record
}

func (c *run) inPlace() bool { return c.Out == "" }

func usagef(format string, args ...any) error {
	return misuse.Errorf(format, args...)
}
