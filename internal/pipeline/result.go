package pipeline

import (
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/program"
)

// A result is what became of a row group.
type result struct {
	group   *parquetio.EncodedRowGroup
	rowsIn  int64
	rowsOut int64
	program.Outcome
	found   *judge.Found
	gone    []int64                      // of a pass over keys: numbers of rows that did not reach the barrier
	buckets []*parquetio.EncodedRowGroup // of a pass that fills the buckets of an order
	err     error
}

func newResult(rows int64) *result {
	return &result{rowsIn: rows, Outcome: program.Outcome{Dropped: map[string]int64{}}, found: judge.NewFound()}
}
