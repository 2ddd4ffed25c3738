package transform

import (
	"iter"

	"github.com/rlprep/rlprep/schema"
)

// A SplitStep is a RowStep that must know the schemas that reach it from all files of a split. Before any Plan, Gather is given these and
// returns the RowStep that takes its place.
type SplitStep interface {
	RowStep
	Gather(files []FileSchema) (RowStep, error)
}

// A FileSchema is the columns of a file as they reach a step.
type FileSchema struct {
	Name   string // as the user named it
	Schema *schema.Schema
}

// A Limiter is a RowStep that takes the first rows of a split, counted as they are read. Rows behind these are not read at all.
type Limiter interface {
	RowStep
	FirstRows() int64
}

// A Learner is a RowStep that must see rows of a split before its columns are known.
type Learner interface {
	RowStep
	// Probe returns a step that takes its place and passes the rows on; enough reports whether no further row need be read. The Func of the
	// probe is called by one goroutine.
	Probe() (probe RowStep, enough func() bool)
	// Learn takes over what the probe has seen. It is called once, before Plan.
	Learn()
}

// A Divider is a RowStep that cuts a split into several, each of which is a split of the output with steps of its own.
type Divider interface {
	RowStep
	Names() []string
	// Part is the step in the steps of the split of that name. Of a Divider that takes one part already (Names is nil) there is none.
	Part(name string) RowStep
}

// A Barrier is a RowStep that must see a key of every row of a split before it can say which rows go on, or in which order. Its rows are
// read twice: once for the keys, and once to be written. Plan is what it does to the columns; most change none. A step before a Barrier
// may leave rows out, but not repeat them.
type Barrier interface {
	RowStep
	// Keys is called once for each schema that reaches the step; an error names the column that is missing or of the wrong type.
	Keys(in *schema.Schema) (*Keys, error)
}

// A Ranked is a Barrier that leaves no row out, and must know how many rows before one reach it.
type Ranked interface {
	Barrier
	// Counting returns the RowStep that takes its place. gone says which rows do not reach it: how many of those with numbers below first, and the
	// numbers of those in [first, end), in order. It is called by many workers.
	Counting(gone func(first, end int64) (before int64, numbers []int64, err error)) RowStep
}

// Keys is how a Barrier sees rows. Select is set, and leaves rows out; or Order is, or Arrange, or both.
type Keys struct {
	Reads []schema.Path // what Bind's function sees, in this order
	// Bind makes the function that returns the key of a row, and a value for Select. It is called once a worker, so scratch may live in
	// its closure. Like a Func it depends on nothing but the row. Nil, with Arrange: rows have no key.
	Bind func() func(row schema.Row) (key Key, value uint64)
	// Select is called for each key that more than one row has, or with Singletons for each key. It calls drop for the rows that it leaves
	// out; they are counted under Reason.
	Select     func(key Key, rows iter.Seq[KeyRow], drop func(number int64))
	Singletons bool
	Reason     string
	// Order puts rows in the order of their keys, compared byte by byte; rows of one key stay in the order of their numbers.
	Order bool
	// Arrange chooses among all rows that reach the step, of which there are so many, by their ranks: from 0 in the order of their numbers, or
	// with Bind in that of their keys. What it returns go on; the others are left out and counted under Reason. With Order the rows go on
	// in the order in which they are returned and are numbered by it from 0; else the ranks increase, and the rows keep their numbers.
	// An error ends the run.
	Arrange func(rows int64) ([]uint32, error)
}

// A Key is what rows have in common for a Barrier: a hash, or what they are ordered by.
type Key [16]byte

// A KeyRow is a row that has a key. The rows of a key come in the order of their numbers.
type KeyRow struct {
	Number int64 // within the split
	Value  uint64
}

// A DerivedColumn is a column that is computed from others, once for each slice of rows, for the steps and rules that read it by its name. It is
// not written.
type DerivedColumn struct {
	Name  string // by convention with "@" in front, so that it is no column of a file
	Reads []schema.Path
	Type  schema.Type // a leaf
	// Bind makes the function that computes the value of a row; it is called once a worker.
	Bind func() func(row schema.Row) schema.Value
}

// Plan makes it a RowStep that adds the column.
func (d DerivedColumn) Plan(*schema.Schema) (*Plan, error) {
	return &Plan{Reads: d.Reads, Puts: []Put{{Path: schema.Path("").Field(d.Name), Type: d.Type}}, Bind: func() Func {
		value := d.Bind()
		return func(in schema.Row, out *Emitter) error {
			out.Set(0, value(in))
			out.Emit()
			return nil
		}
	}}, nil
}
