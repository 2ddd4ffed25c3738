package pipeline

import (
	"fmt"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/program"
)

// A Record is what became of a task. It is stored beside its shard, so that a later run need not repeat the task.
type Record struct {
	Task         int
	Name         string
	RowsIn       int64
	RowsOut      int64
	Dropped      map[string]int64
	Rejects      int64
	FirstRejects []program.Rejected `json:",omitempty"`
	Findings     []judge.Entry      `json:",omitempty"`
	Hits         int64              `json:",omitempty"` // bytes of the spill file
	RowGroups    int
	Copied       int // column chunks
	Encoded      int
	Bytes        int64
	SHA256       string
}

// maxFirst is how many rejects a record keeps whole.
const maxFirst = 10

// add adds what became of a row group.
func (rec *Record) add(res *result) {
	rec.RowsIn += res.rowsIn
	rec.RowsOut += res.rowsOut
	for k, n := range res.Dropped {
		rec.Dropped[k] += n
	}
	rec.Rejects += int64(len(res.Rejects))
	for _, x := range res.Rejects {
		if len(rec.FirstRejects) < maxFirst {
			x.Row = nil
			rec.FirstRejects = append(rec.FirstRejects, x)
		}
	}
	fs := judge.NewFindings()
	fs.Merge(rec.Findings)
	fs.Merge(res.found.Entries)
	rec.Findings = fs.Entries
}

// A Report is what became of a job.
type Report struct {
	Records []*Record
	Entries []judge.Entry
	RowsIn  int64
	RowsOut int64
	Dropped map[string]int64
	Resumed int
	Cached  int     // files whose rows were not read, since the Cache knew what they give
	Failed  bool    // a finding at the failing level
	Errors  []error // of a job that only checks: files that turned out to be damaged, once each
}

// A RejectError says that more rows were rejected than are tolerated.
type RejectError struct {
	First program.Rejected
	Count int64
}

func (e *RejectError) Error() string {
	msg := fmt.Sprintf("%s: %s", e.First.Pos, e.First.Message)
	if e.First.Where != "" { // a place in the user's code comes first, as editors want it
		msg = fmt.Sprintf("%s: row %d: %s (%s)", e.First.Where, e.First.Number, e.First.Message, e.First.Pos)
	}
	if e.First.Value != "" {
		msg += ": " + e.First.Value
	}
	msg += " [" + e.First.Reason + "]"
	if e.Count > 1 {
		msg += fmt.Sprintf(" (%d rows cannot be taken)", e.Count)
	}
	return msg
}

// ExitCode makes it a finding about the data.
func (e *RejectError) ExitCode() int { return 1 }
