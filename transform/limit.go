package transform

import "github.com/rlprep/rlprep/schema"

var _ = Add(Verb{
	Name:  "limit",
	Title: "take only the first rows of a split",
	Doc: `
Takes the first 'rows' rows of each split, counted over the rows that are read, as --limit does. In a pipeline it stands before
every step that leaves rows out: what comes after it is not read at all.
`,
	Short: "rows",
	Args:  []Arg{{Name: "rows", Type: "int", Doc: "how many", Required: true}},
	New:   newLimit,
	Examples: []Example{
		{
			Title: "two of three",
			Args:  `{"rows":2}`,
			In:    `{"q":"a"}` + "\n" + `{"q":"b"}` + "\n" + `{"q":"c"}`,
			Out:   `{"q":"a"}` + "\n" + `{"q":"b"}`,
		},
		{
			Title: "no row at all",
			Args:  `{"rows":0}`,
			In:    `{"q":"a"}`,
			Error: `argument rows: 0, expected at least 1`,
		},
	},
})

// Limit takes the rows whose number within the split is below Rows.
type Limit struct{ Rows int64 }

// FirstRows implements Limiter.
func (l Limit) FirstRows() int64 { return l.Rows }

// Plan returns a Func that reads nothing but the row's number.
func (l Limit) Plan(*schema.Schema) (*Plan, error) {
	return &Plan{Bind: func() Func {
		return func(in schema.Row, out *Emitter) error {
			if in.Number() < l.Rows {
				out.Emit()
			} else {
				out.Drop("over-limit")
			}
			return nil
		}
	}}, nil
}

func newLimit(args Args) (RowStep, error) {
	r := newArgs("limit", args)
	l := Limit{Rows: r.int("rows", 1)}
	if l.Rows < 1 {
		r.failAt("rows", "argument rows: %d, expected at least 1", l.Rows)
	}
	return r.done(l)
}
