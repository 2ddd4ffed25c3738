package transform

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "index",
	Title: "number the rows of a split",
	Doc: `
Writes the number of each row within its split, counted over the source rows, from 'start' on. Rows that are dropped leave
gaps, so a number always leads back to its source row. It reads nothing and costs nothing a row. With 'of: kept' the rows are counted
that the steps before have left, without gaps, as HF datasets counts after a filter: for that the steps before are run twice.

extra_info.index is what a verl rollout trace calls sample_index, and the only way from a trace back to the row: data source,
split and file are no attributes of a trace. Without it every row is traced as sample 0; where two files of a split both count
from 0 traces cannot distinguish their rows, so give the second file a 'start'. It must be of one type in all files of a split.
(verl@b178a3cd5 agent_loop.py:823-842, rl_dataset.py:353. The V1 trainer of verl 0.9 does not trace at all: trainer.use_v1.)
`,
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "where to; extra_info.index when not given"},
		{Name: "start", Type: "int", Doc: "the number of the first row of the split; 0 when not given"},
		{Name: "of", Type: "string", Values: []string{"source", "kept"}, Doc: "what is counted: source rows, or the rows that are left; source when not given"},
		afterArg, ifArg,
	},
	New: newIndex,
	Examples: []Example{
		{
			Title: "rows count from 0",
			Args:  `{}`,
			In:    `{"prompt":"a"}` + "\n" + `{"prompt":"b"}`,
			Out:   `{"prompt":"a","extra_info":{"index":0}}` + "\n" + `{"prompt":"b","extra_info":{"index":1}}`,
		},
		{
			Title: "another place, after the rows of another dataset",
			Args:  `{"path":"id","start":7473}`,
			In:    `{"prompt":"a"}` + "\n" + `{"prompt":"b"}`,
			Out:   `{"prompt":"a","id":7473}` + "\n" + `{"prompt":"b","id":7474}`,
		},
		{
			Title: "an index that is null in some rows",
			Args:  `{"if":"replace"}`,
			In:    `{"extra_info":{"index":5,"split":"train"}}` + "\n" + `{"extra_info":{"index":null,"split":"train"}}`,
			Out:   `{"extra_info":{"index":0,"split":"train"}}` + "\n" + `{"extra_info":{"index":1,"split":"train"}}`,
		},
	},
})

// Index writes the number of each row within its split, from Start on, as int64.
type Index struct {
	Path  schema.Path // "": extra_info.index
	Start int64
	After schema.Path
	If    ConflictPolicy
}

// Plan returns one Put with row numbers.
func (x Index) Plan(in *schema.Schema) (*Plan, error) {
	if x.Path == "" {
		x.Path = "extra_info.index"
	}
	if err := checkPut(in, x.Path); err != nil {
		return nil, err
	}
	return &Plan{Puts: []Put{{Path: x.Path, After: x.After, Type: schema.Int64Type, OnExisting: x.If, Seq: &Seq{Start: x.Start}}}}, nil
}

// A KeptIndex is an Index of the rows that the steps before it have left, without gaps.
type KeptIndex struct {
	Index

	gone func(first, end int64) (int64, []int64, error) // nil: none
}

// Keys implements Barrier: no two rows have a key in common.
func (x KeptIndex) Keys(in *schema.Schema) (*Keys, error) {
	if _, err := x.Index.Plan(in); err != nil {
		return nil, err
	}
	return &Keys{Reason: "", Select: func(Key, iter.Seq[KeyRow], func(int64)) {}, Bind: func() func(schema.Row) (Key, uint64) {
		return func(row schema.Row) (key Key, value uint64) {
			binary.BigEndian.PutUint64(key[:], uint64(row.Number()))
			return key, 0
		}
	}}, nil
}

// Counting implements Ranked.
func (x KeptIndex) Counting(gone func(first, end int64) (int64, []int64, error)) RowStep {
	x.gone = gone
	return x
}

// rankWindow is for how many source rows at a time a KeptIndex asks which of them are gone.
const rankWindow = 4096

// Plan returns one computed Put.
func (x KeptIndex) Plan(in *schema.Schema) (*Plan, error) {
	plan, err := x.Index.Plan(in)
	if err != nil || x.gone == nil {
		return plan, err
	}
	plan.Puts[0].Seq, plan.Bind = nil, func() Func {
		first, before, gone := int64(-1), int64(0), []int64(nil)
		return func(in schema.Row, out *Emitter) error {
			number := in.Number()
			if at := number - number%rankWindow; at != first {
				var err error
				if before, gone, err = x.gone(at, at+rankWindow); err != nil {
					return &Fault{Where: "step index", Number: number, Message: err.Error()}
				}
				first = at
			}
			among, _ := slices.BinarySearch(gone, number)
			out.Set(0, schema.IntValue(x.Start+number-before-int64(among)))
			out.Emit()
			return nil
		}
	}
	return plan, nil
}

func newIndex(args Args) (RowStep, error) {
	r := newArgs("index", args)
	x := Index{Path: r.path("path", ""), Start: r.int("start", 0), After: r.path("after", ""), If: r.present(Refuse)}
	if r.word("of", "source") == "kept" {
		return r.done(KeptIndex{Index: x})
	}
	return r.done(x)
}
