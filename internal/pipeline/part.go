package pipeline

import (
	"errors"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/program"
)

// A worker does row groups, one at a time.
type worker struct {
	plan     *Plan
	rules    *judge.Rules
	encoders map[string]*parquetio.Encoder // by split
	scratch  program.Scratch
	readings judge.Readings
	busy     chan struct{} // of all workers: one place a row group, the others are for those who compress pages
}

// A way is how a row group is attempted.
type way struct {
	raw     bool // chunks that can be copied stay undecoded
	repeats bool // rows may come out more than once
	all     bool // all leaves are decoded, and kept
	doubt   bool // rules are given counts of the pages, not of the footer
}

// A partRun takes the rows of one range through the steps, the checks and the encoder.
type partRun struct {
	worker *worker
	rng    ReadRange
	prog   *program.Resolved
	chunks program.Raw // that go out undecoded
	way
	checks  *judge.Checks
	keyer   *keyer     // of a pass over keys; nil: none
	scatter *scatterer // of a pass that fills the buckets of an order; nil: none
	claims  []claim
	run     *program.Run
	reader  Reader
	res     *result
}

// A claim is what the footer says of the nulls of an input leaf, as rules were given it. A footer can lie: a null_count of 0 would hide
// the nulls from every rule that asks for it. So a claim about a leaf that is decoded is held against the rows as they go by, and the pages
// of one that nobody decodes are counted. Where a claim is wrong the row group is done a second time, in doubt.
type claim struct {
	input   int
	nulls   int64 // -1: none about nulls
	counted int64 // in the rows that were decoded
	decoded bool
}

// errDoubt says that the footer lies about a leaf, so that rules must be given what its pages hold.
var errDoubt = errors.New("the footer lies")
