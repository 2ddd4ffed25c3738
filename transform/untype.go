package transform

import "github.com/rlprep/rlprep/schema"

var _ = Add(Verb{
	Name:  "untype",
	Title: "give a column without any value the null type",
	Doc: `
Looks at the rows of each split, up to the first with a value in the column. Where no row has one, the column gets Arrow's null type,
as pandas writes a column of None whatever its type was; otherwise nothing changes. Only this column is read for it.
`,
	Short: "path",
	Args:  []Arg{{Name: "path", Type: "path", Doc: "the column: metadata", Required: true}},
	New:   newUntype,
	Examples: []Example{
		{
			Title: "a column with a value",
			Args:  `{"path":"metadata"}`,
			In:    `{"metadata":null,"q":"a"}` + "\n" + `{"metadata":{"level":"easy"},"q":"b"}`,
			Out:   `{"metadata":null,"q":"a"}` + "\n" + `{"metadata":{"level":"easy"},"q":"b"}`,
		},
		{
			Title: "no such column",
			Args:  `{"path":"metdata"}`,
			In:    `{"metadata":"m"}`,
			Error: `no column "metdata" (columns: metadata); did you mean "metadata"?`,
		},
	},
})

// Untype gives a column of which Learn has found no value the null type.
type Untype struct {
	Path schema.Path

	seen, empty bool // of the probe: there is a value; after Learn: there is none
}

// Probe implements Learner.
func (u *Untype) Probe() (probe RowStep, enough func() bool) {
	return valueProbe{u}, func() bool { return u.seen }
}

// Learn implements Learner.
func (u *Untype) Learn() { u.empty = !u.seen }

// Plan returns one constant Put where the column has no value. It fails where there is no such column.
func (u *Untype) Plan(in *schema.Schema) (*Plan, error) {
	if _, err := column(in, u.Path); err != nil || !u.empty {
		return &Plan{}, err
	}
	null := schema.NullValue
	return &Plan{Puts: []Put{{Path: u.Path, Type: schema.Type{Kind: schema.Null}, OnExisting: Replace, Const: &null}}}, nil
}

// A valueProbe notes whether a column has a value.
type valueProbe struct{ of *Untype }

// Plan returns a Func that passes every row on. It is not for several workers.
func (p valueProbe) Plan(in *schema.Schema) (*Plan, error) {
	if _, err := column(in, p.of.Path); err != nil {
		return nil, err
	}
	return &Plan{Reads: []schema.Path{p.of.Path}, Bind: func() Func {
		return func(in schema.Row, out *Emitter) error {
			p.of.seen = p.of.seen || !in.At(0).IsNull()
			out.Emit()
			return nil
		}
	}}, nil
}

func newUntype(args Args) (RowStep, error) {
	r := newArgs("untype", args)
	return r.done(&Untype{Path: r.path("path", "")})
}
